/**
 * The tables, as Kysely sees them, and what each is for.
 *
 * Booleans are 0 and 1, JSON is text and instants are whole milliseconds in
 * both dialects, so one set of queries serves both. See migrations.ts for the DDL.
 */
import type { Generated, Kysely } from 'kysely';

/**
 * One row per actor.
 * Written by: whoever enrols; lease holders (save, defer, rest, quarantine); the dispatcher (facts,
 * slots, wake-ups); an operator (readmit). Deleted by: `remove`, for an actor that has ended.
 */
interface ActorTable {
  id: string;
  machine: string;
  version: number;
  snapshot: string;
  state: string;
  episode: number;
  /** See `SLOT` in rows.ts. */
  holds_slot: number;
  rev: number;
  facts: string | null;
  facts_rev: number;
  attempt: number;
  retry_at: number | null;
  wake_at: number | null;
  problem: string | null;
  quarantine: string | null;
  lease_owner: string | null;
  /** By the database's clock; meaningless without an owner. */
  lease_until: number;
  created_at: number;
  updated_at: number;
}

/**
 * The inbox: news that an actor has not consumed.
 * Written by: `post` and `grantSlots`. Deleted by: the `save` that consumed it, or `remove`.
 */
interface NewsTable {
  seq: Generated<number>;
  actor_id: string;
  event: string;
}

/**
 * The append-only list of transitions.
 * Written by: `save`. Deleted by: `pruneJournal` (the oldest), or `remove`.
 */
interface JournalTable {
  seq: Generated<number>;
  actor_id: string;
  rev: number;
  at: number;
  event: string;
  from_state: string;
  to_state: string;
  context: string;
}

/** Facts of the installation. Written by: whoever learns them. Deleted by: nobody. */
interface SettingTable {
  key: string;
  value: string;
}

/** Named leases for work that one process at a time does. Written by: `lead`. Deleted by: `unlead`. */
interface LeadTable {
  name: string;
  owner: string;
  lease_until: number;
}

/** Sealed secrets. Written by: the vault. Deleted by: the vault, the expired ones too. */
interface SecretTable {
  name: string;
  sealed: string;
  /** Null: it does not expire. */
  expires_at: number | null;
}

/** Which migrations ran. Written by: `migrate`. Deleted by: nobody. */
interface MigrationTable {
  version: number;
  name: string;
}

export interface Tables {
  actors: ActorTable;
  news: NewsTable;
  journal: JournalTable;
  settings: SettingTable;
  leads: LeadTable;
  secrets: SecretTable;
  migrations: MigrationTable;
}

/** A connection, a pool or an open transaction: queries do not care which. */
export type Db = Kysely<Tables>;
