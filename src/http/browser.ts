/** The cookie that binds a browser to an attempt, on the wire. */
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { ATTEMPT_COOKIE_S, type AttemptCookies } from '../operators/attempts.js';
import { cookieName } from './people.js';

export interface Browsers {
  bind(c: Context, attemptId: string): Promise<void>;
  /** The attempt that this browser began; null: none. */
  attemptOf(c: Context): Promise<string | null>;
  formToken(attemptId: string): string;
  isFormToken(attemptId: string, given: string): boolean;
}

export function createBrowsers(cookies: AttemptCookies, secure: boolean): Browsers {
  const name = cookieName('attempt', secure);
  return {
    async bind(c, attemptId) {
      // Lax: it has to come along when Devin sends the browser back.
      const attributes = { httpOnly: true, secure, sameSite: 'Lax', path: '/' } as const;
      setCookie(c, name, await cookies.issue(attemptId), { ...attributes, maxAge: ATTEMPT_COOKIE_S });
    },
    attemptOf: (c) => cookies.read(getCookie(c, name)),
    formToken: cookies.formToken,
    isFormToken: cookies.isFormToken,
  };
}
