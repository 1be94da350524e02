/** Pollers over a rig: stopped after each test, which fails on a rejection that nobody handled. */
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import type { DriveDeps } from '../../src/runtime/drive.js';
import { Poller } from '../../src/runtime/poller.js';
import { doorkeeper, willing } from './doorkeeper.js';
import { gate, type Rig, untilAborted } from './rig.js';

export function usePollers(rig: Rig) {
  let pollers: Poller[];
  let unhandled: unknown[];
  const noteUnhandled = (reason: unknown) => unhandled.push(reason);
  beforeEach(() => {
    pollers = [];
    unhandled = [];
    process.on('unhandledRejection', noteUnhandled);
  });
  afterEach(async () => {
    await Promise.all(pollers.map((poller) => poller.stop(0)));
    vi.useRealTimers();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', noteUnhandled);
    expect(unhandled).toEqual([]);
  });
  const over = (deps: DriveDeps) => {
    const made = new Poller(deps);
    pollers.push(made);
    return made;
  };
  const poller = (kind: ActorKind, changes: Partial<DriveDeps> = {}) => over(rig.deps(kind, changes));
  return {
    over,
    poller,
    /** A poller that looks for work by itself. */
    running(kind: ActorKind, changes: Partial<DriveDeps> = {}) {
      const made = poller(kind, changes);
      return { poller: made, run: made.run() };
    },
    /** A store that counts how often it is asked who is due. */
    counting(changes: Partial<Store> = {}) {
      const looks = { due: 0 };
      const store: Store = {
        ...rig.store,
        due(machine, now, limit) {
          looks.due += 1;
          return rig.store.due(machine, now, limit);
        },
        ...changes,
      };
      return { looks, store };
    },
    /** Effects that end when the test says so, or when they are aborted. */
    gated() {
      const go = gate();
      const begun: string[] = [];
      const aborted: string[] = [];
      const kind = doorkeeper({
        ...willing(0),
        async unlock({ door }, { signal }) {
          begun.push(door);
          await Promise.race([go.opened, untilAborted(signal)]).catch((reason) => {
            aborted.push(door);
            throw reason;
          });
          return { kind: 'unlocked', openUntil: rig.clock.now() };
        },
        async lock() {
          begun.push('lock');
          return { locked: true };
        },
      });
      return { kind, go: () => go.open(), begun, aborted };
    },
  };
}
