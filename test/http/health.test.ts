import { expect, test } from 'vitest';
import { SESSION_VERSION } from '../../machines/session.js';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { createControlApp } from '../../src/http/app.js';
import { createCronApp } from '../../src/http/cron.js';
import { assemble } from '../../src/parts.js';
import { LAST_LOOK } from '../../src/pass/pass.js';
import { createClock } from '../../src/ports/clock.js';
import { CRON_SECRET, deploymentOf, noted, onEnd, settings, TOKEN } from './support.js';

async function ask(
  env: Record<string, string>,
  prepare?: (d: ReturnType<typeof deploymentOf>) => Promise<unknown>,
) {
  const deployment = deploymentOf(env);
  await prepare?.(deployment);
  const app = createControlApp({ deployment, runs: noted() });
  const answer = await app.request('/api/health');
  const text = await answer.text();
  for (const secret of [CRON_SECRET, TOKEN, 'only-here']) expect(text).not.toContain(secret);
  return { answer, health: JSON.parse(text) as Record<string, unknown> };
}
const looked = (d: ReturnType<typeof deploymentOf>) =>
  d.base().then(({ store }) => store.writeSetting(LAST_LOOK, String(Date.now())));
const actor = {
  machine: 'session',
  version: SESSION_VERSION,
  snapshot: '{}',
  state: 'queued',
  episode: 1,
  holdsSlot: false,
};

test('the queue was looked at lately -> ok', async () => {
  const { answer, health } = await ask(await settings(), looked);
  expect(answer.status).toBe(200);
  expect(health).toMatchObject({ status: 'ok', problems: [], chart: SESSION_VERSION });
});

test('nobody has looked at the queue -> 503 with Retry-After, and what calls it', async () => {
  const { answer, health } = await ask(await settings());
  expect([answer.status, health.status]).toEqual([503, 'unready']);
  expect(answer.headers.get('retry-after')).toBe('10');
  expect(String(health.problems)).toContain('/api/cron');
});

test('no settings at all -> 503, and every one that is missing by its name', async () => {
  const { answer, health } = await ask({});
  expect(answer.status).toBe(503);
  for (const name of ['DEVIN_OUTPOSTS_TOKEN', 'DEVIN_OUTPOST_ID', 'DATABASE_URL'])
    expect(String(health.problems)).toContain(name);
});

test('on Vercel without a database -> the variable and the place that adds it', async () => {
  const { DATABASE_URL: _, ...env } = await settings();
  const { answer, health } = await ask({ ...env, VERCEL: '1', VERCEL_PROJECT_ID: 'prj_of-this-test' });
  expect(answer.status).toBe(503);
  expect(String(health.problems)).toMatch(/DATABASE_URL .*Storage.*Create Database/);
});

test('on a preview deployment with a stray token -> both are told, with what to do', async () => {
  const env = { ...(await settings()), VERCEL: '1', VERCEL_ENV: 'preview', VERCEL_TOKEN: 'only-here-0123' };
  const { health } = await ask(env);
  expect(String(health.problems)).toMatch(/VERCEL_ENV.*[Pp]romote/);
  expect(String(health.problems)).toMatch(/VERCEL_TOKEN.*[Rr]emove/);
});

test('the database is away -> 503 that says so, without its address; back again -> ok', async () => {
  const { answer, health } = await ask({
    ...(await settings()),
    DATABASE_URL: 'postgres://somebody:only-here@127.0.0.1:9/none',
  });
  expect(answer.status).toBe(503);
  expect(String(health.problems)).toContain('DATABASE_URL');
});

test('sessions were saved by a newer version -> attention, and which version they need', async () => {
  const { health } = await ask(await settings(), async (deployment) => {
    await looked(deployment);
    const { store } = await deployment.base();
    await store.enroll('devin-newer', { ...actor, version: 99 }, null, 1);
  });
  expect(health.status).toBe('attention');
  expect(String(health.problems)).toMatch(/1 sessions.*99/);
});

test('hobby -> what the plan limits is noted, and is no trouble', async () => {
  const { health } = await ask({ ...(await settings()), VERCEL_PLAN: 'hobby' }, looked);
  expect(health.status).toBe('ok');
  expect(String(health.notes)).toContain('45 minutes');
});

test.each(['/api', '/api/sessions', '/actions/stop', '/events', '/.env', '/api/health/x'])(
  'anybody asks a deployment for %s -> 404',
  async (path) => {
    const deployment = deploymentOf({ ...(await settings()), VERCEL: '1' });
    const app = createControlApp({ deployment, runs: noted() });
    for (const host of ['outposts.example.com', '127.0.0.1:3000'])
      expect((await app.request(path, { headers: { host } })).status).toBe(404);
  },
);

