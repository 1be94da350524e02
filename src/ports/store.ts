/**
 * Where actors are kept between the moments that move them.
 *
 * One row per actor, an inbox of news, an append-only journal. Every write of
 * an actor is a compare-and-set on `rev` by the holder of its lease, so any
 * number of drivers in any number of processes may try. The store knows no
 * decisions: what a snapshot means is the runtime's and the machine's business.
 *
 * Instants are the caller's (`Clock`), except leases, which the database's own
 * clock measures. Errors: `TransientError` when the database is locked or away.
 */

/** Ids of connections begin with this; no session's may, as all actors share one table. */
export const CONNECTION_IDS = 'connection:';

/** The columns that a driver's save decides; the snapshot is opaque JSON text. */
export interface SavedActor {
  readonly machine: string;
  /** Version of the machine's shape that wrote `snapshot`. */
  readonly version: number;
  readonly snapshot: string;
  /** The state's dotted path, for lists and counts: `serving.monitoring`. */
  readonly state: string;
  readonly episode: number;
  /** Whether the actor holds one of MAX_CONCURRENT slots. */
  readonly holdsSlot: boolean;
}

export interface ActorRow extends SavedActor {
  readonly id: string;
  /** Grows by one with each save; 0 when enrolled. */
  readonly rev: number;
  /** Latest facts of the queue, JSON text written by the dispatcher; null when never seen. */
  readonly facts: string | null;
  /** Grows with each change of `facts`. */
  readonly factsRev: number;
  /** Failed tries of the pending effect, and when the next is due. */
  readonly attempt: number;
  readonly retryAt: number | null;
  /** When the actor wants to be driven; 0 = now, null = only by news. */
  readonly wakeAt: number | null;
  /** What an operator has to mend, in words; null when nothing. */
  readonly problem: string | null;
  /** Why the row is set aside and no longer driven; null when it is not. */
  readonly quarantine: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One piece of news for an actor, JSON text of a machine event. */
export interface NewsRow {
  readonly seq: number;
  readonly event: string;
}

export interface JournalEntry {
  readonly at: number;
  /** JSON text of the event, payload included. */
  readonly event: string;
  readonly from: string;
  readonly to: string;
  /** JSON text of the context after the transition. */
  readonly context: string;
}
export interface JournalRow extends JournalEntry {
  /** Position in the whole journal: grows with every entry of every actor. */
  readonly seq: number;
  readonly actorId: string;
  readonly rev: number;
}

export type TakeAnswer =
  | { readonly kind: 'taken'; readonly row: ActorRow; readonly news: readonly NewsRow[] }
  /** Someone else holds the lease for `leftMs` more milliseconds. */
  | { readonly kind: 'busy'; readonly leftMs: number }
  | { readonly kind: 'absent' };

/** Who writes: a lease holder that saw the row at `rev`. A write answers false when either no longer holds. */
export interface Hold {
  readonly id: string;
  readonly owner: string;
  readonly rev: number;
}

/** What keeps a pending effect from being done: failed tries, when the next is due, and why in words. */
export interface Trouble {
  readonly attempt: number;
  readonly retryAt: number | null;
  readonly problem: string | null;
}

export interface SaveChange {
  readonly next: SavedActor;
  /** The row's attempt, retryAt and problem from now on; none unless given. */
  readonly trouble?: Trouble;
  /** Null when only news was taken note of and the state did not change. */
  readonly journal: JournalEntry | null;
  /** News consumed by this save; deleted in the same transaction. */
  readonly newsTaken: readonly number[];
  readonly at: number;
}

export interface ActorFilter {
  readonly machine?: string;
  /** Top-level or dotted state; matches the state itself and everything below it. */
  readonly state?: string;
  /** Part of the id. */
  readonly search?: string;
  readonly limit: number;
  /** The `id` of the last row of the page before; not with `order: 'news'`. */
  readonly after?: string;
  /** By `id` unless given; `news`: latest change first, then by `id`. */
  readonly order?: 'news';
}

/** As much of an actor as a look at the queue needs. */
export type KnownActor = Pick<ActorRow, 'id' | 'state' | 'facts'>;

export interface Store {
  /** `sqlite` or `postgres`, for messages. */
  readonly dialect: 'sqlite' | 'postgres';

