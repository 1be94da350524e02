/** Who is kept waiting at the sign-in, and who is not. */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { networkOf } from '../../src/http/network.js';
import { createPeople } from '../../src/http/people.js';
import { signInRoutes } from '../../src/http/sign-in.js';
import { createOperators } from '../../src/operators/operators.js';
import { createPatience } from '../../src/operators/patience.js';
import { openStore } from '../../src/store/open.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

const SECRET = 'operator-secret-of-this';

async function open(addressOf: (given: string) => string | null) {
  const store = await openStore(`file:${await temporaryDirectory()}/x.db`);
  onEnd(() => store.close());
  const keys = createKeyRing('r'.repeat(32), null);
  const operators = createOperators({ keys, secrets: { operator: SECRET, viewer: null } });
  const people = createPeople({ operators, secure: false });
  const patience = createPatience({ store: async () => store, keys });
  const clientOf = (given: string | undefined) => addressOf(given ?? '');
  const app = new Hono();
  app.route(
    '/',
    signInRoutes({ people, operators, patience, clientOf: (c) => clientOf(c.req.header('x-real-ip')) }),
  );
  return async (from: string, secret: string) =>
    app.request('/sign-in', {
      method: 'POST',
      headers: { host: 'localhost', origin: 'http://localhost', 'x-real-ip': from },
      body: new URLSearchParams({ secret }),
    });
}

test('somebody guesses -> soon too many for that address, right or wrong; another signs in meanwhile', async () => {
  const signIn = await open((address) => address);
  for (let tries = 0; tries < 5; tries++)
    expect((await signIn('192.0.2.1', `guess ${tries}`)).status).toBe(401);
  const late = await signIn('192.0.2.1', SECRET);
  expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect((await signIn('192.0.2.2', SECRET)).status).toBe(303);
});

test('addresses are not known -> wrong ones are refused, and a right one is let in whatever was sent before', async () => {
  const signIn = await open(() => null);
  for (let tries = 0; tries < 20; tries++) expect((await signIn('', `guess ${tries}`)).status).toBe(401);
  expect((await signIn('', SECRET)).status).toBe(303);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', null],
  ['192.0.2.1, 192.0.2.2', null],
  ['x'.repeat(1_000), null],
])('the address %s -> counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
