/**
 * What the two databases do differently, behind one face.
 *
 * Queries are written once against this; a backend decides how a write becomes
 * durable, which clock measures leases and what has to be locked. Every method
 * turns driver errors into the program's own (see failure.ts), under `label`:
 * the operation and the actor, for the message.
 */
import type { RawBuilder } from 'kysely';
import type { Db } from './schema.js';

type Query<T> = (db: Db) => Promise<T>;

/** The half that changes nothing. */
export interface ReadingBackend {
  readonly dialect: 'sqlite' | 'postgres';
  /** Sees only what is committed. */
  read<T>(label: string, query: Query<T>): Promise<T>;
  /** A read of the journal after which no entry with a lower `seq` can appear any more. */
  readSettledJournal<T>(label: string, query: Query<T>): Promise<T>;
  close(): Promise<void>;
}

export interface Backend extends ReadingBackend {
  /** The database's own clock, whole milliseconds since the epoch. */
  readonly now: RawBuilder<number>;
  /** One statement that writes. Resolves once it is durable. */
  change<T>(label: string, query: Query<T>): Promise<T>;
  /** Several statements, all or nothing. Resolves once they are durable. */
  transact<T>(label: string, query: Query<T>): Promise<T>;
  /** Selected by the statement that precedes an append to the journal, in the same transaction. */
  readonly journalTurn: RawBuilder<unknown>;
  /** In a transaction: later statements see, and hold off, everything others write to this actor. */
  lockActor(db: Db, id: string): Promise<void>;
  /** In a transaction: waits until no other grant of slots is under way. */
  lockSlots(db: Db): Promise<void>;
}
