/**
 * How fast the store saves and takes, with a hundred actors at once.
 *
 * Run on its own it prints SQLite's and PostgreSQL's numbers; both are durable
 * (fsync on), PostgreSQL's server runs beside it on the same machine.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SavedActor, Store } from '../src/ports/store.js';
import { openStore } from '../src/store/open.js';
import { startPostgres } from '../test/support/postgres.js';

const ACTORS = 100;
const MEASURED_MS = 2_000;
const OWNER = 'bench';

export interface StoreSpeed {
  /** Transitions: compare-and-set of a 1.5 kB snapshot with its journal entry. */
  readonly savesPerSecond: number;
  /** Leases taken, with the row and its news. */
  readonly takesPerSecond: number;
}

/** Measures the store that `url` names, for about four seconds; leaves its rows in it. */
export async function benchStore(url: string): Promise<StoreSpeed> {
  const store = await openStore(url);
  try {
    const ids = Array.from({ length: ACTORS }, (_, index) => `bench-${process.pid}-${Date.now()}-${index}`);
    await Promise.all(ids.map((id) => store.enroll(id, actor, null, 0)));
    await Promise.all(ids.map((id) => store.take(id, OWNER, 600_000)));
    const savesPerSecond = await perSecond(ids, (id, turn) => save(store, id, turn));
    const takesPerSecond = await perSecond(ids, async (id) => {
      await store.take(id, OWNER, 600_000);
    });
    return { savesPerSecond, takesPerSecond };
  } finally {
    await store.close();
  }
}

const actor: SavedActor = {
  machine: 'session',
  version: 1,
  snapshot: JSON.stringify({ context: 'x'.repeat(1_500) }),
  state: 'serving.monitoring',
  episode: 1,
  holdsSlot: true,
};

async function save(store: Store, id: string, rev: number): Promise<void> {
  const saved = await store.save(
    { id, owner: OWNER, rev },
    {
      next: actor,
      journal: { at: rev, event: '{"type":"probed"}', from: 'a', to: 'b', context: actor.snapshot },
      newsTaken: [],
      at: rev,
    },
  );
  if (!saved) throw new Error(`${id} was not saved at rev ${rev}`);
}

/** Every actor acts, one act after the other, until the time is over. */
async function perSecond(
  ids: readonly string[],
  act: (id: string, turn: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  const turns = await Promise.all(
    ids.map(async (id) => {
      let turn = 0;
      while (performance.now() - startedAt < MEASURED_MS) {
        await act(id, turn);
        turn += 1;
      }
      return turn;
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  return Math.round(turns.reduce((sum, count) => sum + count, 0) / seconds);
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'outposts-bench-'));
  try {
    console.log('SQLite    ', await benchStore(`file:${join(directory, 'bench.db')}`));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const postgres = await startPostgres({ durable: true });
  try {
    console.log('PostgreSQL', await benchStore(postgres.url));
  } finally {
    await postgres.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
