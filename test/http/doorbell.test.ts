import { beforeEach, expect, test } from 'vitest';
import { createDoorbell } from '../../src/doorbell.js';
import { createControlApp } from '../../src/http/app.js';
import type { Store } from '../../src/ports/store.js';
import { CRON_SECRET, deploymentOf, noted, settings } from './support.js';

const ID = 'devin-one/with odd:characters';
const doorbell = createDoorbell({ secret: CRON_SECRET, baseUrl: 'https://outposts.example.com' });

let store: Store;
let app: ReturnType<typeof createControlApp>;
let runs: ReturnType<typeof noted>;

beforeEach(async () => {
  const deployment = deploymentOf(await settings());
  ({ store } = await deployment.base());
  runs = noted();
  app = createControlApp({ deployment, runs });
  const actor = {
    machine: 'session',
    version: 2,
    snapshot: '{}',
    state: 'serving.monitoring',
    episode: 3,
    holdsSlot: true,
  };
  await store.enroll(ID, actor, null, 1);
});

const ring = (id: string, key: string | null, path = new URL(doorbell.urlOf(id)).pathname) =>
  app.request(path, {
    method: 'POST',
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });

const news = async () => {
  const taken = await store.take(ID, 'reader', 1_000);
  await store.free(ID, 'reader');
  return taken.kind === 'taken' ? taken.news.map(({ event }) => JSON.parse(event)) : [];
};

test('the vm rings with the key of its episode -> the run is rung and the actor has news', async () => {
  const answer = await ring(ID, doorbell.keyOf(ID, 3));
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  expect(runs.rung).toEqual([ID]);
  expect(await news()).toEqual([{ type: 'doorbell.rung' }]);
});

test('rung again before anybody looked -> the news waits once', async () => {
  for (let i = 0; i < 3; i++) await ring(ID, doorbell.keyOf(ID, 3));
  expect(await news()).toEqual([{ type: 'doorbell.rung' }]);
});

test.each([
  ["another episode's key", ID, () => doorbell.keyOf(ID, 2)],
  ["another session's key", ID, () => doorbell.keyOf('devin-two', 3)],
  ['a key of nothing', ID, () => 'x'.repeat(43)],
  ['a key with odd characters', ID, () => "x'; drop table actors; --"],
  ['no key', ID, () => null],
  ['a key without its episode', ID, () => doorbell.keyOf(ID, 3).slice(2)],
  ['an id with a NUL', 'devin\0', () => doorbell.keyOf('devin\0', 3)],
  ['a session that is not there', 'devin-two', () => doorbell.keyOf('devin-two', 3)],
  ['a very long id', 'd'.repeat(4_000), () => doorbell.keyOf('devin-two', 3)],
])('%s -> the same answer, and nothing happens', async (_, id, key) => {
  const answer = await ring(id, key());
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  expect(runs.rung).toEqual([]);
  expect(await news()).toEqual([]);
});

test('a session rings without end -> its run is woken a few times and no more', async () => {
  for (let i = 0; i < 40; i++) await ring(ID, doorbell.keyOf(ID, 3));
  expect(runs.rung.length).toBeLessThanOrEqual(7);
});

test('somebody rings at random without end -> the session that has a key is heard all the same', async () => {
  for (let i = 0; i < 200; i++) expect((await ring(`devin-${i}`, `1.${'x'.repeat(43)}`)).status).toBe(204);
  await ring(ID, doorbell.keyOf(ID, 3));
  expect(runs.rung).toEqual([ID]);
});

test('the settings have no secret -> the bell is deaf, whatever the key', async () => {
  const { CRON_SECRET: _, ...env } = await settings();
  const deaf = createControlApp({ deployment: deploymentOf(env), runs });
  const answer = await deaf.request(new URL(doorbell.urlOf(ID)).pathname, {
    method: 'POST',
    headers: { authorization: `Bearer ${doorbell.keyOf(ID, 3)}` },
  });
  expect(answer.status).toBe(204);
  expect(runs.rung).toEqual([]);
});
