/**
 * How fast the store saves and takes, with a hundred actors at once.
 */
import type { SavedActor, Store } from '../src/ports/store.js';
import { openStore } from '../src/store/open.js';
import { type Rate, rateOf } from './stats.js';

const ACTORS = 100;
const MEASURED_MS = 2_000;
const OWNER = 'bench';

export interface StoreSpeed {
  /** Transitions: compare-and-set of a 1.5 kB snapshot with its journal entry. */
  readonly saves: Rate;
  /** Leases taken, with the row and its news. */
  readonly takes: Rate;
}

/** Measures the store that `url` names, for about four seconds; leaves its rows in it. */
export async function benchStore(url: string): Promise<StoreSpeed> {
  const store = await openStore(url);
  try {
    const ids = Array.from({ length: ACTORS }, (_, index) => `bench-${process.pid}-${Date.now()}-${index}`);
    await Promise.all(ids.map((id) => store.enroll(id, actor, null, 0)));
    await Promise.all(ids.map((id) => store.take(id, OWNER, 600_000)));
    const saves = await perSecond(ids, (id, turn) => save(store, id, turn));
    const takes = await perSecond(ids, async (id) => {
      await store.take(id, OWNER, 600_000);
    });
    return { saves, takes };
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
function perSecond(ids: readonly string[], act: (id: string, turn: number) => Promise<void>): Promise<Rate> {
  return rateOf(async () => {
    const endAt = performance.now() + MEASURED_MS;
    const turns = await Promise.all(
      ids.map(async (id) => {
        let turn = 0;
        while (performance.now() < endAt) {
          await act(id, turn);
          turn += 1;
        }
        return turn;
      }),
    );
    return turns.reduce((sum, count) => sum + count, 0);
  });
}
