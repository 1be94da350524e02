/** What page and terminal show of the fleet, made from the rows. Changes nothing. */
import type { SessionContext } from '../machines/session/context.js';
import { sessionContextSchema } from '../machines/session/context.js';
import { isClaimable } from '../machines/session/facts.js';
import type { FleetView, SessionView } from './dashboard/view.js';
import type { ActorRow, Store } from './ports/store.js';
import type { ActorKind } from './runtime/actor.js';
import { pendingEffect, timers } from './runtime/level.js';
import { restore } from './runtime/saved.js';

/** Sessions that one view carries. */
const SHOWN = 200;
/** Sessions at rest are many and stay for weeks: the others are shown before them. */
export const RESTING = ['released.resting', 'lost', 'ended'];

export interface ViewSource {
  readonly store: Store;
  readonly kind: ActorKind;
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

export function sessionView(row: ActorRow, kind: ActorKind): SessionView {
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
    waitsFor: row.quarantine === null ? waitsFor(row, context, kind) : 'an operator: it is set aside',
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

/** The words for what a state waits for; states that act at once are not listed. */
const WAITS: Readonly<Record<string, string>> = {
  queued: 'a free slot',
  'provisioning.settling': 'the sandbox to settle',
  'provisioning.confirming': 'the remote to start',
  'serving.connecting': 'Devin to report the remote connected',
  'serving.doubting': 'the next read of a suspended status',
  'serving.coolingDown': 'a restart of the remote',
  'snapshotting.waiting': 'the vm to be seen stopped',
  'released.awaitingEnd': "Devin's final status",
  'released.coolingOff': 'the next try after a failed episode',
  'released.resting': 'the session to be resumed',
  lost: 'the other acceptor to let go',
  parked: 'an operator to retry',
};

const TIMER_WORDS: Readonly<Record<string, string>> = {
  probeDue: 'the next probe',
  renewDue: 'the renewal of the claim',
  extendDue: "the extension of the vm's time",
  rollOverDue: 'the roll-over to a new vm',
  secureDue: 'the network policy to be put right',
};

function waitsFor(row: ActorRow, context: SessionContext | null, kind: ActorKind): string | null {
  if (row.state === 'queued' && context !== null && !isClaimable(context)) return 'the queue';
  const words = WAITS[row.state];
  if (words !== undefined || context === null) return words ?? null;
  const restored = restore(kind, row);
  if (restored.kind !== 'restored') return null;
  if (pendingEffect(kind, restored.snapshot) !== null) return null;
  const [next] = timers(kind, restored.snapshot);
  const delay = next?.event.type.split('.')[2];
  return delay === undefined ? null : (TIMER_WORDS[delay] ?? null);
}
