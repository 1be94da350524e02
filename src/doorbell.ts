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
  /** Letters, digits, `-` and `_`. */
  keyOf(sessionId: string, episode: number): string;
  /** Compares in constant time. */
  isKeyOf(sessionId: string, episode: number, given: string): boolean;
  urlOf(sessionId: string): string;
  /** What the vm of an episode is given. */
  doorbellOf(sessionId: string, episode: number): Doorbell;
}

/** `baseUrl`: the deployment's public address, with or without a slash at its end. */
export function createDoorbell({ secret, baseUrl }: { secret: string; baseUrl: string }): Doorbells {
  if (secret === '') throw new BugError('a doorbell without a secret could be rung by anybody');
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'doorbell', 32));
  const base = baseUrl.replace(/\/+$/, '');

  const keyOf = (sessionId: string, episode: number) =>
    createHmac('sha256', derived)
      .update(JSON.stringify([sessionId, episode]))
      .digest('base64url');
  const urlOf = (sessionId: string) => `${base}/api/sessions/${encodeURIComponent(sessionId)}/doorbell`;

  return {
    keyOf,
    isKeyOf(sessionId, episode, given) {
      const expected = Buffer.from(keyOf(sessionId, episode));
      const actual = Buffer.from(given);
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
    urlOf,
    doorbellOf: (sessionId, episode) => ({ url: urlOf(sessionId), key: keyOf(sessionId, episode) }),
  };
}
