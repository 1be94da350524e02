/**
 * Keeps an actor's lease while it is being driven.
 *
 * The database measures the lease; this only prolongs it. When it is lost, or
 * when nobody could confirm it in time, the signal aborts whatever is running.
 */
import { StaleDriverError } from '../errors.js';
import type { Store } from '../ports/store.js';

/** How long a driver may be silent before another may take its row. */
export const LEASE_MS = 30_000;
const KEEP_EVERY_MS = 10_000;
/** Without a confirmation for this long, the effect is stopped: time enough before another driver may begin it. */
const TRUST_MS = 25_000;

export function holdLease(
  store: Store,
  id: string,
  owner: string,
  outer?: AbortSignal,
): { signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  const lose = (how: string) => lost.abort(new StaleDriverError(`drive ${id}: the lease ${how}`));
  let doubt: NodeJS.Timeout | undefined;
  const confirmed = (askedAt: number) => {
    clearTimeout(doubt);
    doubt = setTimeout(lose, askedAt + TRUST_MS - performance.now(), 'could not be confirmed').unref();
  };
  confirmed(performance.now());
  const keeping = setInterval(() => {
    const askedAt = performance.now();
    store.keep(id, owner, LEASE_MS).then(
      (kept) => (kept ? confirmed(askedAt) : lose('is lost')),
      // The next turn may succeed; `doubt` ends the waiting, also for an answer that never comes.
      () => undefined,
    );
  }, KEEP_EVERY_MS).unref();
  return {
    signal: outer === undefined ? lost.signal : AbortSignal.any([outer, lost.signal]),
    stop() {
      clearInterval(keeping);
      clearTimeout(doubt);
    },
  };
}
