/** The cookies that bind a browser to its attempts, on the wire. */
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { ATTEMPT_COOKIE_S, type AttemptCookies } from '../operators/attempts.js';
import { cookieName } from './people.js';

/**
 * `attempt`: what this browser was sent to Devin for, by a button of ours; only that takes what Devin sends back.
 * `project`: what Vercel sent it for, which any page could have made it do; nothing happens before the button.
 */
export type Binding = 'attempt' | 'project';

export interface Browsers {
  bind(c: Context, binding: Binding, attemptId: string): Promise<void>;
  /** The attempt of this browser; null: none. */
  attemptOf(c: Context, binding: Binding): Promise<string | null>;
  formToken(attemptId: string): string;
  isFormToken(attemptId: string, given: string): boolean;
}

export function createBrowsers(cookies: AttemptCookies, secure: boolean): Browsers {
  return {
    async bind(c, binding, attemptId) {
      // Lax: it has to come along when Devin sends the browser back.
      const attributes = { httpOnly: true, secure, sameSite: 'Lax', path: '/' } as const;
      const cookie = await cookies.issue(attemptId);
      setCookie(c, cookieName(binding, secure), cookie, { ...attributes, maxAge: ATTEMPT_COOKIE_S });
    },
    attemptOf: (c, binding) => cookies.read(getCookie(c, cookieName(binding, secure))),
    formToken: cookies.formToken,
    isFormToken: cookies.isFormToken,
  };
}
