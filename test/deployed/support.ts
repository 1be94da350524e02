/** What the tests of deployments share: the clouds, a deployment on them, and what must hold afterwards. */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect } from 'vitest';
import type { Step } from '../../src/emulator/devin/index.js';
import type { World } from '../../src/emulator/world/index.js';
import { openStore } from '../../src/store/open.js';
import { FIND, WRITE } from '../e2e/stage.js';
import { expectNothingLeft, expectServedWell, until } from '../e2e/support.js';

/** The lease of a killed process lasts 30 s by the wall; a claim of 300 s has to outlive that. */
export const SPEED = 5;
export const WAIT_MS = 120_000;
export const CRON_SECRET = 'only-for-tests-0123456789';

export const sleeper: Step[] = [
  { run: WRITE },
  { suspend: true, flickerReads: 2 },
  { run: FIND },
  { end: true },
];

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Wakes the session once it sleeps, and waits for its end. */
export async function seeThrough(world: World, id: string): Promise<void> {
  await world.devin.until(id, ({ status, phase }) => status === 'suspended' && phase !== 'claimed', WAIT_MS);
  world.devin.resume(id);
  await untilOver(world, id);
}

export async function untilOver(world: World, id: string): Promise<void> {
  await world.devin.until(id, ({ status, phase }) => status === 'terminated' && phase !== 'claimed', WAIT_MS);
}

/** Served once at a time, ended, and nothing left in either cloud or in the database. */
export async function expectServedToTheEnd(
  world: World,
  databaseUrl: string,
  ids: readonly string[],
): Promise<void> {
  expectServedWell(world, ids);
  await expectNothingLeft(world, ids);
  const store = await openStore(databaseUrl);
  try {
    for (const id of ids)
      await until(`${id} ended`, async () => (await store.read(id))?.state === 'ended', {
        timeoutMs: WAIT_MS,
      });
    expect(await store.counts('session')).toMatchObject({ slots: 0, quarantined: 0 });
  } finally {
    await store.close();
  }
  expect(world.vercel.sandboxes()).toEqual([]);
}
