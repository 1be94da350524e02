/**
 * Signing in and out.
 *
 * Says only that a secret is not the right one. Goes on to pages of this host,
 * never to an address that came with the request.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { drawn } from '../dashboard/layout.js';
import { NoSignIn, SignIn } from '../dashboard/sign-in.js';
import type { Operators } from '../operators/operators.js';
import type { Patience } from '../operators/patience.js';
import { isOurOwn, type People } from './people.js';

export interface SignInDeps {
  readonly people: People;
  readonly operators: Operators;
  readonly patience: Patience;
  /** Who asks: an address that the platform vouches for; null where nobody does. */
  clientOf(c: Context): string | null;
}

const LONGEST_FORM = 4_096;

export function signInRoutes({ people, operators, patience, clientOf }: SignInDeps): Hono {
  const app = new Hono();
  const small = bodyLimit({ maxSize: LONGEST_FORM, onError: (c) => c.text('The form is too large.\n', 413) });
  const again = async (c: Context, problem: string, status: 401 | 403 | 429, to: string) =>
    c.html(await drawn(<SignIn to={to} problem={problem} />), status);

  app.get('/sign-in', async (c) =>
    c.html(await drawn(<SignIn to={ownPath(c.req.query('to'))} problem={null} />)),
  );

  app.post('/sign-in', small, async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const to = ownPath(form.get('to') ?? undefined);
    if (!isOurOwn(c)) return again(c, 'That form was not of this page. Try again here.', 403, to);
    const client = clientOf(c);
    const waitMs = client === null ? 0 : await patience.waitOf(client);
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1_000);
      c.header('Retry-After', String(seconds));
      return again(c, `Too many attempts. Try again in ${seconds} seconds.`, 429, to);
    }
    const role = operators.roleOf(form.get('secret') ?? '');
    if (client !== null) await patience.note(client, role !== null);
    if (role === null) return again(c, 'That is not a secret of this deployment.', 401, to);
    await people.welcome(c, role);
    return c.redirect(to, 303);
  });

  app.use('/sign-out', people.admission.gate);
  app.post('/sign-out', small, async (c) => {
    const form = new URLSearchParams(await c.req.text());
    if (!people.admission.isToken(c, form.get('token') ?? ''))
      return c.text('This page is out of date. Load it again.\n', 403);
    people.forget(c);
    return c.redirect('/sign-in', 303);
  });
  return app;
}

/** Where nobody can sign in: what to do about it, at `paths` too. */
export function noSignInRoutes(paths: readonly string[]): Hono {
  const app = new Hono();
  app.get('/sign-in', async (c) => c.html(await drawn(<NoSignIn />), 503));
  for (const path of paths) app.get(path, (c) => c.redirect('/sign-in', 303));
  return app;
}

/** A path of this host; anything else becomes the first page. */
function ownPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]{0,500}$/.test(text) || text.includes('\\')) return '/';
  return text;
}
