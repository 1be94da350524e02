import { expect, test } from 'vitest';
import { createCronApp } from '../../src/http/cron.js';
import { CRON_SECRET, deploymentOf, noted, settings } from './support.js';

const cronOf = async (change: Record<string, string | undefined> = {}) => {
  const { ...env } = { ...(await settings()), ...change } as Record<string, string>;
  return createCronApp({ deployment: deploymentOf(env), runs: noted() });
};

test.each([
  ['none', undefined],
  ['a wrong one', 'Bearer something-else-entirely'],
  ['one that is right but for its end', `Bearer ${CRON_SECRET.slice(0, -1)}x`],
  ['the right one with more behind it', `Bearer ${CRON_SECRET}x`],
  ['the right one under another scheme', `Basic ${CRON_SECRET}`],
  ['an empty one', 'Bearer '],
])('the cron is called with no secret or a wrong one: %s -> 401, and nothing is said', async (_, header) => {
  const app = await cronOf();
  const answer = await app.request('/api/cron', { headers: header ? { authorization: header } : {} });
  expect(answer.status).toBe(401);
  expect(await answer.text()).not.toContain(CRON_SECRET);
});

test('the settings have no cron secret -> nobody is let in, with an empty one neither', async () => {
  const app = await cronOf({ CRON_SECRET: undefined });
  for (const authorization of ['Bearer ', 'Bearer undefined', 'Bearer null', `Bearer ${CRON_SECRET}`])
    expect((await app.request('/api/cron', { headers: { authorization } })).status).toBe(401);
});

test('the database is away -> 503 with Retry-After for who knows the secret', async () => {
  const app = await cronOf({ DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:9/none' });
  const answer = await app.request('/api/cron', { headers: { authorization: `Bearer ${CRON_SECRET}` } });
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.text()).not.toContain('nothing');
});

test('anything else of the cron function -> 404', async () => {
  const app = await cronOf();
  for (const path of ['/', '/api/health', '/api/sessions', '/api/cron/x'])
    expect((await app.request(path)).status).toBe(404);
});
