/** What all end-to-end tests share: directories and processes that go away with the test, and waiting. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@libsql/client';
import { afterEach, expect } from 'vitest';
import type { SessionView } from '../../src/emulator/devin/index.js';
import type { World } from '../../src/emulator/world/index.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Runs when the test is over, last come first served. */
export const onEnd = (cleanup: () => unknown): void => {
  cleanups.push(cleanup);
};

export async function temporaryDirectory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'outposts-e2e-'));
  onEnd(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** How long anything may take by the wall clock before a test says that it never came. */
const PATIENCE_MS = 50_000;

/** The first truthy answer of `look`; after the deadline an error that tells what was waited for, and `story`. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  options: { story?: () => unknown; between?: () => unknown; timeoutMs?: number } = {},
): Promise<NonNullable<T>> {
  const giveUpAt = Date.now() + (options.timeoutMs ?? PATIENCE_MS);
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > giveUpAt) {
      const story = await options.story?.();
      throw new Error(`waited in vain: ${what}${story === undefined ? '' : `\n${story}`}`);
    }
    await options.between?.();
    await pause(20);
  }
}

type Until = (what: string, look: () => boolean) => Promise<unknown>;
/** Both clouds; with `until`, time passes while something is waited for. */
export type Clouds = Pick<World, 'devin' | 'vercel'> & { readonly until?: Until };

/** Whether the session's remote is connected and its script is through with `steps` steps. */
export const worksAt =
  (steps: number) =>
  ({ remotes, step }: SessionView): boolean =>
    remotes.now === 1 && step >= steps;

/**
 * What must hold of sessions that were served, whatever happened meanwhile. `tooLate`: claims of one session that may
 * have met its end on the way, because its remote ran on while we were told that it had failed.
 */
export function expectServedWell(
  { devin, vercel }: Clouds,
  ids: readonly string[],
  { tooLate = 0 }: { tooLate?: number } = {},
): void {
  for (const id of ids) {
    const view = devin.session(id);
    expect(view.remotes.maxAtOnce, `${id}: remotes at once`).toBeLessThanOrEqual(1);
    const ofEnded = view.claims.filter((claim) => claim.ofEnded && !claim.renewal);
    expect(ofEnded.length, `${id}: claims after its end`).toBeLessThanOrEqual(tooLate);
    expect(
      view.outputs.filter((output) => output.code !== 0),
      `${id}: failed commands`,
    ).toEqual([]);
  }
  for (const sandbox of [...vercel.sandboxes(), ...vercel.removed()]) {
    expect(sandbox.overlapped, `${sandbox.name}: two vms at once`).toBe(false);
  }
}

/** Nothing of ours is left in either cloud: no claim, no vm, no process. */
export async function expectNothingLeft(clouds: Clouds, ids: readonly string[]): Promise<void> {
  const nothing = () => leftovers(clouds, ids).length === 0;
  const wait: Until = clouds.until ?? ((what, look) => until(what, look, { timeoutMs: 20_000 }));
  await wait('no claim and no vm left', nothing).catch(() => undefined);
  expect(leftovers(clouds, ids)).toEqual([]);
}

export function leftovers({ devin, vercel }: Clouds, ids: readonly string[]): string[] {
  const claims = ids.flatMap((id) => {
    const { acceptor } = devin.session(id);
    return acceptor === null ? [] : [`${id} is claimed by ${acceptor}`];
  });
  const vms = vercel
    .sandboxes()
    .flatMap((sandbox) =>
      sandbox.vms
        .filter((vm) => !['stopped', 'failed', 'aborted'].includes(vm.status) || vm.processes.length > 0)
        .map((vm) => `${vm.id} of ${sandbox.name} is ${vm.status} with ${vm.processes.length} processes`),
    );
  return [...claims, ...vms];
}

/** Runs one statement in a database file, as a person with a tool would. */
export async function sql(url: string, statement: string, values: (string | number)[] = []) {
  const client = createClient({ url });
  try {
    return (await client.execute(statement, values)).rows;
  } finally {
    client.close();
  }
}
