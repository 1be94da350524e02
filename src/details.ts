/**
 * Everything that is known of one session, made from its row and its journal:
 * plain data for whoever draws it. Changes nothing.
 *
 * Instants are milliseconds of the orchestrator's clock. Texts may come from
 * outside: whoever draws them escapes them.
 */
import { z } from 'zod';
import { acceptorOf, type SessionContext, sessionContextSchema } from '../machines/session/context.js';
import { causeInWords } from './causes.js';
import type { SessionView } from './dashboard/view.js';
import type { ActorRow, JournalRow, StoreReader } from './ports/store.js';
import type { ReadableKind } from './runtime/actor.js';
import { sessionView, situationOf } from './view.js';
import { type Waiting, waiting } from './waiting.js';

export interface SessionDetails {
  readonly at: number;
  readonly session: SessionView;
  /** Null when the row cannot be read. */
  readonly waiting: Waiting | null;
  /** The next three: null for what there is not, and when the row cannot be read. */
  readonly sandbox: Sandbox | null;
  readonly claim: { readonly acceptor: string; readonly deadlineAt: number | null } | null;
  readonly remote: Remote | null;
  readonly episodes: readonly Episode[];
  /** Oldest first. The journal keeps the latest few hundred entries of a session. */
  readonly timeline: readonly Stay[];
}

export interface Sandbox {
  readonly name: string;
  readonly vm: {
    readonly id: string;
    readonly startedAt: number;
    readonly expiresAt: number;
    /** The plan lets it be extended no further. */
    readonly limited: boolean;
  } | null;
  /** Until when the newest snapshot is kept while the session rests; null = without end, or not known yet. */
  readonly snapshotKeptUntil: number | null;
}

export interface Remote {
  readonly launches: number;
  readonly launchedAt: number | null;
  readonly connected: boolean;
  readonly restarts: number;
  readonly vmLosses: number;
}

export interface Episode {
  readonly episode: number;
  readonly since: number;
  /** Null while it lasts. */
  readonly until: number | null;
  readonly claimedAt: number | null;
  readonly connectedAt: number | null;
  readonly outcome: string | null;
}

/** From one entry of the journal to the next. */
export interface Stay {
  readonly state: string;
  readonly since: number;
  readonly ms: number;
  readonly episode: number;
  /** What led here, in words. */
  readonly cause: string;
  /** The journal's event; null for the beginning. */
  readonly event: unknown;
}

/** Null when there is no such session. */
export async function sessionDetails(
  source: {
    readonly store: StoreReader;
    readonly kind: ReadableKind;
    nowAfter(changes: readonly number[]): number;
  },
  id: string,
  timeOf: (now: number) => (at: number) => string,
): Promise<SessionDetails | null> {
  const { store, kind } = source;
  // The journal first: an entry that the row does not know of yet would lead past its state.
  const journal = await wholeJournal(store, id);
  const row = await store.read(id);
  if (row === null || row.machine !== kind.name) return null;
  const now = source.nowAfter([row.updatedAt]);
  const situation = situationOf(row, kind, now);
  const context = situation?.context ?? null;
  const isClaimed = CLAIMED.test(row.state);
  const entries = journal.map(entryOf);
  return {
    at: now,
    session: sessionView(row, kind),
    waiting: situation === null ? null : waiting(situation, timeOf(now)),
    sandbox: context && sandboxOf(context),
    claim:
      context && isClaimed ? { acceptor: acceptorOf(context), deadlineAt: context.claimDeadlineAt } : null,
    remote: context && isClaimed ? remoteOf(context) : null,
    episodes: episodesOf(row, entries),
    timeline: timelineOf(row, entries, now),
  };
}

/** The states in which the claim is ours, or about to be. */
const CLAIMED = /^(claiming|provisioning|serving|extending|snapshotting)\b/;
/** An episode is over once one of these is reached. */
const OVER = /^(released\.(coolingOff|resting)|lost|parked|discarding|ended)$/;
const PAGE = 500;

function sandboxOf({ sandboxName: name, vm, hasDisk, keepUntil }: SessionContext): Sandbox | null {
  if (vm === null) return hasDisk ? { name, vm: null, snapshotKeptUntil: keepUntil } : null;
  const { vmId: id, startedAt, expiresAt, limited } = vm;
  return { name, vm: { id, startedAt, expiresAt, limited }, snapshotKeptUntil: keepUntil };
}

function remoteOf(context: SessionContext): Remote | null {
  const { launches, launchedAt, connected, restarts, vmLosses } = context;
  return launches === 0 ? null : { launches, launchedAt, connected, restarts, vmLosses };
}

async function wholeJournal(store: StoreReader, actorId: string): Promise<JournalRow[]> {
  const rows: JournalRow[] = [];
  for (;;) {
    const page = await store.journal({ after: rows.at(-1)?.seq ?? 0, limit: PAGE, actorId });
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** What an episode is told by; contexts of older versions have it too. */
const remembered = z
  .object({ ...sessionContextSchema.pick({ episode: true, outcome: true }).shape })
  .catch({ episode: 1, outcome: null });

interface Entry {
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly event: unknown;
  readonly episode: number;
  readonly outcome: string | null;
}

function entryOf({ at, from, to, event, context }: JournalRow): Entry {
  return { at, from, to, event: JSON.parse(event), ...remembered.parse(JSON.parse(context)) };
}

/** Whether the journal's first entry is the session's first. */
const isWhole = (entries: readonly Entry[]): boolean => {
  const [first] = entries;
  return first === undefined || (first.from === 'queued' && first.episode === 1);
};

function timelineOf(row: ActorRow, entries: readonly Entry[], now: number): Stay[] {
  const first = entries[0]?.from ?? row.state;
  const stays = [
    ...(isWhole(entries)
      ? [{ state: first, since: row.createdAt, episode: 1, cause: 'seen in the queue', event: null }]
      : []),
    ...entries.map(({ at, to, event, episode }) => ({
      state: to,
      since: at,
      episode,
      cause: causeInWords(event),
      event,
    })),
  ];
  return stays.map((stay, index) => ({
    ...stay,
    ms: Math.max(0, (stays[index + 1]?.since ?? now) - stay.since),
  }));
}

function episodesOf(row: ActorRow, entries: readonly Entry[]): Episode[] {
  const began = entries.filter(({ episode }, index) => episode !== entries[index - 1]?.episode);
  const told = began.map(({ episode, at }): Episode => {
    const own = entries.filter((entry) => entry.episode === episode);
    const first = (holds: (entry: Entry) => boolean) => own.find(holds)?.at ?? null;
    const last = own.at(-1);
    return {
      episode,
      since: episode === 1 && isWhole(entries) ? row.createdAt : at,
      until: last !== undefined && OVER.test(last.to) ? first(({ to }) => OVER.test(to)) : null,
      claimedAt: first(({ from, to }) => from === 'claiming' && to.startsWith('provisioning')),
      connectedAt: first(({ to }) => to === 'serving.monitoring'),
      outcome: own.findLast(({ outcome }) => outcome !== null)?.outcome ?? null,
    };
  });
  if (told.length > 0) return told;
  const { episode, createdAt: since } = row;
  return [{ episode, since, until: null, claimedAt: null, connectedAt: null, outcome: null }];
}
