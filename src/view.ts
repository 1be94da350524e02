/** What page and terminal show of the fleet, made from the rows. Changes nothing. */
import type { SessionContext } from '../machines/session/context.js';
import { sessionContextSchema } from '../machines/session/context.js';
import type { FleetView, SessionView } from './dashboard/view.js';
import type { ActorRow, Store } from './ports/store.js';
import type { ReadableKind } from './runtime/actor.js';
import { timers } from './runtime/level.js';
import { restore } from './runtime/saved.js';
import { type Situation, waiting } from './waiting.js';

/** Sessions that one view carries. */
const SHOWN = 200;
/** Sessions at rest are many and stay for weeks: the others are shown before them. */
export const RESTING = ['released.resting', 'lost', 'ended'];

export interface ViewSource {
  readonly store: Pick<Store, 'foremost' | 'counts'>;
  readonly kind: ReadableKind;
  readonly maxConcurrent: number;
  readonly speed: number;
  now(): number;
  problems(): readonly string[];
}

export async function fleetView(source: ViewSource): Promise<FleetView> {
  const { name } = source.kind;
  // One read for the rows: a session that moves meanwhile must be neither lost nor shown twice.
  const [rows, counts] = await Promise.all([
    source.store.foremost(name, RESTING, SHOWN),
    source.store.counts(name),
  ]);
  const setAside =
    counts.quarantined === 0 ? [] : [`${counts.quarantined} set aside: see the sessions below`];
  return {
    at: source.now(),
    speed: source.speed,
    slots: { used: counts.slots, max: source.maxConcurrent },
    states: counts.states,
    sessions: rows.map((row) => sessionView(row, source.kind)).sort((a, b) => b.stateSince - a.stateSince),
    problems: [...source.problems(), ...setAside],
    queueDepth: counts.states.queued ?? 0,
  };
}

export function sessionView(row: ActorRow, kind: ReadableKind): SessionView {
  const context = readContext(row);
  return {
    id: row.id,
    state: row.state,
    stateSince: row.updatedAt,
    episode: row.episode,
    sandboxName: context?.hasDisk ? context.sandboxName : null,
    vmId: context?.vm?.vmId ?? null,
    vmExpiresAt: context?.vm?.expiresAt ?? null,
    claimDeadlineAt: context?.claimDeadlineAt ?? null,
    waitsFor: row.quarantine === null ? waitsFor(row, kind) : 'an operator: it is set aside',
    outcome: outcomeText(context),
    problem: row.problem,
    quarantine: row.quarantine,
    holdsSlot: row.holdsSlot,
  };
}

function readContext(row: ActorRow): SessionContext | null {
  try {
    const saved = JSON.parse(row.snapshot) as { context?: unknown };
    return sessionContextSchema.safeParse(saved.context).data ?? null;
  } catch {
    return null;
  }
}

const outcomeText = (context: SessionContext | null): string | null => {
  if (context === null || (context.outcome === null && context.detail === null)) return null;
  return [context.outcome, context.detail].filter((part) => part !== null).join(': ');
};

/** Null when the row cannot be read: it is set aside then, or of another version. */
export function situationOf(row: ActorRow, kind: ReadableKind, now: number): Situation | null {
  const restored = restore(kind, row);
  if (restored.kind !== 'restored') return null;
  const deadlines = timers(kind, restored.snapshot).map(({ at, event }) => ({
    at,
    // `xstate.after.<deadline>.<state>`
    name: event.type.split('.')[2] ?? '',
  }));
  const { state, retryAt } = row;
  return { state, context: restored.snapshot.context as SessionContext, deadlines, retryAt, now };
}

function waitsFor(row: ActorRow, kind: ReadableKind): string | null {
  const situation = situationOf(row, kind, 0);
  return situation === null ? null : waiting(situation, String).waitsFor;
}
