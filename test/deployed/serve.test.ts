import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../src/emulator/devin/index.js';
import { startChild, startOpenWorld } from '../e2e/child.js';
import { diskOf, WRITE } from '../e2e/stage.js';
import { onEnd, temporaryDirectory, until, worksAt } from '../e2e/support.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import {
  CRON_SECRET,
  expectServedToTheEnd,
  freePort,
  SPEED,
  seeThrough,
  sleeper,
  untilOver,
  WAIT_MS,
} from './support.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.close());

async function startServers(count: number) {
  const world = await startOpenWorld({ speed: SPEED });
  const databaseUrl = await postgres.createDatabase();
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const start = async (port: number) => {
    const env = { CRON_SECRET, PUBLIC_URL: `http://127.0.0.1:${ports[0]}`, MAX_CONCURRENT: '10' };
    const child = await startChild(world, databaseUrl, { command: 'serve', port, env });
    await child.up();
    return child;
  };
  const servers = [];
  for (const port of ports) servers.push(await start(port));
  return { world, databaseUrl, servers, restart: () => start(ports[0] ?? 0) };
}

test('two servers, one killed while sessions are provisioned, served and resumed -> the other finishes them all', async () => {
  const { world, databaseUrl, servers } = await startServers(2);
  const [first, second] = servers;
  const start = (id: string, script: Step[]) => world.devin.startSession({ id, script });
  const ids = ['clean', 'sleeper', 'crashes', 'opening', 'serving'].map((name) => `devin-${name}`);
  start('devin-clean', [{ run: WRITE }, { end: true }]);
  start('devin-sleeper', sleeper);
  start('devin-crashes', [{ run: WRITE }, { crash: 3 }, ...sleeper.slice(2)]);
  start('devin-serving', [{ run: WRITE }, { waitMs: SPEED * 40_000 }, ...sleeper.slice(2)]);
  await world.devin.until('devin-serving', worksAt(1), WAIT_MS);
  world.vercel.faults.add({
    operation: 'create',
    sandbox: diskOf('devin-opening'),
    kind: { delayMs: SPEED * 3_000 },
  });
  start('devin-opening', sleeper);
  await until(
    'a create',
    () => world.vercel.calls.count({ operation: 'create', sandbox: diskOf('devin-opening') }) > 0,
    {
      timeoutMs: WAIT_MS,
    },
  );
  first?.signal('SIGKILL');

  await Promise.all([
    ...['devin-clean', 'devin-crashes', 'devin-serving'].map((id) => untilOver(world, id)),
    ...['devin-sleeper', 'devin-opening'].map((id) => seeThrough(world, id)),
  ]);
  await expectServedToTheEnd(world, databaseUrl, ids);
  second?.signal('SIGTERM');
  expect(await second?.ended()).toBe(0);
}, 300_000);

test('the workflow engine on SQLite -> refused, with the engine that can', async () => {
  const world = await startOpenWorld({ speed: SPEED });
  const child = await startChild(world, `file:${await temporaryDirectory()}/one.db`, { command: 'serve' });
  expect(await child.ended()).toBe(1);
  expect(child.output()).toMatch(/DATABASE_URL/);
  expect(child.output()).toMatch(/--engine poller/);
});

test('three servers at once on an empty database, which then restarts -> all go on, and a session is served to its end', async () => {
  const own = await startPostgres();
  onEnd(() => own.close());
  const world = await startOpenWorld({ speed: SPEED });
  const env = { CRON_SECRET, PUBLIC_URL: 'https://outposts.example.com' };
  const servers = await Promise.all(
    [1, 2, 3].map(() => startChild(world, own.url, { command: 'serve', env })),
  );
  for (const server of servers) await server.up();

  world.devin.startSession({ id: 'devin-one', script: sleeper });
  await world.devin.until('devin-one', worksAt(1), WAIT_MS);
  await own.restart();
  await seeThrough(world, 'devin-one');
  await expectServedToTheEnd(world, own.url, ['devin-one']);

  const said = (name: string) =>
    servers[0]?.lines.find(({ text }) => text?.startsWith(`${name}: `))?.text?.match(/http:\S+\d/)?.[0];
  const statusOf = async (url = '') => (await fetch(url, { headers: { host: 'localhost' } })).status;
  // In public there is no page without a sign-in, but for the one that says so.
  expect(await statusOf(said('doorbell'))).toBe(503);
  expect(await statusOf(said('page'))).toBe(200);
  expect(servers.flatMap(({ lines }) => lines).filter(({ type }) => type === 'noJson')).toEqual([]);
  for (const server of servers) {
    server.signal('SIGTERM');
    expect(await server.ended()).toBe(0);
  }
}, 300_000);

test('two servers without an engine -> a session is served once, also when one of them is killed meanwhile', async () => {
  const world = await startOpenWorld({ speed: SPEED });
  const databaseUrl = await postgres.createDatabase();
  const start = async () => {
    const child = await startChild(world, databaseUrl, { command: 'serve', args: ['--engine', 'poller'] });
    await child.up();
    return child;
  };
  const [first, second] = [await start(), await start()];
  world.devin.startSession({ id: 'devin-one', script: sleeper });
  await world.devin.until('devin-one', worksAt(1), WAIT_MS);
  first.signal('SIGKILL');
  await seeThrough(world, 'devin-one');
  await expectServedToTheEnd(world, databaseUrl, ['devin-one']);
  second.signal('SIGTERM');
  expect(await second.ended()).toBe(0);
}, 300_000);

test('a database that takes connections and never answers -> said, and the server ends', async () => {
  const world = await startOpenWorld({ speed: SPEED });
  const mute = createServer(() => undefined);
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  onEnd(() => mute.close());
  const { port } = mute.address() as AddressInfo;
  const child = await startChild(world, `postgres://one:two@127.0.0.1:${port}/three`, { command: 'serve' });
  expect(await child.ended()).toBe(1);
  expect(child.output()).toMatch(/open the database/);
  expect(child.output()).not.toContain('two@');
});
