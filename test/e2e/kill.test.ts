import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Step } from '../../src/emulator/devin/index.js';
import type { World } from '../../src/emulator/world/index.js';
import { isIn, startChild, startOpenWorld } from './child.js';
import { diskOf, FIND, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, temporaryDirectory, until, worksAt } from './support.js';

/**
 * The lease of a killed process lasts 30 s by the wall. At five times the wall's
 * speed a claim of 300 s outlives that, as it does for real.
 */
const SPEED = 5;
const WAIT_MS = 90_000;

const sleeper: Step[] = [{ run: WRITE }, { suspend: true, flickerReads: 2 }, { run: FIND }, { end: true }];

/** Wakes the session once it sleeps, and waits for its end. */
async function seeThrough(world: World, id: string) {
  await world.devin.until(id, ({ status, phase }) => status === 'suspended' && phase !== 'claimed', WAIT_MS);
  world.devin.resume(id);
  await world.devin.until(id, ({ status, phase }) => status === 'terminated' && phase !== 'claimed', WAIT_MS);
}

/** Resolves when a call of the operation for the session's sandbox came in. */
const asked = (world: World, operation: 'create' | 'runCommand' | 'stop', id: string) =>
  until(`a ${operation} for ${id}`, () => world.vercel.calls.count({ operation, sandbox: diskOf(id) }) > 0, {
    timeoutMs: WAIT_MS,
  });

test('kill -9 while sessions are claimed, provisioned, served, snapshotted and released -> a restart finishes all six', async () => {
  const world = await startOpenWorld({ speed: SPEED });
  const databaseUrl = `file:${join(await temporaryDirectory(), 'outposts.db')}`;
  const ids = ['claiming', 'opening', 'launching', 'serving', 'stopping', 'releasing'].map(
    (at) => `devin-${at}`,
  );
  const start = (id: string, script: Step[]) => world.devin.startSession({ id, script });
  const env = { MAX_CONCURRENT: '10' };
  const first = await startChild(world, databaseUrl, { env });
  await first.up();

  // Each call is handled only after the process that made it is dead.
  const late = { delayMs: SPEED * 4_000 };
  world.vercel.faults.add({ operation: 'stop', sandbox: diskOf('devin-stopping'), kind: late });
  world.devin.faults.add({ on: 'release', session: 'devin-releasing', kind: late });
  start('devin-serving', [{ run: WRITE }, { waitMs: SPEED * 20_000 }, ...sleeper.slice(1)]);
  start('devin-stopping', sleeper);
  start('devin-releasing', sleeper);
  await world.devin.until('devin-serving', worksAt(1), WAIT_MS);
  await asked(world, 'stop', 'devin-releasing');

  world.devin.faults.add({ on: 'claim', session: 'devin-claiming', kind: late });
  world.vercel.faults.add({ operation: 'create', sandbox: diskOf('devin-opening'), kind: late });
  world.vercel.faults.add({ operation: 'runCommand', sandbox: diskOf('devin-launching'), kind: late });
  for (const at of ['claiming', 'opening', 'launching']) start(`devin-${at}`, sleeper);
  await asked(world, 'create', 'devin-opening');
  await asked(world, 'runCommand', 'devin-launching');
  await until('a claim', () => world.devin.calls.count('claim', 'devin-claiming') > 0);
  await asked(world, 'stop', 'devin-stopping');
  await until('a release', () => world.devin.calls.count('release', 'devin-releasing') > 0);
  first.signal('SIGKILL');
  expect(await first.ended()).toBe('SIGKILL');

  const second = await startChild(world, databaseUrl, { env });
  await Promise.all(ids.map((id) => seeThrough(world, id)));
  for (const id of ids) await second.line(`${id} over`, isIn(id, 'ended'), WAIT_MS);
  expectServedWell(world, ids);
  await expectNothingLeft(world, ids);
  expect(world.vercel.sandboxes()).toEqual([]);
  second.signal('SIGINT');
  expect(await second.ended()).toBe(0);
}, 200_000);
