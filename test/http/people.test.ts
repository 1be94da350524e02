/** What a cookie that is due for renewal does, and does not do. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { createPeople } from '../../src/http/people.js';
import { signInRoutes } from '../../src/http/sign-in.js';
import { createOperators } from '../../src/operators/operators.js';
import { createKeyRing } from '../../src/vault/keys.js';

const HOUR_MS = 3_600_000;

async function signedInTwoHoursAgo() {
  const keys = createKeyRing('r'.repeat(32), null);
  const secrets = { operator: 'operator-secret-1', viewer: null };
  const before = createOperators({ keys, secrets, now: () => Date.now() - 2 * HOUR_MS });
  const operators = createOperators({ keys, secrets });
  const cookie = `outposts-session=${await before.admit('operator')}`;
  const people = createPeople({ operators, secure: false });
  const patience = { waitOf: async () => 0, note: async () => {} };
  const app = new Hono();
  app.route('/', signInRoutes({ people, operators, patience, clientOf: () => 'x' }));
  app.get('/page', people.admission.gate, (c) => c.text(people.admission.visitor(c).token));
  return { app, headers: { cookie, host: 'localhost' } };
}

test('a page, an hour after the last cookie -> a fresh cookie comes along', async () => {
  const { app, headers } = await signedInTwoHoursAgo();
  const answer = await app.request('/page', { headers });
  expect(answer.headers.get('set-cookie')).toMatch(/^outposts-session=ey/);
});

test('signing out, an hour after the last cookie -> signed out, with no fresh cookie', async () => {
  const { app, headers } = await signedInTwoHoursAgo();
  const token = await (await app.request('/page', { headers })).text();
  const answer = await app.request('/sign-out', {
    method: 'POST',
    headers: { ...headers, origin: 'http://localhost' },
    body: new URLSearchParams({ token }),
  });
  expect(answer.status).toBe(303);
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^outposts-session=;.*Max-Age=0/)]);
});