test('a server of its own: the page is there on loopback, and nowhere else', async () => {
  const app = createControlApp({ deployment: deploymentOf(await settings()), runs: noted() });
  const at = async (headers: Record<string, string>) => (await app.request('/', { headers })).status;
  expect(await at({ host: '127.0.0.1:3000' })).toBe(200);
  expect(await at({ host: 'outposts.example.com' })).toBe(404);
  for (const name of ['x-forwarded-for', 'forwarded', 'x-forwarded-host', 'x-real-ip', 'via'])
    expect(await at({ host: '127.0.0.1:3000', [name]: '203.0.113.9' })).toBe(404);
});

test('a server of its own without settings -> the page says which are missing', async () => {
  const app = createControlApp({ deployment: deploymentOf({}), runs: noted() });
  const answer = await app.request('/', { headers: { host: '127.0.0.1:3000' } });
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('DEVIN_OUTPOSTS_TOKEN');
});

test('Devin refuses the token -> health names it, and does not blame the cron', async () => {
  const devin = await startDevinCloud({ clock: createClock() });
  onEnd(() => devin.close());
  const deployment = {
    ...deploymentOf({ ...(await settings()), DEVIN_API_URL: devin.url, DEVIN_OUTPOST_ID: devin.outpostId }),
    // A pass of two seconds.
    speed: 28,
  };
  const apps = { deployment, runs: noted() };
  await createCronApp(apps).request('/api/cron', { headers: { authorization: `Bearer ${CRON_SECRET}` } });
  const answer = await createControlApp(apps).request('/api/health');
  expect(answer.status).toBe(503);
  const text = await answer.text();
  expect(text).toContain('DEVIN_OUTPOSTS_TOKEN');
  expect(text).not.toContain('/api/cron');
  expect(text).not.toContain(devin.outpostId);
});

test('a preview deployment has the database of production -> it does not open it', async () => {
  const env = { ...(await settings()), VERCEL: '1', VERCEL_ENV: 'preview' };
  const deployment = deploymentOf({ ...env, DATABASE_URL: 'postgres://somebody:only-here@127.0.0.1:9/one' });
  await expect(deployment.base()).rejects.toMatchObject({ name: 'RefusedError', setting: 'VERCEL_ENV' });
});

test('the database serves another outpost -> which setting, and no account by its name', async () => {
  const env = await settings();
  const first = deploymentOf(env);
  await assemble(await first.base());
  const answer = await createControlApp({
    deployment: deploymentOf({ ...env, DEVIN_OUTPOST_ID: 'outpost_env-another' }),
    runs: noted(),
  }).request('/api/health');
  const text = await answer.text();
  expect([answer.status, text.includes('DATABASE_URL')]).toEqual([503, true]);
  expect(text).not.toMatch(/outpost_env-|prj_/);
});

const ROOT = { DEVIN_CONNECTION_SECRET: 'a-root-secret-of-this-test-0123456' };
const unconnected = async () => ({
  ...(await settings()),
  ...ROOT,
  DEVIN_OUTPOSTS_TOKEN: '',
  DEVIN_OUTPOST_ID: '',
});

test('nothing is connected -> unready, and where to connect', async () => {
  const { answer, health } = await ask(await unconnected());
  expect([answer.status, health.status]).toEqual([503, 'unready']);
  expect(String(health.problems)).toMatch(/not connected.*OPERATOR_SECRET.*\/connect/);
});

test('nothing is connected where projects of others are set up -> ok, and noted', async () => {
  const { health } = await ask({
    ...(await unconnected()),
    VERCEL_INTEGRATION_CLIENT_ID: 'oac_1',
    VERCEL_INTEGRATION_CLIENT_SECRET: 'only-for-tests',
  });
  expect(health).toMatchObject({ status: 'ok', problems: [], notes: [expect.stringContaining('set up')] });
});

test('the cron comes while nothing is connected -> it says so, and looks at no queue', async () => {
  const deployment = deploymentOf(await unconnected());
  const headers = { authorization: `Bearer ${CRON_SECRET}` };
  const answer = await createCronApp({ deployment, runs: noted() }).request('/api/cron', { headers });
  expect([answer.status, await answer.json()]).toEqual([200, { kind: 'unconnected' }]);
});

test('a deployment without a sign-in -> says where to set one up, and shows nothing', async () => {
  const deployment = deploymentOf({
    ...(await settings()),
    VERCEL: '1',
    DATABASE_URL: 'postgres://u:p@127.0.0.1:9/d',
  });
  const app = createControlApp({ deployment, runs: noted() });
  expect((await app.request('/')).headers.get('location')).toBe('/sign-in');
  const page = await app.request('/sign-in');
  expect(page.status).toBe(503);
  expect(await page.text()).toMatch(/OPERATOR_SECRET/);
});
