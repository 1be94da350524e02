/** The connect page and the exchange, as strict as Devin's reference. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { createClock } from '../../src/ports/clock.js';
import { onEnd } from '../e2e/support.js';

const CALLBACK = 'https://outposts.example.com/connect/callback';
const VERIFIER = 'v'.repeat(43);
const challenge = createHash('sha256').update(VERIFIER).digest('base64url');

async function open({ speed = 1 } = {}) {
  const started = Date.now();
  const clock = createClock({ speed, origin: { wall: started, clock: started } });
  const devin = await startDevinCloud({ clock, connectCallbacks: [CALLBACK] });
  onEnd(() => devin.close());
  const address = (changes: Record<string, string> = {}) =>
    `${devin.connectUrl}?${new URLSearchParams({ callback_url: CALLBACK, code_challenge: challenge, ...changes })}`;
  const answer = async (name: string, what = 'connect') => {
    const body = new URLSearchParams({
      callback_url: CALLBACK,
      code_challenge: challenge,
      outpost_name: name,
      answer: what,
    });
    return fetch(devin.connectUrl, { method: 'POST', body, redirect: 'manual' });
  };
  return {
    devin,
    clock,
    address,
    answer,
    async code(name: string) {
      return new URL((await answer(name)).headers.get('location') ?? '').searchParams.get('code') ?? '';
    },
    exchange: (form: Record<string, string>, path = '/outposts/connection-token') =>
      fetch(`${devin.url}${path}`, { method: 'POST', body: new URLSearchParams(form) }),
  };
}
const grant = (code: string, verifier = VERIFIER) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
});

test('a callback that is not on the list, or a challenge that is none -> an error page, and no way on', async () => {
  const { address } = await open();
  for (const changes of [{ callback_url: 'https://evil.example' }, { code_challenge: 'short' }])
    expect((await fetch(address(changes))).status).toBe(400);
  expect((await fetch(address())).status).toBe(200);
});

test('connected -> a code that works once; the token serves the new outpost alone', async () => {
  const { devin, code, exchange } = await open();
  const given = await code('one');
  const answer = await exchange(grant(given));
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const { access_token, outpost_id } = (await answer.json()) as Record<string, string>;
  const list = (outpost = '') =>
    fetch(`${devin.url}/opbeta/outposts/devins?outpost=${outpost}`, {
      headers: { authorization: `Bearer ${access_token}` },
    });
  expect((await list(outpost_id)).status).toBe(200);
  expect((await list(devin.outpostId)).status).toBe(403);
  const again = await exchange(grant(given));
  expect([again.status, await again.json()]).toEqual([400, { error: 'invalid_grant' }]);
});

test('declined -> access_denied, and no code', async () => {
  const { answer } = await open();
  const back = new URL((await answer('one', 'cancel')).headers.get('location') ?? '').searchParams;
  expect([back.get('error'), back.get('code')]).toEqual(['access_denied', null]);
});

test('a name that is taken -> said on the page', async () => {
  const { answer } = await open();
  expect((await answer('one')).status).toBe(302);
  expect((await answer('one')).status).toBe(409);
});

test.each([
  ['another verifier', (code: string) => grant(code, 'w'.repeat(43)), 'invalid_grant'],
  ['an unknown code', () => grant('made-up'), 'invalid_grant'],
  ['no verifier', (code: string) => ({ ...grant(code), code_verifier: '' }), 'invalid_request'],
  ['another grant', (code: string) => ({ ...grant(code), grant_type: 'password' }), 'unsupported_grant_type'],
])('%s -> 400 %s', async (_, form, error) => {
  const { code, exchange } = await open();
  const answer = await exchange(form(await code('one')));
  expect([answer.status, await answer.json()]).toEqual([400, { error }]);
});

test('after ten minutes -> the code is over', async () => {
  const { clock, code, exchange } = await open({ speed: 2_000 });
  const given = await code('one');
  await clock.sleep(10 * 60_000);
  expect((await exchange(grant(given))).status).toBe(400);
});

test('JSON instead of a form, or the path that this server does not have -> refused', async () => {
  const { devin, code, exchange } = await open();
  const given = await code('one');
  const json = await fetch(`${devin.url}/outposts/connection-token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(grant(given)),
  });
  expect(json.status).toBe(400);
  expect((await exchange(grant(given), '/opbeta/outposts/connection-token')).status).toBe(404);
  expect((await exchange(grant(given))).status).toBe(200);
});
