/** Connecting over HTTP where something is missing or away. */
import { expect, test } from 'vitest';
import { createControlApp } from '../../src/http/app.js';
import { vercelUrl } from '../../src/http/query.js';
import { createAttemptCookies } from '../../src/operators/attempts.js';
import { createOperators } from '../../src/operators/operators.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { deploymentOf, noted, settings } from './support.js';

const ROOT = 'a-root-secret-of-this-test-0123456';
const SECRETS = { operator: 'operator-secret-of-this', viewer: 'viewer-secret-of-this-1' };
const HOST = 'outposts.example.com';

async function open(changes: Record<string, string> = {}) {
  const env = {
    ...(await settings()),
    DEVIN_CONNECTION_SECRET: ROOT,
    OPERATOR_SECRET: SECRETS.operator,
    VIEWER_SECRET: SECRETS.viewer,
    ...changes,
  };
  const deployment = deploymentOf(env);
  const app = createControlApp({ deployment, runs: noted() });
  const keys = createKeyRing(ROOT, null);
  const operators = createOperators({ keys, secrets: SECRETS });
  const cookies = {
    operator: `__Host-outposts-session=${await operators.admit('operator')}`,
    viewer: `__Host-outposts-session=${await operators.admit('viewer')}`,
    attempt: `__Host-outposts-attempt=${await createAttemptCookies(keys).issue('own-of-this-test')}`,
  };
  return {
    deployment,
    get: (path: string, who: keyof typeof cookies) =>
      app.request(`https://${HOST}${path}`, {
        headers: { host: HOST, cookie: cookies[who], accept: 'text/html' },
      }),
  };
}
const AWAY = { DATABASE_URL: 'postgres://somebody:canary-of-this@127.0.0.1:9/one' };

test.each([
  ['/connect', 'operator'],
  ['/connect/callback?code=canary-of-this', 'attempt'],
  ['/connect/attempt', 'attempt'],
] as const)('the database is away -> %s says so, and that nothing is lost', async (path, who) => {
  const { get, deployment } = await open(AWAY);
  const answer = await get(path, who);
  const text = await answer.text();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
  expect(text).toContain('Nothing is lost: load this page again');
  expect(text + deployment.lines.join()).not.toContain('canary-of-this');
});

test('an attempt of which nothing is known -> said, and where to begin', async () => {
  const { get } = await open();
  const answer = await get('/connect/attempt', 'attempt');
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('Nothing is known of this attempt');
});

test('no projects are set up from here -> there is no such callback, for who is nobody', async () => {
  const { get } = await open();
  const answer = await get('/integration/callback?code=a&configurationId=b&currentProjectId=c', 'attempt');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/sign-in')]);
});

test('a viewer -> sees what is connected, and no button but the one to sign out', async () => {
  const { get } = await open();
  const text = await (await get('/connect', 'viewer')).text();
  expect(text).toContain('outpost_env-of-this-test');
  expect(text).toContain('It takes an operator');
  expect(text.match(/<form/g)).toHaveLength(1);
});

test('nobody knows where this is reached -> what is missing, and no button to connect', async () => {
  const { get } = await open({ PUBLIC_URL: '', CRON_SECRET: '' });
  const operators = createOperators({ keys: createKeyRing(ROOT, null), secrets: SECRETS });
  expect((await get('/connect', 'operator')).status).toBe(303);
  // Without https the cookie has its plain name.
  const deployment = deploymentOf({
    ...(await settings()),
    DEVIN_CONNECTION_SECRET: ROOT,
    OPERATOR_SECRET: SECRETS.operator,
    PUBLIC_URL: '',
  });
  const cookie = `outposts-session=${await operators.admit('operator')}`;
  const app = createControlApp({ deployment, runs: noted() });
  const text = await (await app.request('/connect', { headers: { cookie } })).text();
  expect(text).toContain('PUBLIC_URL');
  expect(text).not.toContain('/connect/start');
});

test('a server without a role’s secret -> /connect leads to where to set one up', async () => {
  const deployment = deploymentOf({ ...(await settings()), DEVIN_CONNECTION_SECRET: ROOT });
  const app = createControlApp({ deployment, runs: noted() });
  const answer = await app.request('/connect', { headers: { accept: 'text/html' } });
  expect(answer.headers.get('location')).toMatch(/^\/sign-in/);
  expect(await (await app.request('/sign-in')).text()).toContain('Signing in is not set up');
});

test.each([
  ['https://vercel.com/new', true],
  ['https://vercel.com', true],
  ['https://integrations.vercel.com/x?y=1#z', true],
  ['https://VERCEL.com/new', true],
  ['http://vercel.com/new', false],
  ['https://vercel.com:8443/new', false],
  ['https://vercel.com.evil.example', false],
  ['https://evilvercel.com', false],
  ['https://user@vercel.com', false],
  ['https://vercel.com@evil.example', false],
  ['https://evil.example/https://vercel.com', false],
  ['https:\\\\vercel.com', false],
  ['//vercel.com', false],
  ['javascript:alert(1)//vercel.com', false],
  ['https://vercel.com/\n', false],
  ['https://vercel.com./new', false],
  ['', false],
  [`https://vercel.com/${'x'.repeat(3_000)}`, false],
])('%s as the way back -> %s', (text, taken) => {
  expect(vercelUrl(text) !== null).toBe(taken);
});
