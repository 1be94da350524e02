/**
 * Session ids on their way into a URL and into a message.
 *
 * Ids are the remote's: nothing is assumed of their characters.
 */

/** The id as one path segment, or null when no URL can carry it (empty, dots only, lone surrogates). */
export function sessionPath(sessionId: string): string | null {
  if (sessionId === '' || sessionId === '.' || sessionId === '..') return null;
  try {
    return encodeURIComponent(sessionId);
  } catch {
    return null;
  }
}

/** The id as messages show it: short, and unable to forge a log line. */
export function printable(sessionId: string): string {
  const plain = sessionId.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > 80 ? `${plain.slice(0, 79)}…` : plain;
}

/** The same for a row of which perhaps not even the id could be read. */
export function nameOf(identity: { sessionId: string } | null): string {
  return identity ? printable(identity.sessionId) : '(no session id)';
}
