/**
 * How many transitions per second are driven: lease, load, save, effect, save.
 *
 * A machine whose one effect answers at once goes round and round; everything
 * else is the real interpreter over the real store.
 */
import { fromPromise, setup } from 'xstate';
import { z } from 'zod';
import type { ActorKind } from '../src/runtime/actor.js';
import { drive } from '../src/runtime/drive.js';
import { begin, toSaved } from '../src/runtime/saved.js';
import { openStore } from '../src/store/open.js';
import { type Rate, rateOf } from './stats.js';

const ACTORS = 50;
const MEASURED_MS = 2_000;

const turn = fromPromise<object>(() => Promise.reject(new Error('not run live')));
const machine = setup({ actors: { turn } }).createMachine({
  id: 'wheel',
  initial: 'turning',
  states: {
    turning: { invoke: { id: 'turn', src: 'turn', onDone: 'turned', onError: 'turned' } },
    turned: { invoke: { id: 'turn', src: 'turn', onDone: 'turning', onError: 'turning' } },
  },
});

const kind: ActorKind = {
  name: 'wheel',
  version: 1,
  machine,
  contextSchema: z.unknown(),
  eventSchema: z.object({ type: z.string() }),
  migrations: {},
  deadlines: {},
  effects: { turn: async () => ({}) },
  patience: () => 1,
  factsEvent: () => null,
  holdsSlot: () => false,
  episode: () => 1,
};

/** Transitions saved per second in the database that `url` names, with fifty actors driven at once. */
export async function benchTransitions(url: string): Promise<Rate> {
  const store = await openStore(url);
  try {
    const ids = Array.from({ length: ACTORS }, (_, index) => `wheel-${process.pid}-${Date.now()}-${index}`);
    const saved = toSaved(kind, begin(kind, undefined));
    await Promise.all(ids.map((id) => store.enroll(id, saved, null, 0)));
    let transitions = 0;
    const deps = {
      store,
      kind,
      clock: { now: () => Date.now(), sleep: () => Promise.resolve() },
      owner: 'bench',
      random: Math.random,
      onTransition: () => {
        transitions += 1;
      },
    };
    return await rateOf(async () => {
      await Promise.all(ids.map((id) => drive(deps, id, { budgetMs: MEASURED_MS })));
      return transitions;
    });
  } finally {
    await store.close();
  }
}
