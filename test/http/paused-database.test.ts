import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { createControlApp } from '../../src/http/app.js';
import { createCronApp } from '../../src/http/cron.js';
import { createClock } from '../../src/ports/clock.js';
import { until } from '../e2e/support.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { CRON_SECRET, deploymentOf, noted, onEnd, settings } from './support.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.close());

test('the database is paused and comes back -> 503 with Retry-After meanwhile, then served again by itself', async () => {
  const devin = await startDevinCloud({ clock: createClock() });
  onEnd(() => devin.close());
  const deployment = {
    ...deploymentOf({
      ...(await settings()),
      DATABASE_URL: postgres.url,
      DEVIN_API_URL: devin.url,
      DEVIN_OUTPOSTS_TOKEN: devin.token,
      DEVIN_OUTPOST_ID: devin.outpostId,
    }),
    // A pass of five seconds.
    speed: 11,
  };
  const apps = { deployment, runs: noted() };
  const [control, cronApp] = [createControlApp(apps), createCronApp(apps)];
  const cron = () => cronApp.request('/api/cron', { headers: { authorization: `Bearer ${CRON_SECRET}` } });
  const { id } = devin.startSession();

  // The tables are made before the pass begins, whose time is short.
  await deployment.base();
  expect((await cron()).status).toBe(200);
  expect((await control.request('/api/health')).status).toBe(200);
  const claims = devin.session(id).claims.length;
  expect(claims).toBe(1);

  await postgres.stopServer();
  const health = await until('health notices', async () => {
    const answer = await control.request('/api/health');
    return answer.status === 503 ? answer : null;
  });
  for (const answer of [await cron(), health]) {
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.text()).not.toContain('only-for-tests');
  }

  await postgres.restart();
  expect((await cron()).status).toBe(200);
  await until('health notices', async () => (await control.request('/api/health')).status === 200);
  expect(devin.session(id).claims).toHaveLength(claims);
});
