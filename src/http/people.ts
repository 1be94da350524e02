/**
 * Who has signed in: the cookie on the wire, and what stands before pages.
 *
 * A request that changes something needs the cookie, the form token that
 * belongs to it, and to come from a page of ours.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Admission } from '../dashboard/admission.js';
import { type Operators, type Person, SIGNED_IN_FOR_S } from '../operators/operators.js';

export interface PeopleOptions {
  readonly operators: Operators;
  /** Whether browsers reach this by https: then the cookie is for nothing else. */
  readonly secure: boolean;
}

export interface People {
  readonly admission: Admission;
  /** Lets operators through, and nobody else. */
  readonly operatorsOnly: MiddlewareHandler;
  /** Makes the browser somebody's who has just signed in. */
  welcome(c: Context, role: Person['role']): Promise<void>;
  forget(c: Context): void;
}

const PERSON = 'person';

/** `__Host-`: of this host alone, by https alone, for all paths. */
export const cookieName = (what: string, secure: boolean) => `${secure ? '__Host-' : ''}outposts-${what}`;

export function createPeople({ operators, secure }: PeopleOptions): People {
  const name = cookieName('session', secure);
  const attributes = { httpOnly: true, secure, sameSite: 'Strict', path: '/' } as const;
  const give = (c: Context, cookie: string, { signedInAt }: Pick<Person, 'signedInAt'>) => {
    const maxAge = Math.max(0, signedInAt + SIGNED_IN_FOR_S - Math.floor(Date.now() / 1_000));
    setCookie(c, name, cookie, { ...attributes, maxAge });
  };
  const personOf = (c: Context) => c.get(PERSON) as Person;

  const gate: MiddlewareHandler = async (c, next) => {
    const person = await operators.recognize(getCookie(c, name));
    if (person === null) return turnAway(c);
    if (changes(c) && !isOurOwn(c)) return c.text('Requests from other sites are refused.\n', 403);
    c.set(PERSON, person);
    await next();
    // Not with what changes something: signing out must not bring a cookie.
    const fresh = changes(c) ? null : await operators.renew(person);
    if (fresh !== null) give(c, fresh, person);
  };

  return {
    admission: {
      gate,
      visitor(c) {
        const person = personOf(c);
        return { role: person.role, token: operators.formToken(person), leave: '/sign-out' };
      },
      isToken: (c, given) => operators.isFormToken(personOf(c), given),
    },
    operatorsOnly: async (c, next) =>
      personOf(c).role === 'operator' ? next() : c.text('It takes an operator to act.\n', 403),
    async welcome(c, role) {
      give(c, await operators.admit(role), { signedInAt: Math.floor(Date.now() / 1_000) });
    },
    forget: (c) => void deleteCookie(c, name, attributes),
  };
}

/** A browser that wants a page is shown where to sign in; anything else is told that it has to. */
function turnAway(c: Context): Response {
  const { pathname, search } = new URL(c.req.url);
  const wantsPage = c.req.method === 'GET' && c.req.header('accept')?.includes('text/html');
  if (!wantsPage) return c.text('Sign in first.\n', 401);
  return c.redirect(`/sign-in?${new URLSearchParams({ to: `${pathname}${search}` })}`, 303);
}

const changes = (c: Context) => c.req.method !== 'GET' && c.req.method !== 'HEAD';

/** Whether a request comes from a page of this host. Browsers say so in one of two headers, and a page cannot forge either. */
export function isOurOwn(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  const origin = c.req.header('origin');
  if (origin === undefined) return site === 'same-origin';
  return URL.canParse(origin) && new URL(origin).host === c.req.header('host')?.toLowerCase();
}
