/**
 * The sandbox's name of a session.
 *
 * The same session always gets the same name, whoever asks: the name is how a
 * stopped disk is found again. It stays readable, and the digest of the whole
 * id keeps apart what cleaning and cutting make equal.
 */
import { createHash } from 'node:crypto';

/** `<prefix>-<readable part of the id>-<digest>`, within `^[a-zA-Z0-9_-]+$` and 128 characters. */
export function sandboxName(prefix: string, sessionId: string): string {
  const head = clean(prefix).slice(0, 60);
  const id = clean(sessionId);
  const readable = (id.startsWith(`${head}-`) ? id.slice(head.length + 1) : id).slice(0, 40);
  const digest = createHash('sha256').update(sessionId).digest('hex').slice(0, 10);
  return [head, readable, digest].filter((part) => part !== '').join('-');
}

function clean(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
}
