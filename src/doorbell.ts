/**
 * The doorbell's addresses and keys: how a vm tells the deployment "look now".
 *
 * A key belongs to one session and one episode, is derived and never stored,
 * and opens nothing: whoever rings learns and changes nothing. Does no I/O; the
 * supervisor in the vm rings, and the deployment's route answers.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { BugError } from './errors.js';
import type { Doorbell } from './ports/sandbox.js';

export interface Doorbells {
  /** The episode, a dot, and 43 letters, digits, `-` or `_`. */
  keyOf(sessionId: string, episode: number): string;
  /** The episode of a key that is one of the session's; null when it is none. Compares in constant time. */
  episodeOf(sessionId: string, given: string): number | null;
  urlOf(sessionId: string): string;
  /** What the vm of an episode is given. */
  doorbellOf(sessionId: string, episode: number): Doorbell;
}

/** `baseUrl`: the deployment's public address, with or without a slash at its end. */
export function createDoorbell({ secret, baseUrl }: { secret: string; baseUrl: string }): Doorbells {
  if (secret === '') throw new BugError('a doorbell without a secret could be rung by anybody');
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'doorbell', 32));
  const base = baseUrl.replace(/\/+$/, '');

  const keyOf = (sessionId: string, episode: number) => {
    const mac = createHmac('sha256', derived).update(JSON.stringify([sessionId, episode]));
    return `${episode}.${mac.digest('base64url')}`;
  };
  const urlOf = (sessionId: string) => `${base}/api/sessions/${encodeURIComponent(sessionId)}/doorbell`;

  return {
    keyOf,
    episodeOf(sessionId, given) {
      const episode = Number(/^(\d{1,9})\./.exec(given)?.[1] ?? Number.NaN);
      if (!Number.isInteger(episode)) return null;
      const expected = Buffer.from(keyOf(sessionId, episode));
      const actual = Buffer.from(given);
      return actual.length === expected.length && timingSafeEqual(actual, expected) ? episode : null;
    },
    urlOf,
    doorbellOf: (sessionId, episode) => ({ url: urlOf(sessionId), key: keyOf(sessionId, episode) }),
  };
}
