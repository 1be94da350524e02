/**
 * The cookie that binds a browser to an attempt to connect.
 *
 * Devin sends nothing back that would: without it, a stranger's code could be
 * put into somebody's attempt, and somebody's into a stranger's.
 */
import { createHmac } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import type { KeyRing } from '../vault/keys.js';
import { isSameSecret } from '../vault/same-secret.js';

export interface AttemptCookies {
  issue(attemptId: string): Promise<string>;
  /** The attempt; null for a cookie that is forged or over. */
  read(cookie: string | undefined): Promise<string | null>;
  /** What forms of this attempt's browser have to carry. */
  formToken(attemptId: string): string;
  isFormToken(attemptId: string, given: string): boolean;
}

/** As long as what was granted waits for another try. What an attempt may still do is its own deadline's business. */
export const ATTEMPT_COOKIE_S = 3_600;
const AUDIENCE = 'outposts attempt';
const LONGEST_COOKIE = 2_000;

export function createAttemptCookies(keys: KeyRing, now: () => number = Date.now): AttemptCookies {
  const signing = keys.keysFor('attempt');
  const forms = keys.keysFor('form');
  const tokenOf = (key: Uint8Array, id: string) =>
    createHmac('sha256', key).update(`attempt ${id}`).digest('base64url');
  return {
    issue(attemptId) {
      const seconds = Math.floor(now() / 1_000);
      return new SignJWT({ sub: attemptId })
        .setProtectedHeader({ alg: 'HS256', kid: signing.current.kid })
        .setAudience(AUDIENCE)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + ATTEMPT_COOKIE_S)
        .sign(signing.current.bytes);
    },

    async read(cookie) {
      if (cookie === undefined || cookie.length > LONGEST_COOKIE) return null;
      try {
        const key = signing.find(decodeProtectedHeader(cookie).kid);
        if (key === null) return null;
        const { payload } = await jwtVerify(cookie, key.bytes, {
          algorithms: ['HS256'],
          audience: AUDIENCE,
          currentDate: new Date(now()),
        });
        return payload.sub ?? null;
      } catch {
        return null;
      }
    },

    formToken: (attemptId) => tokenOf(forms.current.bytes, attemptId),
    isFormToken: (attemptId, given) =>
      forms.all.some(({ bytes }) => isSameSecret(given, tokenOf(bytes, attemptId))),
  };
}
