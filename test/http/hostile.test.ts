/**
 * Hostile requests to a running server, one by one: the status that each gets,
 * and that nothing planted is in any answer, log line, or byte of the database.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccountReader } from '../../src/connect/account.js';
import { createClock } from '../../src/ports/clock.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { createVault } from '../../src/vault/vault.js';
import { posted, REQUESTS } from './hostile-requests.js';
import { CANARIES, SENT, type Server, startServer } from './hostile-server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.close());

describe('a hostile request', () => {
  test.each(REQUESTS)('%s -> %i', async (_, status, hostile) => {
    const answer = await server.send(hostile(server));
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain(SENT);
    expect(answer.text).not.toMatch(/\n\s+at |node_modules|\/src\/|Error:/);
    expect(answer.headers['cache-control']).toMatch(/no-store/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    const { location } = answer.headers;
    if (location !== undefined) expect(location).toMatch(/^\/(?!\/)/);
  });

  test('all of them -> change nothing, and nothing planted is in an answer, a log line or the database', async () => {
    expect(REQUESTS.length).toBeGreaterThanOrEqual(60);
    const own = await server.store.read('connection:own');
    expect(own).toMatchObject({ state: 'authorizing.waiting', quarantine: null });
    expect(server.devin.calls.count('exchange')).toBe(0);
    const everywhere = [...server.answers, ...server.lines, server.raw()].join('\n');
    for (const canary of [...Object.values(CANARIES), SENT]) expect(everywhere).not.toContain(canary);
    expect(server.raw()).not.toContain(server.operator.cookie.split('=')[1]);
  });
});

describe('what is right, beside all that', () => {
  test('every page -> the headers that keep others out', async () => {
    for (const [path, cookie] of [
      ['/sign-in', ''],
      ['/connect', server.operator.cookie],
      ['/connect/attempt', server.attempt.cookie],
    ] as const) {
      const { status, headers } = await server.send({ path, headers: { cookie } });
      expect(status).toBe(200);
      const policy = String(headers['content-security-policy']);
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ])
        expect(policy).toContain(part);
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(headers['x-frame-options']).toBe('DENY');
    }
  });

  test('an operator begins again, comes back with the code -> connected, and the code leaves the address bar', async () => {
    const { operator } = server;
    const begun = await server.send(
      posted('/connect/start', 'operator', () => ({ token: operator.token }))(server),
    );
    expect(begun.status).toBe(200);
    const address = /url=([^"]+)"/.exec(begun.text)?.[1] ?? '';
    const asking = new URL(address.replaceAll('&amp;', '&'));
    expect(asking.origin).toBe(server.devin.url);
    const [cookie = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? [];
    expect(begun.headers['set-cookie']?.[0]).toMatch(/HttpOnly; SameSite=Lax/);
    const fields = { ...Object.fromEntries(asking.searchParams), answer: 'connect' };
    const confirmed = await fetch(asking, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    const back = new URL(confirmed.headers.get('location') ?? '');
    const returned = await server.send({ path: `${back.pathname}${back.search}`, headers: { cookie } });
    expect([returned.status, returned.headers.location]).toEqual([303, '/connect/attempt']);
    expect((await server.send({ path: '/connect/attempt', headers: { cookie } })).text).toContain(
      'Connected to the outpost',
    );
    const token = (await readAccount())?.token ?? '';
    expect(token).toMatch(/^cog_/);
    expect([...server.answers, ...server.lines, server.raw()].join('\n')).not.toContain(token);
  });

  test('a right secret -> a cookie that is for this host alone, and no script can read', async () => {
    const answer = await server.send(
      posted('/sign-in', null, () => ({ secret: CANARIES.VIEWER_SECRET, to: '/connect' }))(server),
    );
    expect([answer.status, answer.headers.location]).toEqual([303, '/connect']);
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^outposts-session=.*HttpOnly; SameSite=Strict/);
  });

  test('somebody guesses, where clients cannot be told apart -> who knows the secret is let in all the same', async () => {
    for (let tries = 0; tries < 30; tries++)
      expect(
        await server.send(posted('/sign-in', null, () => ({ secret: `guess ${tries}` }))(server)),
      ).toMatchObject({ status: 401 });
    const answer = await server.send(
      posted('/sign-in', null, () => ({ secret: CANARIES.OPERATOR_SECRET }))(server),
    );
    expect(answer.status).toBe(303);
  });

  test('an address that brings a code, whatever page answers it -> no browser tells it to anybody', async () => {
    for (const path of [`/connect/callback?code=${SENT}`, `/integration/callback?code=${SENT}`])
      expect((await server.send({ path })).headers['referrer-policy']).toBe('no-referrer');
    expect((await server.send({ path: '/sign-in' })).headers['referrer-policy']).toBe('same-origin');
  });
});

/** The account as another process would read it. */
function readAccount() {
  const keys = createKeyRing(CANARIES.DEVIN_CONNECTION_SECRET, null);
  const vault = createVault({ store: server.store, keys, clock: createClock() });
  const trustedHosts = [new URL(server.devin.url).host];
  return createAccountReader({ vault, trustedHosts, environment: null }).current();
}
