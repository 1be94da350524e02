/**
 * Between a row and a snapshot.
 *
 * XState checks almost nothing on restore, so everything is checked here. A
 * row that does not pass is reported with its reason and never overwritten.
 */
import { type AnyMachineSnapshot, initialTransition, type StateValue } from 'xstate';
import { z } from 'zod';
import { BugError, messageOf } from '../errors.js';
import type { ActorRow, SavedActor } from '../ports/store.js';
import type { ActorKind, ReadableKind, SavedSnapshot } from './actor.js';

/** Machines here have no parallel states: every level names one state. */
const stateValue: z.ZodType<StateValue> = z.lazy(() =>
  z.union([
    z.string(),
    z.record(z.string(), stateValue).refine((value) => Object.keys(value).length === 1, 'one state expected'),
  ]),
);
const envelope: z.ZodType<SavedSnapshot> = z.strictObject({
  status: z.enum(['active', 'done']),
  value: stateValue,
  context: z.unknown(),
});

export type Restored =
  | { readonly kind: 'restored'; readonly snapshot: AnyMachineSnapshot }
  /** Written by a newer version: not ours to judge or to touch. */
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'unreadable'; readonly reason: string };

export function restore(kind: ReadableKind, row: ActorRow): Restored {
  if (row.machine !== kind.name) return unreadable(`it belongs to the machine '${row.machine}'`);
  if (row.version > kind.version) return { kind: 'newer', version: row.version };
  try {
    const saved = migrate(kind, row.version, envelope.parse(JSON.parse(row.snapshot)));
    const context = kind.contextSchema.parse(saved.context);
    const snapshot = kind.machine.resolveState({ value: saved.value, context });
    // XState completes what it does not understand with initial states; that would start a session anew.
    if (JSON.stringify(snapshot.value) !== JSON.stringify(saved.value) || snapshot.status !== saved.status) {
      return unreadable(`there is no state ${JSON.stringify(saved.value)} that is ${saved.status}`);
    }
    return { kind: 'restored', snapshot };
  } catch (error) {
    return unreadable(error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error));
  }
}

const unreadable = (reason: string): Restored => ({
  kind: 'unreadable',
  reason: `the saved state does not parse: ${reason}`.slice(0, 500),
});

function migrate(kind: ReadableKind, from: number, saved: SavedSnapshot): SavedSnapshot {
  let migrated = saved;
  for (let version = from; version < kind.version; version++) {
    const step = kind.migrations[version];
    if (step === undefined) throw new BugError(`no migration of '${kind.name}' from version ${version}`);
    migrated = step(migrated);
  }
  return migrated;
}

/** The columns that a save writes. */
export function toSaved(kind: ActorKind, snapshot: AnyMachineSnapshot): SavedActor {
  const { status, value, context } = snapshot;
  return {
    machine: kind.name,
    version: kind.version,
    snapshot: JSON.stringify({ status, value, context }),
    state: stateOf(snapshot),
    episode: kind.episode(context),
    holdsSlot: kind.holdsSlot(snapshot),
  };
}

/** The first state of an actor that starts with `input`. */
export function begin(kind: ActorKind, input: unknown): AnyMachineSnapshot {
  const [snapshot] = initialTransition(kind.machine, input);
  if (snapshot.status === 'error')
    throw new BugError(`'${kind.name}' does not start: ${messageOf(snapshot.error)}`);
  return snapshot;
}

/** The active state as a dotted path, `serving.monitoring`. */
export const stateOf = ({ value }: AnyMachineSnapshot): string => pathOf(value).join('.');

const pathOf = (value: StateValue | undefined): string[] =>
  typeof value === 'object'
    ? Object.entries(value).flatMap(([state, inner]) => [state, ...pathOf(inner)])
    : [String(value)];
