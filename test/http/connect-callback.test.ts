/** Devin's callback: what it takes, from whom, and what it says otherwise. */
import { describe, expect, test } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import { ATTEMPT, attemptCookie, openRig, SENT, targetOf } from './connect-rig.js';

const HOUR_MS = 3_600_000;

test('a code comes back to the browser that began -> it is passed on, and leaves the address bar', async () => {
  const { get, calls, attempt } = await openRig();
  const answer = await get('/connect/callback?code=abc-123~', attempt.cookie);
  expect(targetOf(answer)).toEqual([303, '/connect/attempt']);
  expect(calls).toEqual([['returned', ATTEMPT, 'abc-123~']]);
});

test('a code of 512 characters, and parameters that nobody knows -> passed on', async () => {
  const { get, calls, attempt } = await openRig();
  const answer = await get(`/connect/callback?code=${'x'.repeat(512)}&iss=devin&state=`, attempt.cookie);
  expect(targetOf(answer)).toEqual([303, '/connect/attempt']);
  expect(calls).toEqual([['returned', ATTEMPT, 'x'.repeat(512)]]);
});

test('the administrator declined -> the error is passed on, its description to nobody', async () => {
  const { get, calls, attempt } = await openRig();
  const description = encodeURIComponent(`<script>${SENT}</script>`);
  const answer = await get(
    `/connect/callback?error=access_denied&error_description=${description}`,
    attempt.cookie,
  );
  expect(targetOf(answer)).toEqual([303, '/connect/attempt']);
  expect(calls).toEqual([['denied', ATTEMPT, 'access_denied']]);
});

test('the address was registered with another path -> it is served there', async () => {
  const { get, calls, attempt } = await openRig({ callbackPath: '/oauth/devin' });
  expect((await get('/oauth/devin?code=a', attempt.cookie)).status).toBe(303);
  expect(calls).toEqual([['returned', ATTEMPT, 'a']]);
});

test.each([
  ['nothing', ''],
  ['an empty code', '?code='],
  ['two codes', `?code=${SENT}&code=${SENT}`],
  ['the same parameter in another notation', `?code=${SENT}&%63ode=${SENT}`],
  ['a code and an error', `?code=${SENT}&error=access_denied`],
  ['two errors', '?error=access_denied&error=server_error'],
  ['an empty error', '?error='],
  ['only a description', `?error_description=${SENT}`],
  ['513 characters', `?code=${'x'.repeat(513)}`],
  ['an error of 513 characters', `?error=${'x'.repeat(513)}`],
  ['a blank', `?code=a%20${SENT}`],
  ['a plus, which is a blank', `?code=a+${SENT}`],
  ['a line break', `?code=a%0d%0aSet-Cookie:%20${SENT}`],
  ['a null byte', `?code=%00${SENT}`],
  ['a letter that is not ASCII', `?code=%C3%A4${SENT}`],
  ['a broken escape', `?code=%E0%A4%A${SENT}`],
  ['a script as the error', `?error=%3Cscript%3E+${SENT}%3C/script%3E`],
  ['the name in capitals', `?CODE=${SENT}`],
  ['the name with brackets', `?code[]=${SENT}`],
])('the address brings %s -> 400, nothing passed on, nothing of it on the page', async (_, query) => {
  const { get, calls, lines, attempt } = await openRig();
  const answer = await get(`/connect/callback${query}`, attempt.cookie);
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(text).toContain('Nothing has changed');
  expect(text + lines.join()).not.toContain(SENT);
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(calls).toEqual([]);
});

describe('the browser is not the one that began', () => {
  test.each([
    ['no cookie', async () => ''],
    ['a cookie of words', async () => `outposts-attempt=${SENT}`],
    ['a cookie without a signature', async () => 'outposts-attempt=eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd24ifQ.'],
    ['a cookie of another deployment', () => attemptCookie('another-root-secret-0123456789-01')],
    ['a cookie that is two hours old', () => attemptCookie(undefined, Date.now() - 2 * HOUR_MS)],
    ['a cookie of 6 kB', async () => `outposts-attempt=${'x'.repeat(6_000)}`],
    ['a cookie with another attempt put in', async () => forged(await attemptCookie())],
    ['an operator’s cookie', async () => (await openRig()).operator.cookie.replace('session', 'attempt')],
  ])('%s -> 400 at the callback and at the page, and nothing passed on', async (_, cookieOf) => {
    const { get, calls } = await openRig();
    const cookie = await cookieOf();
    for (const path of [`/connect/callback?code=${SENT}`, '/connect/attempt', '/connect/next']) {
      const answer = await get(path, cookie);
      const text = await answer.text();
      expect(answer.status).toBe(400);
      expect(text).toContain('This browser did not begin');
      expect(text).not.toContain(SENT);
    }
    expect(calls).toEqual([]);
  });

  test('the secret was changed since -> the cookie still counts', async () => {
    const previousRoot = 'the-root-secret-before-0123456789';
    const { get, calls } = await openRig({ previousRoot });
    expect((await get('/connect/callback?code=a', await attemptCookie(previousRoot))).status).toBe(303);
    expect(calls).toEqual([['returned', ATTEMPT, 'a']]);
  });
});

test('one browser sends code after code -> soon too many, with how long to wait; others are let through', async () => {
  const rig = await openRig();
  const statuses: number[] = [];
  let last = new Response();
  for (let tries = 0; tries < 20; tries++) {
    last = await rig.get(`/connect/callback?code=${tries}`, rig.attempt.cookie);
    statuses.push(last.status);
  }
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(303));
  expect([last.status, Number(last.headers.get('retry-after')) > 0]).toEqual([429, true]);
  expect(rig.calls.length).toBeLessThan(20);
  expect(await last.text()).toContain('half a minute');
});

test.each([
  ['the database is away', new TransientError(`connect: ${SENT}`), 503, 'within ten minutes'],
  ['a setting is wrong', new RefusedError(SENT, { setting: 'DEVIN_CONNECTION_SECRET' }), 503, 'DEVIN_CONN'],
  ['there is a defect', new TypeError(SENT), 500, 'The log says what'],
] as const)('%s -> %s is not on the page, nor the code in the log', async (_, error, status, says) => {
  const { get, lines, attempt } = await openRig({ script: { returned: () => Promise.reject(error) } });
  const answer = await get('/connect/callback?code=the-code-of-this', attempt.cookie);
  const text = await answer.text();
  expect(answer.status).toBe(status);
  expect(text).toContain(says);
  expect(text).not.toMatch(/canary|the-code|\n\s+at /);
  expect(lines).toEqual([`GET /connect/callback: ${error.message}`]);
});

/** Another attempt under the signature of the first. */
function forged(cookie: string): string {
  const [head, , signature] = cookie.split('.');
  const claims = {
    sub: 'own-of-another',
    aud: 'outposts attempt',
    exp: Math.floor(Date.now() / 1_000) + 600,
  };
  return [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}