  // --- settings of the installation -------------------------------------------------------
  /** Reads a setting; null when absent. */
  setting(key: string): Promise<string | null>;
  /** Writes unless present; answers the value that stands. */
  settleSetting(key: string, value: string): Promise<string>;
  writeSetting(key: string, value: string): Promise<void>;

  // --- actors -----------------------------------------------------------------------------
  /** Adds an actor at rev 0 with `wakeAt` 0 unless its id exists; true when added. */
  enroll(id: string, actor: SavedActor, facts: string | null, at: number): Promise<boolean>;
  read(id: string): Promise<ActorRow | null>;
  /** Takes the row's lease for `leaseMs` and reads row and news in one go. Re-entrant for the same owner. */
  take(id: string, owner: string, leaseMs: number): Promise<TakeAnswer>;
  /** Prolongs the lease, only while it is held; `rev` is not checked. False when lost. */
  keep(id: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Whether `hold` still holds lease and rev: the fence before an act that cannot be repeated blindly. */
  holds(hold: Hold): Promise<boolean>;
  /** Saves the next state: rev + 1, journal appended, news deleted, all or nothing. The actor is due at once. */
  save(hold: Hold, change: SaveChange): Promise<boolean>;
  /**
   * Notes that the pending effect failed and when to try again; frees the lease; rev stays. The actor wakes at
   * `wakeAt`, or at once when news waits or `factsRev` moved.
   */
  defer(
    hold: Hold,
    note: { attempt: number; retryAt: number; wakeAt: number; problem: string | null; factsRev: number },
  ): Promise<boolean>;
  /**
   * Puts the actor to rest until `wakeAt` and frees the lease, unless news arrived or `factsRev` moved meanwhile:
   * then it changes nothing, keeps the lease and answers false.
   */
  rest(hold: Hold, note: { factsRev: number; wakeAt: number | null }): Promise<boolean>;
  /** Frees the lease and nothing else; a lease that is not ours is left alone. */
  free(id: string, owner: string): Promise<void>;
  /** Sets the row aside with its reason; snapshot, rev and slot stay as they are. */
  quarantine(hold: Hold, reason: string): Promise<boolean>;
  /**
   * Takes a row out of quarantine (an operator's act) and wakes it, with the slot that `freeSlot` took from it.
   * False when it was not in quarantine.
   */
  readmit(id: string): Promise<boolean>;
  /** Frees the slot of an actor that is in quarantine, until it is readmitted; false when it is not, or holds none. */
  freeSlot(id: string): Promise<boolean>;

  // --- news and facts ---------------------------------------------------------------------
  /**
   * Appends news and wakes the actor (wakeAt 0). False when there is no such actor.
   * With `once`, nothing is appended while the very same text waits already; the actor is woken all the same.
   */
  post(id: string, event: string, options?: { readonly once?: boolean }): Promise<boolean>;
  /** Writes facts of known actors where they differ, bumps factsRev, wakes those; answers their ids. */
  observe(facts: ReadonlyMap<string, string>): Promise<readonly string[]>;

  // --- dispatch ---------------------------------------------------------------------------
  /**
   * Grants free slots: of `candidates` (ids, oldest first) that are in state `queued` and hold no slot, as many as
   * `max` minus the slots held; sets holdsSlot, bumps rev, posts `event` and wakes them, in one transaction that
   * no concurrent grant can overlap. Answers the ids granted and the slots now held.
   */
  grantSlots(
    candidates: readonly string[],
    max: number,
    event: string,
  ): Promise<{ granted: readonly string[]; held: number }>;
  /**
   * Ids of a machine's actors to drive now: wakeAt at or before `now`, not quarantined, lease free or over.
   * Longest overdue first.
   */
  due(machine: string, now: number, limit: number): Promise<readonly string[]>;
  /** The earliest wakeAt past `after` of any row of the machine that is not quarantined; null when none waits. */
  nextWakeAt(machine: string, after: number): Promise<number | null>;
  /** Takes or prolongs a named lease (the sweep's); false while another owner has it. */
  lead(name: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Gives a named lease back at once; one that another owner has is left alone. */
  unlead(name: string, owner: string): Promise<void>;

  // --- looking ----------------------------------------------------------------------------
  /** A page of rows, in the order that the filter says. */
  list(filter: ActorFilter): Promise<readonly ActorRow[]>;
  /**
   * The rows that matter most, read at one moment: set aside first, then those in none of the states `resting`
   * (dotted, at least one), then the others; latest change first.
   */
  foremost(machine: string, resting: readonly string[], limit: number): Promise<readonly ActorRow[]>;
  /** Actors that are not in the state `except` (dotted), a page by id, without their snapshots. */
  known(filter: {
    readonly machine: string;
    readonly except: string;
    readonly limit: number;
    /** The `id` of the last one of the page before. */
    readonly after?: string;
  }): Promise<readonly KnownActor[]>;
  /** Ids of actors in quarantine that hold a slot. */
  slotsSetAside(machine: string): Promise<readonly string[]>;
  /** How many rows a version newer than `version` wrote, and which version reads them all; null when there are none. */
  newerThan(machine: string, version: number): Promise<{ rows: number; needs: number | null }>;
  /** Rows per state (dotted), and slots held. */
  counts(
    machine: string,
  ): Promise<{ states: Readonly<Record<string, number>>; slots: number; quarantined: number }>;
  /** Entries after `seq` (0 = from the start), oldest first; of one actor when `actorId` is given. */
  journal(filter: { after: number; limit: number; actorId?: string }): Promise<readonly JournalRow[]>;
  /** The newest entry's `seq`: where following the journal from now on begins; 0 when it is empty. */
  journalEnd(): Promise<number>;

  // --- sealed secrets: the vault's, see src/vault ------------------------------------------
  /** Null: there is none, or it has expired by `now`. */
  sealed(name: string, now: number): Promise<{ sealed: string; expiresAt: number | null } | null>;
  /** Writes, in place of what was there. */
  keepSealed(name: string, sealed: string, expiresAt: number | null): Promise<void>;
  /**
   * Writes, and makes `setting` what it says, both or neither; nothing while actors hold slots and the setting would
   * change. Answers the slots held then; 0: written.
   */
  keepSealedWith(
    name: string,
    sealed: string,
    setting: { readonly key: string; readonly value: string },
  ): Promise<number>;
  /** Writes unless something is there that has not expired by `now`; false then. */
  keepSealedOnce(name: string, sealed: string, expiresAt: number, now: number): Promise<boolean>;
  /** Replaces what is sealed under a name, only while it is still `from`. Never brings anything back. */
  reseal(name: string, from: string, to: string): Promise<void>;
  /** Deletes one, or all whose names begin with a prefix. */
  dropSealed(which: { readonly name: string } | { readonly prefix: string }): Promise<void>;
  dropExpiredSealed(now: number): Promise<void>;

  // --- housekeeping -----------------------------------------------------------------------
  /** Deletes an actor with its news and journal, only while it is at `rev` and not leased. */
  remove(id: string, rev: number): Promise<boolean>;
  /** Deletes all actors of a machine in one state (dotted) with their news and journals, but those that are leased. */
  removeAll(machine: string, state: string): Promise<void>;
  /** Deletes all but the newest `keep` journal entries of each actor; answers how many went. */
  pruneJournal(keep: number): Promise<number>;
  close(): Promise<void>;
}

/** What the vault has of it. */
export type SecretStore = Pick<
  Store,
  | 'sealed'
  | 'keepSealed'
  | 'keepSealedWith'
  | 'keepSealedOnce'
  | 'reseal'
  | 'dropSealed'
  | 'dropExpiredSealed'
>;

/** What somebody who only looks may call. */
export type StoreReader = Pick<
  Store,
  'dialect' | 'read' | 'list' | 'foremost' | 'counts' | 'journal' | 'journalEnd' | 'close'
>;
