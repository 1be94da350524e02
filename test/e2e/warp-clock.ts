/**
 * A clock for tests that run real processes: slow enough for them while
 * something happens, and made to jump while nothing does.
 *
 * Waiting for ten quiet minutes then takes no time, and a loaded machine does
 * not miss a deadline.
 */
import { type Clock, createClock } from '../../src/ports/clock.js';

export interface WarpClock extends Clock {
  /** Moves the clock ahead by `ms`; whoever's sleep ends meanwhile wakes now. */
  skip(ms: number): void;
}

export function createWarpClock(speed: number): WarpClock {
  const started = Date.now();
  const base = createClock({ speed, origin: { wall: started, clock: started } });
  const rearm = new Set<() => void>();
  let skipped = 0;
  const now = () => base.now() + skipped;
  return {
    now,
    skip(ms) {
      skipped += ms;
      for (const again of [...rearm]) again();
    },
    async sleep(ms, signal) {
      const endAt = now() + ms;
      while (now() < endAt || ms <= 0) {
        signal?.throwIfAborted();
        const jumped = new AbortController();
        const again = () => jumped.abort();
        rearm.add(again);
        const either = signal === undefined ? jumped.signal : AbortSignal.any([signal, jumped.signal]);
        await base.sleep(Math.max(0, endAt - now()), either).catch(() => undefined);
        rearm.delete(again);
        if (ms <= 0) break;
      }
      signal?.throwIfAborted();
    },
  };
}
