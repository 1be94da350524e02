/**
 * How often somebody may try to sign in.
 *
 * Each client has a few tries, which come back slowly, in the memory of an
 * instance; and wrong secrets in a row make it wait, longer with each, on all
 * instances. Both are by client: nobody can keep others out, and where clients
 * cannot be told apart there is neither. The secrets are far too long to be
 * guessed: this bounds what trying costs us.
 */
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { Store } from '../ports/store.js';
import type { KeyRing } from '../vault/keys.js';
import { createLimiter } from './limiter.js';

export interface Patience {
  /** Milliseconds that this client has to wait; 0: it may try now. */
  waitOf(client: string): Promise<number>;
  /** Whether the secret was right. */
  note(client: string, right: boolean): Promise<void>;
}

export interface PatienceOptions {
  readonly store: () => Promise<Pick<Store, 'setting' | 'writeSetting'>>;
  readonly keys: KeyRing;
  /** Milliseconds of the wall. */
  readonly now?: () => number;
}

const EACH = { burst: 5, perSecond: 1 / 20 };
const EACH_WAITS_MS = 20_000;
/** Wrong ones in a row before the client waits. */
const FREE = 5;
const FIRST_MS = 30_000;
const LONGEST_MS = 15 * 60_000;
/** After this long without a wrong one, it begins anew. */
const FORGET_MS = 60 * 60_000;
/** Clients that are remembered; the longest quiet one is forgotten first. */
const MOST_CLIENTS = 200;

/** The setting that holds who was wrong how often in a row, and when last; latest last. */
const WRONG = 'sign-in-wrong';
const wrongSchema = z.array(z.object({ client: z.string(), count: z.number(), at: z.number() })).catch([]);
type Wrong = z.infer<typeof wrongSchema>[number];

export function createPatience({ store, keys, now = Date.now }: PatienceOptions): Patience {
  const each = createLimiter(EACH, now);
  const key = keys.keysFor('client').current.bytes;
  // Addresses are people's: none is kept.
  const nameOf = (client: string) =>
    createHmac('sha256', key).update(client).digest('base64url').slice(0, 22);
  return {
    async waitOf(client) {
      if (!each.admits(client)) return EACH_WAITS_MS;
      const found = read(await (await store()).setting(WRONG)).find(isOf(nameOf(client)));
      return found === undefined ? 0 : Math.max(0, found.at + pauseOf(found.count) - now());
    },

    async note(client, right) {
      const kept = await store();
      const name = nameOf(client);
      const before = read(await kept.setting(WRONG)).filter(({ at }) => now() - at <= FORGET_MS);
      const known = before.find(isOf(name));
      if (right && known === undefined) return;
      const after = before.filter((wrong) => wrong !== known);
      if (!right) after.push({ client: name, count: (known?.count ?? 0) + 1, at: now() });
      await kept.writeSetting(WRONG, JSON.stringify(after.slice(-MOST_CLIENTS)));
    },
  };
}

const pauseOf = (count: number) =>
  count < FREE ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(count - FREE, 20));

const isOf =
  (name: string) =>
  ({ client }: Wrong) =>
    client === name;

const read = (text: string | null): Wrong[] => wrongSchema.parse(text === null ? [] : parsed(text));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
