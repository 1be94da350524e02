/** Instants as a person at this terminal reads them: in the machine's own time zone. */

/** `14:02`, with the date before it when that is another day than `now`'s. */
export const timeOf =
  (now: number) =>
  (at: number): string =>
    dayOf(at) === dayOf(now) ? clockTime(at).slice(0, 5) : `${dayOf(at)} ${clockTime(at).slice(0, 5)}`;

/** `14:02:07`. */
export function clockTime(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** `2026-12-01`. */
export function dayOf(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
}

const twoDigits = (value: number) => String(value).padStart(2, '0');
