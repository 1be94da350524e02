/** The operator's page of the connection: what it shows, and what its buttons do. */
import { describe, expect, test } from 'vitest';
import type { ConnectionView } from '../../src/ports/connector.js';
import {
  attemptCookie,
  DEVIN,
  NO_CONNECTION,
  openRig,
  opensIn,
  targetOf,
  URL_OF_THIS,
} from './connect-rig.js';

const CONNECTED: ConnectionView = {
  ...NO_CONNECTION,
  source: 'browser',
  outpostId: 'outpost_env-1',
  apiHost: 'api.devin.example',
  since: Date.UTC(2026, 0, 2, 3, 4),
};

async function pageOf(connection: ConnectionView, who: 'operator' | 'viewer' = 'operator') {
  const rig = await openRig({ script: { own: async () => connection } });
  const answer = await rig.get('/connect', rig[who].cookie);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  return { text, forms: [...text.matchAll(/<form[^>]+action="([^"]+)"/g)].map(([, action]) => action) };
}

describe('an operator sees', () => {
  test.each<[string, ConnectionView, string[], string[]]>([
    [
      'nothing connected',
      NO_CONNECTION,
      ['no sessions are served', `${URL_OF_THIS}/connect/callback`, 'Deploy Button'],
      ['/sign-out', '/connect/start'],
    ],
    [
      'what is connected, and since when',
      CONNECTED,
      ['outpost_env-1', 'api.devin.example', '2026-01-02 03:04 UTC', 'Another outpost is taken too'],
      ['/sign-out', '/connect/start', '/connect/disconnect'],
    ],
    [
      'that another outpost would be refused',
      { ...CONNECTED, sessions: 3 },
      [
        '3 sandboxes in use now',
        'another outpost would be refused',
        'what runs now (3 sandboxes) is left alone',
      ],
      ['/sign-out', '/connect/start', '/connect/disconnect'],
    ],
    [
      'how the latest attempt went wrong, beside what is still connected',
      { ...CONNECTED, problem: 'it <b>ended</b>' },
      ['The latest attempt: it &lt;b&gt;ended&lt;/b&gt;.', 'outpost_env-1'],
      ['/sign-out', '/connect/start', '/connect/disconnect'],
    ],
    [
      'the environment’s account, which is not disconnected here',
      { ...CONNECTED, source: 'environment', since: null },
      ['by the settings', 'instead of the one in the settings'],
      ['/sign-out', '/connect/start'],
    ],
    [
      'an authorization at work, and no button that would do nothing',
      { ...CONNECTED, working: true },
      ['being put to use', 'http-equiv="refresh"'],
      ['/sign-out'],
    ],
  ])('%s', async (_, connection, says, forms) => {
    const page = await pageOf(connection);
    for (const words of says) expect(page.text).toContain(words);
    expect(page.forms).toEqual(forms);
  });
});

test('a viewer -> sees what is connected, and no button but the one to sign out', async () => {
  const page = await pageOf({ ...CONNECTED, sessions: 1 }, 'viewer');
  expect(page.text).toContain('outpost_env-1');
  expect(page.forms).toEqual(['/sign-out']);
});

describe('beginning', () => {
  test('an operator begins -> on to Devin, with a cookie that no script reads', async () => {
    const { post, calls, operator } = await openRig();
    const answer = await post('/connect/start', operator.cookie, { token: operator.token });
    expect(await opensIn(answer)).toBe(DEVIN);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^outposts-attempt=ey[^;]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(calls).toEqual([['begin']]);
  });

  test('an authorization is at work -> back to the page, with no cookie', async () => {
    const { post, operator } = await openRig({ script: { begin: async () => ({ kind: 'busy' }) } });
    const answer = await post('/connect/start', operator.cookie, { token: operator.token });
    expect(targetOf(answer)).toEqual([303, '/connect']);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('the page was opened under another name of the deployment -> said, and not begun', async () => {
    const { post, calls, operator } = await openRig();
    const other = { host: 'other.example.com', origin: 'http://other.example.com' };
    const answer = await post('/connect/start', operator.cookie, { token: operator.token }, other);
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain(`${URL_OF_THIS}/connect`);
    expect(calls).toEqual([]);
  });
});

describe('disconnecting', () => {
  test('without the tick -> nothing happens', async () => {
    const { post, calls, operator } = await openRig();
    const answer = await post('/connect/disconnect', operator.cookie, { token: operator.token });
    expect(targetOf(answer)).toEqual([303, '/connect']);
    expect(calls).toEqual([]);
  });

  test('with it -> disconnected, and the page says so', async () => {
    const { post, get, calls, operator } = await openRig();
    const answer = await post('/connect/disconnect', operator.cookie, { token: operator.token, sure: 'yes' });
    expect(targetOf(answer)).toEqual([303, '/connect?said=disconnected']);
    expect(calls[0]).toEqual(['disconnect']);
    const page = await get('/connect?said=disconnected', operator.cookie);
    expect(await page.text()).toContain('that token is forgotten');
  });

  test('an authorization goes on regardless -> the page does not say that it is over', async () => {
    const { post, operator } = await openRig({ script: { own: async () => CONNECTED } });
    const answer = await post('/connect/disconnect', operator.cookie, { token: operator.token, sure: 'yes' });
    expect(targetOf(answer)).toEqual([303, '/connect']);
  });
});

test.each(['/connect/start', '/connect/disconnect'])(
  '%s by whoever may not -> refused, and nothing done',
  async (path) => {
    const { post, calls, operator, viewer, attempt } = await openRig();
    const sure = { sure: 'yes' };
    const elsewhere = { origin: 'https://evil.example' };
    const statuses = [
      await post(path, '', sure),
      await post(path, attempt.cookie, { ...sure, token: attempt.token }),
      await post(path, (await attemptCookie()).replace('attempt', 'session'), {
        ...sure,
        token: attempt.token,
      }),
      await post(path, viewer.cookie, { ...sure, token: viewer.token }),
      await post(path, viewer.cookie, { ...sure, token: operator.token }),
      await post(path, operator.cookie, sure),
      await post(path, operator.cookie, { ...sure, token: viewer.token }),
      await post(path, operator.cookie, { ...sure, token: operator.token }, elsewhere),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 401, 401, 403, 403, 403, 403, 403]);
    expect(calls).toEqual([]);
  },
);
