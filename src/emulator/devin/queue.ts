/**
 * The outpost's queue: rows, claims, and the log of changes that a watch replays.
 *
 * Every claim and release is decided here in one synchronous step, so claims are
 * atomic. A lapsed claim is noticed when its row is next looked at. What a
 * session wants is lifecycle.ts's business.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../ports/clock.js';
import type { Journal } from './journal.js';
import { isConnected, isEnded, type Session } from './session.js';
import { comparePlaces, type Place, type WireOptions, type WireRow, writeRow } from './wire.js';

/** Changes kept for replay; a cursor older than the log is refused with 410. */
const LOG_LIMIT = 10_000;

export interface Change {
  readonly type: 'MODIFIED' | 'DELETED';
  readonly place: Place;
  readonly outpostId: string;
  readonly row: WireRow;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly claimTtlMs: number;
  /** How long the row of an ended session stays after its release; 0 = not at all. */
  readonly leftoverMs: number;
  readonly keepDeadlineWhileRunning: boolean;
  readonly wire: WireOptions;
  /** Aborts all waits. */
  readonly signal: AbortSignal;
}

type ClaimResult =
  | { kind: 'gone' }
  | { kind: 'taken' }
  /** `first`: no renewal. */
  | { kind: 'claimed'; session: Session; token: string; first: boolean };

export type Queue = ReturnType<typeof createQueue>;

export function createQueue(options: QueueOptions, journal: Journal) {
  const { clock } = options;
  const sessions = new Map<string, Session>();
  const log: Change[] = [];
  const watchers = new Set<(change: Change) => void>();
  let lastPlaceAt = 0;
  let forgottenUpTo = 0;

  /** Unique and growing, so that a cursor never hides a row. */
  const nextPlaceAt = () => {
    lastPlaceAt = Math.max(clock.now(), lastPlaceAt + 1);
    return lastPlaceAt;
  };

  const publish = (session: Session, type: Change['type'], at: number) => {
    const change: Change = {
      type,
      place: { at, id: session.id },
      outpostId: session.outpostId,
      row: writeRow(session, options.wire),
    };
    log.push(change);
    if (log.length > LOG_LIMIT) forgottenUpTo = log.shift()?.place.at ?? forgottenUpTo;
    for (const watcher of watchers) watcher(change);
  };

  /** Tells the world that the row changed. */
  const touch = (session: Session) => {
    if (!session.entry) return;
    session.entry.updatedAt = nextPlaceAt();
    publish(session, 'MODIFIED', session.entry.updatedAt);
  };

  const leave = (session: Session) => {
    if (!session.entry) return;
    session.entry.updatedAt = nextPlaceAt();
    publish(session, 'DELETED', session.entry.updatedAt);
    session.entry = null;
    journal.note(session, 'left', session.status);
  };

  /** An ended row that nobody holds stays for a while and then goes. */
  const retire = (session: Session) => {
    const { entry } = session;
    if (options.leftoverMs === 0) return leave(session);
    touch(session);
    const stamp = entry?.updatedAt;
    clock.sleep(options.leftoverMs, options.signal).then(
      () => {
        if (session.entry === entry && entry?.updatedAt === stamp) leave(session);
      },
      () => {},
    );
  };

  /** Ends the claim, whoever held it; its tokens are worth nothing any more. */
  const unclaim = (session: Session, why: 'released' | 'lapsed') => {
    const { entry } = session;
    if (!entry) return;
    journal.note(session, why, entry.acceptorId ?? '');
    entry.phase = 'pending';
    entry.acceptorId = null;
    entry.claimedAt = null;
    entry.deadlineAt = null;
    entry.attached = false;
    entry.tokens.clear();
    journal.claimEnded(session);
    if (isEnded(session)) return retire(session);
    if (session.wish === 'run') session.status = session.queuedStatus;
    touch(session);
  };

  /** Lets a lapsed claim lapse. A claim on a running session stays held. */
  const settle = (session: Session) => {
    const { entry } = session;
    if (entry?.phase !== 'claimed' || entry.deadlineAt === null || session.status === 'running') return;
    if (entry.deadlineAt <= clock.now()) unclaim(session, 'lapsed');
  };

  /** What the deadline of a claim is when it is made, renewed, or its session changes. */
  const deadlineNow = (session: Session): number | null =>
    session.status === 'running' && isConnected(session) && !options.keepDeadlineWhileRunning
      ? null
      : clock.now() + options.claimTtlMs;

  const rows = (): Session[] => {
    const present: Session[] = [];
    for (const session of sessions.values()) {
      settle(session);
      if (session.entry) present.push(session);
    }
    return present;
  };
  const placeOf = (session: Session): Place => ({ at: session.entry?.updatedAt ?? 0, id: session.id });

  return {
    sessions,
    settle,
    touch,
    rows,
    unclaim,
    retire,
    placeOf,

    /** Puts the session's row into the queue; one that is there already keeps its claim. */
    enqueue(session: Session) {
      const at = clock.now();
      session.entry ??= {
        phase: 'pending',
        acceptorId: null,
        claimedAt: null,
        deadlineAt: null,
        tokens: new Set(),
        attached: false,
        createdAt: at,
        updatedAt: at,
      };
      journal.note(session, 'queued', isEnded(session) ? session.status : session.kind);
      touch(session);
    },

    /** The row in its present state, null when the queue has none. */
    look(id: string): Session | null {
      const session = sessions.get(id);
      if (!session) return null;
      settle(session);
      return session.entry ? session : null;
    },

    /** Claims or renews; answers a fresh connect token. */
    claim(id: string, acceptorId: string): ClaimResult {
      const session = this.look(id);
      const entry = session?.entry;
      if (!session || !entry) return { kind: 'gone' };
      if (entry.phase === 'claimed' && entry.acceptorId !== acceptorId) return { kind: 'taken' };
      const first = entry.phase === 'pending';
      if (first) {
        entry.phase = 'claimed';
        entry.acceptorId = acceptorId;
        entry.claimedAt = clock.now();
        entry.attached = false;
      }
      const token = `ct_${randomBytes(24).toString('base64url')}`;
      entry.tokens.add(token);
      entry.deadlineAt = deadlineNow(session);
      session.claims.push({ acceptorId, at: clock.now(), renewal: !first, ofEnded: isEnded(session) });
      journal.note(session, first ? 'claimed' : 'renewed', acceptorId);
      touch(session);
      return { kind: 'claimed', session, token, first };
    },

    release(id: string, acceptorId: string): 'gone' | 'notYours' | 'released' {
      const session = this.look(id);
      if (!session?.entry) return 'gone';
      if (session.entry.acceptorId !== acceptorId) return 'notYours';
      unclaim(session, 'released');
      return 'released';
    },

    /** Writes the session's new status into its row. */
    setStatus(session: Session, status: string) {
      session.status = status;
      journal.note(session, 'status', status);
      if (!session.entry) return;
      if (session.entry.phase === 'claimed') session.entry.deadlineAt = deadlineNow(session);
      else if (isEnded(session)) return retire(session);
      touch(session);
    },

    /** Changes after `place`; null when the log does not reach back that far. */
    changesAfter(place: Place): Change[] | null {
      if (place.at < forgottenUpTo) return null;
      return log.filter((change) => comparePlaces(change.place, place) > 0);
    },
    onChange(watcher: (change: Change) => void): () => void {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
