/**
 * Who may talk to a page that is on loopback only, without a sign-in.
 *
 * A page on loopback is still reachable by any web page in the operator's
 * browser, by posting to it or by pointing a name of its own at 127.0.0.1. So
 * every request must name a host that we have, must not come from another
 * origin, and an action needs the token that only our own page contains.
 */
import { timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Admission } from './admission.js';
import { pageHeaders } from './headers.js';

const HEADERS = pageHeaders({ https: false });

/**
 * Refuses foreign hosts (421) and origins (403); adds the headers that keep other pages out.
 * `allowedHosts` (in lower case) is read at each request: the port may be known late.
 */
function guard(allowedHosts: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    const host = c.req.header('host')?.toLowerCase() ?? '';
    if (!allowedHosts.includes(host)) return c.text('This address is not served here.\n', 421);
    const origin = c.req.header('origin');
    if (origin !== undefined && origin.toLowerCase() !== `http://${host}`)
      return c.text('Requests from other origins are refused.\n', 403);
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD' && isCrossSite(c.req.header('sec-fetch-site')))
      return c.text('Requests from other sites are refused.\n', 403);
    await next();
  };
}

/**
 * One operator, the one who sits here. `token` is made anew by each process; whoever posts an action has to know it,
 * and only our own page contains it.
 */
export function localAdmission(token: string, allowedHosts: readonly string[]): Admission {
  return {
    gate: guard(allowedHosts),
    visitor: () => ({ role: 'operator', token, leave: null }),
    isToken: (_, given) => isSameToken(given, token),
  };
}

/** Compares without telling by its duration how much was right. */
function isSameToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function isCrossSite(fetchSite: string | undefined): boolean {
  return fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none';
}
