/**
 * What one sweep remembers for the next, which another process may do.
 *
 * One setting of the store. A memory that does not parse is an empty one: it
 * only makes the next sweep wait for one more sight of a stray.
 */
import { z } from 'zod';
import type { Store } from '../ports/store.js';

const KEY = 'sweep-memory';
/** Of each kind; what is left out is remembered by a later sweep. */
const MOST = 500;
const LONGEST_ID = 300;

const idsSchema = z.array(z.string().min(1).max(LONGEST_ID)).max(MOST);
const memorySchema = z.strictObject({
  sweeps: z.int().min(0),
  strayVms: idsSchema,
  strayClaims: idsSchema,
  idleSlots: idsSchema,
});

export interface SweepMemory {
  /** Sweeps so far. */
  readonly sweeps: number;
  /** Vms without a record. */
  readonly strayVms: Set<string>;
  /** Acceptor ids of claims that no record holds. */
  readonly strayClaims: Set<string>;
  /** Actors in quarantine that hold a slot, but no vm. */
  readonly idleSlots: Set<string>;
}

export const freshMemory = (sweeps: number): SweepMemory => ({
  sweeps,
  strayVms: new Set(),
  strayClaims: new Set(),
  idleSlots: new Set(),
});

export async function recallSweep(store: Store): Promise<SweepMemory> {
  const parsed = memorySchema.safeParse(jsonOrNull((await store.setting(KEY)) ?? ''));
  if (!parsed.success) return freshMemory(0);
  const { sweeps, strayVms, strayClaims, idleSlots } = parsed.data;
  return {
    sweeps,
    strayVms: new Set(strayVms),
    strayClaims: new Set(strayClaims),
    idleSlots: new Set(idleSlots),
  };
}

export async function rememberSweep(store: Store, memory: SweepMemory): Promise<void> {
  const kept = {
    sweeps: memory.sweeps,
    strayVms: bounded(memory.strayVms),
    strayClaims: bounded(memory.strayClaims),
    idleSlots: bounded(memory.idleSlots),
  } satisfies z.infer<typeof memorySchema>;
  await store.writeSetting(KEY, JSON.stringify(kept));
}

const bounded = (ids: ReadonlySet<string>): string[] =>
  [...ids].filter((id) => id.length <= LONGEST_ID).slice(0, MOST);

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
