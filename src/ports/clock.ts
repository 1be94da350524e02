/**
 * Time as the orchestrator sees it.
 *
 * Everything that waits or compares instants goes through a clock, so that the
 * embedded world can run faster than the wall and a simulation can own time.
 * The one exception is the lease of a row, which the database measures.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` of this clock's time; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The wall clock, or one that started at `origin` and runs `speed` times as fast. */
export function createClock(
  options: { speed?: number; origin?: { wall: number; clock: number } } = {},
): Clock {
  const speed = options.speed ?? 1;
  const origin = options.origin ?? { wall: 0, clock: 0 };
  return {
    now: () => Math.round(origin.clock + (Date.now() - origin.wall) * speed),
    sleep: (ms, signal) => wait(ms / speed, signal),
  };
}

/**
 * A signal that aborts with `outer`, and after `ms` of the wall at the latest; `clear` lets both go.
 *
 * Not `AbortSignal.any` of the two: Node 20 collects a timeout that nothing but that listens to, and it never fires.
 */
export function withDeadline(ms: number, outer: AbortSignal): { signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  const sources = [outer, AbortSignal.timeout(ms)];
  const listening = new AbortController();
  for (const source of sources) {
    const follow = () => limit.abort(source.reason);
    source.addEventListener('abort', follow, { once: true, signal: listening.signal });
    if (source.aborted) follow();
  }
  return { signal: limit.signal, clear: () => listening.abort() };
}

/** The longest delay that a Node timer takes; longer sleeps are chained. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const endAt = Date.now() + ms;
    let timer: NodeJS.Timeout;
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const arm = () => {
      const left = endAt - Date.now();
      timer = setTimeout(
        left > LONGEST_TIMER_MS ? arm : finish,
        Math.min(Math.max(0, left), LONGEST_TIMER_MS),
      );
    };
    const finish = () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    signal?.addEventListener('abort', abort, { once: true });
    arm();
  });
}
