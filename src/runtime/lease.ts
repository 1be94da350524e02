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

export function holdLease(
  store: Store,
  id: string,
  owner: string,
  outer?: AbortSignal,
): { signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let confirmedAt = performance.now();
  const timer = setInterval(() => {
    const askedAt = performance.now();
    store.keep(id, owner, LEASE_MS).then(
      (kept) => {
        if (kept) confirmedAt = askedAt;
        else lost.abort(new StaleDriverError(`drive ${id}: the lease is lost`));
      },
      () => {
        if (performance.now() - confirmedAt > LEASE_MS - KEEP_EVERY_MS) {
          lost.abort(new StaleDriverError(`drive ${id}: the lease could not be confirmed`));
        }
      },
    );
  }, KEEP_EVERY_MS);
  timer.unref();
  return {
    signal: outer === undefined ? lost.signal : AbortSignal.any([outer, lost.signal]),
    stop: () => clearInterval(timer),
  };
}
