/**
 * Which of several passes looks at the queue: one at a time, by a lease.
 *
 * It only saves calls. Two that both lead for a moment do no harm, because
 * everything that a pass does is fenced by the rows themselves.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from '../ports/store.js';

/** A pass that is silent for this long, by the wall, is taken to be dead. */
const LEAD_MS = 12_000;
const KEEP_EVERY_MS = 4_000;
const TRY_EVERY_MS = 500;
const NAME = 'pass';

/**
 * Waits for a leader to end or to fall silent; false when it outlasts what a silent one could, or when `over`
 * aborts. Rejects with TransientError while the store is away.
 */
export async function becomeLeader(store: Store, owner: string, over: AbortSignal): Promise<boolean> {
  for (const giveUpAt = performance.now() + LEAD_MS + KEEP_EVERY_MS; !over.aborted; ) {
    if (await store.lead(NAME, owner, LEAD_MS)) return true;
    if (performance.now() > giveUpAt) return false;
    await pause(TRY_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
  }
  return false;
}

/** Keeps leading until the returned function is called, which gives the lead back at once. */
export function keepLeading(store: Store, owner: string, onLost: () => void): () => Promise<void> {
  let asked: Promise<void> = Promise.resolve();
  const keeping = setInterval(() => {
    asked = store.lead(NAME, owner, LEAD_MS).then(
      (leads) => {
        if (!leads) onLost();
      },
      // The next turn may succeed, and a second leader does no harm.
      () => undefined,
    );
  }, KEEP_EVERY_MS);
  return async () => {
    clearInterval(keeping);
    // An answer that is still out would take the lead again.
    await asked;
    await store.unlead(NAME, owner).catch(() => undefined);
  };
}
