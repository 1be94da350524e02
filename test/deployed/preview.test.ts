import { afterAll, beforeAll, expect, test } from 'vitest';
import type { World } from '../../src/emulator/world/index.js';
import { BUILD_MS, builtOutput } from '../artefact/built.js';
import { type Child, startChild, startOpenWorld } from '../e2e/child.js';
import { diskOf, FIND, WRITE } from '../e2e/stage.js';
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

const MINUTE_MS = 60_000 / SPEED;

let output = '';
let postgres: TestPostgres;
beforeAll(async () => {
  [output, postgres] = await Promise.all([builtOutput(), startPostgres()]);
}, BUILD_MS);
afterAll(() => postgres?.close());

interface Deployed {
  readonly world: World;
  readonly databaseUrl: string;
  readonly url: string;
  readonly server: Child;
  /** Starts the built output again, with the same database and the engine's data. */
  restart(): Promise<Child>;
}

async function deploy(): Promise<Deployed> {
  const world = await startOpenWorld({ speed: SPEED });
  const [databaseUrl, port, data] = await Promise.all([
    postgres.createDatabase(),
    freePort(),
    temporaryDirectory(),
  ]);
  const env = { CRON_SECRET, MAX_CONCURRENT: '10', WORKFLOW_LOCAL_DATA_DIR: data };
  const restart = async () => {
    const child = await startChild(world, databaseUrl, {
      command: 'preview',
      port,
      args: ['--output', output],
      env,
    });
    await child.up();
    return child;
  };
  return { world, databaseUrl, url: `http://127.0.0.1:${port}`, server: await restart(), restart };
}

const cron = (url: string, secret = CRON_SECRET) =>
  fetch(`${url}/api/cron`, { headers: { authorization: `Bearer ${secret}` } });

/** What Vercel Cron does: a call each minute, whatever became of the one before. `copies`: how often each comes. */
function callEachMinute(url: string, copies = 1): { stop(): void } {
  const call = () => {
    for (let i = 0; i < copies; i++) cron(url).catch(() => undefined);
  };
  call();
  const timer = setInterval(call, MINUTE_MS);
  const stop = () => clearInterval(timer);
  onEnd(stop);
  return { stop };
}

test('what is deployed, called by the cron twice each minute -> clean end, sleep and resume, crash: each served once', async () => {
  const { world, databaseUrl, url, server } = await deploy();
  expect((await cron(url, 'a-wrong-secret-of-some-length')).status).toBe(401);
  expect(world.devin.calls.count('list')).toBe(0);

  callEachMinute(url, 2);
  const ids = ['clean', 'sleeper', 'crashes'].map((name) => `devin-${name}`);
  world.devin.startSession({ id: 'devin-clean', script: [{ run: WRITE }, { end: true }] });
  world.devin.startSession({ id: 'devin-sleeper', script: sleeper });
  world.devin.startSession({
    id: 'devin-crashes',
    script: [{ run: WRITE }, { crash: 3 }, { run: FIND }, { end: true }],
  });
  await world.devin.until(
    'devin-sleeper',
    ({ status, phase }) => status === 'suspended' && phase !== 'claimed',
    WAIT_MS,
  );
  const claims = () => world.devin.session('devin-sleeper').claims.filter(({ renewal }) => !renewal);
  const before = claims().length;
  const looks = () => world.devin.calls.count('list');
  const looksBefore = looks();
  world.devin.resume('devin-sleeper');
  await until('the resume is claimed', () => claims().length > before, { timeoutMs: WAIT_MS });
  // By the next look, not by the next cron, which is twenty looks away; the claim itself may take one more.
  expect(looks() - looksBefore).toBeLessThanOrEqual(3);
  await Promise.all(ids.map((id) => untilOver(world, id)));
  await expectServedToTheEnd(world, databaseUrl, ids);
  expect(world.devin.session('devin-crashes').remotes.ever).toBe(2);

  const health = await fetch(`${url}/api/health`);
  expect([health.status, ((await health.json()) as { status: string }).status]).toEqual([200, 'ok']);
  server.signal('SIGTERM');
  expect(await server.ended()).toBe(0);
}, 300_000);

test('kill -9 while sessions are provisioned and served -> the next start finishes them, each served once', async () => {
  const { world, databaseUrl, url, server, restart } = await deploy();
  callEachMinute(url);
  const ids = ['opening', 'launching', 'serving'].map((name) => `devin-${name}`);
  world.devin.startSession({
    id: 'devin-serving',
    script: [{ run: WRITE }, { waitMs: SPEED * 20_000 }, ...sleeper.slice(1)],
  });
  await world.devin.until('devin-serving', worksAt(1), WAIT_MS);
  const late = { delayMs: SPEED * 4_000 };
  const asked = (operation: 'create' | 'runCommand', id: string) =>
    until(
      `a ${operation} for ${id}`,
      () => world.vercel.calls.count({ operation, sandbox: diskOf(id) }) > 0,
      { timeoutMs: WAIT_MS },
    );
  world.vercel.faults.add({ operation: 'create', sandbox: diskOf('devin-opening'), kind: late });
  world.vercel.faults.add({ operation: 'runCommand', sandbox: diskOf('devin-launching'), kind: late });
  for (const name of ['opening', 'launching'])
    world.devin.startSession({ id: `devin-${name}`, script: sleeper });
  await Promise.all([asked('create', 'devin-opening'), asked('runCommand', 'devin-launching')]);
  server.signal('SIGKILL');
  await server.ended();

  await restart();
  await Promise.all(ids.map((id) => seeThrough(world, id)));
  await expectServedToTheEnd(world, databaseUrl, ids);
}, 300_000);
