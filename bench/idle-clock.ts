/**
 * A clock that runs with the wall and jumps to the next waker while nothing is
 * under way.
 *
 * An hour in which nothing happens then takes seconds, and every call in it
 * takes as long as it really took: nothing is stretched, as it would be by a
 * clock that simply runs faster. What the wall measures (timeouts of sockets,
 * leases) sees almost no time pass.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../src/ports/clock.js';

export interface IdleClock extends Clock {
  /** Lets `ms` of the clock's time pass, jumping whenever all is quiet. */
  pass(ms: number): Promise<void>;
}

/** Turns of the event loop without a request after which nothing is under way. */
const QUIET_TURNS = 100;

export function createIdleClock(): IdleClock {
  const sleepers = new Set<{ readonly endAt: number; wake(): void }>();
  let jumped = 0;
  const now = () => Date.now() + jumped;

  const jumpTo = (instant: number) => {
    jumped += Math.max(0, instant - now());
    for (const sleeper of [...sleepers]) if (sleeper.endAt <= now()) sleeper.wake();
  };
  return {
    now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const end = (finish: () => void) => {
          clearTimeout(timer);
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
          finish();
        };
        const abort = () => end(() => reject(signal?.reason));
        const sleeper = { endAt: now() + ms, wake: () => end(resolve) };
        // Longer sleeps than this are only ever woken by a jump.
        const timer = setTimeout(sleeper.wake, Math.min(Math.max(0, ms), 2 ** 31 - 1));
        sleepers.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
      }),
    async pass(ms) {
      const endAt = now() + ms;
      const requests = followRequests();
      try {
        while (now() < endAt) {
          await requests.quiet();
          const next = Math.min(...[...sleepers].map((sleeper) => sleeper.endAt), endAt);
          jumpTo(next);
        }
      } finally {
        requests.stop();
      }
    },
  };
}

/** Requests of this process that have begun and not ended, apart from those that are meant to stay open. */
function followRequests() {
  const open = new Set<unknown>();
  const began = (message: unknown) => {
    const { request } = message as { request: { path: string } };
    if (!/[?&](watch|wait)=true/.test(request.path)) open.add(request);
  };
  const ended = (message: unknown) => {
    open.delete((message as { request: unknown }).request);
  };
  subscribe('undici:request:create', began);
  subscribe('undici:request:trailers', ended);
  subscribe('undici:request:error', ended);
  return {
    async quiet() {
      for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
        await nextTurn();
        if (open.size > 0) turns = 0;
      }
    },
    stop() {
      unsubscribe('undici:request:create', began);
      unsubscribe('undici:request:trailers', ended);
      unsubscribe('undici:request:error', ended);
    },
  };
}
