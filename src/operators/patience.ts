/**
 * How often somebody may try to sign in.
 *
 * Two measures: each client address has a few tries, which come back slowly,
 * in the memory of an instance; and wrong secrets in a row, whoever sent them
 * and to whatever instance, make everybody wait, longer with each. The secrets
 * are far too long to be guessed: this bounds what trying costs us.
 */
import type { Store } from '../ports/store.js';
import { createLimiter } from './limiter.js';

export interface Patience {
  /** Milliseconds that this client has to wait; 0: it may try now. */
  waitOf(client: string): Promise<number>;
  /** Whether the secret was right. */
  note(right: boolean): Promise<void>;
}

const EACH = { burst: 5, perSecond: 1 / 20 };
const EACH_WAITS_MS = 20_000;
/** Wrong ones in a row before everybody waits. */
const FREE = 10;
const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;
/** After this long without a wrong one, it begins anew. */
const FORGET_MS = 15 * 60_000;

/** The setting that holds how many were wrong in a row, and when the last was. */
const WRONG = 'sign-in-wrong';

export function createPatience(
  store: () => Promise<Pick<Store, 'setting' | 'writeSetting'>>,
  now: () => number = Date.now,
): Patience {
  const each = createLimiter(EACH, now);
  return {
    async waitOf(client) {
      if (!each.admits(client)) return EACH_WAITS_MS;
      const { count, at } = read(await (await store()).setting(WRONG));
      const pauseMs = count < FREE ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (count - FREE));
      return Math.max(0, at + pauseMs - now());
    },

    async note(right) {
      const kept = await store();
      const { count, at } = read(await kept.setting(WRONG));
      if (right && count === 0) return;
      const before = now() - at > FORGET_MS ? 0 : count;
      await kept.writeSetting(WRONG, JSON.stringify({ count: right ? 0 : before + 1, at: now() }));
    },
  };
}

function read(text: string | null): { count: number; at: number } {
  const { count, at } = JSON.parse(text ?? '{}') as { count?: number; at?: number };
  return { count: Number(count ?? 0), at: Number(at ?? 0) };
}
