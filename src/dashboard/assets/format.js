/** How long something lasts, as people read it. Runs on the server, in the terminal and in the page. */

/**
 * `4 s`, `3 min 07 s`, `2 h 05 min`, `3 d 4 h`; negative durations count as 0.
 * @param {number} ms
 * @returns {string}
 */
export function durationInWords(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${twoDigits(minutes % 60)} min`;
  if (minutes > 0) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  return `${seconds} s`;
}

/** @param {number} value */
function twoDigits(value) {
  return String(value).padStart(2, '0');
}
