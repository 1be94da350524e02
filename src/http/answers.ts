/** What every route of a deployment has in common: its headers, and how it says that something is wrong. */
import type { Context, MiddlewareHandler } from 'hono';
import { pageHeaders } from '../dashboard/headers.js';
import type { Deployment } from '../deployment.js';
import { messageOf, RefusedError, TransientError } from '../errors.js';

/** Seconds after which a caller may try again, unless the trouble says otherwise. */
const RETRY_AFTER_S = 10;

/** Nothing of a deployment is kept by caches, framed or guessed at. */
export const plain: MiddlewareHandler = headed(pageHeaders({ https: true }));

/** Sets headers on whatever is answered. */
export function headed(headers: Readonly<Record<string, string>>): MiddlewareHandler {
  return async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(headers)) c.header(name, value);
  };
}

/** 503 with `Retry-After` for what passes or is mended by an operator; 500, and the reason in the log only, for a defect. */
export function answerTrouble(c: Context, error: unknown, { log }: Pick<Deployment, 'log'>): Response {
  log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(error)}`);
  if (!(error instanceof TransientError || error instanceof RefusedError))
    return c.text('Something is wrong here; the log says what.\n', 500);
  const askedMs = error instanceof TransientError ? error.retryAfterMs : null;
  const seconds = askedMs === null ? RETRY_AFTER_S : Math.max(1, Math.ceil(askedMs / 1_000));
  return c.text('Not now; /api/health says why.\n', 503, { 'Retry-After': String(seconds) });
}
