/**
 * One writer per SQLite file and process, with group commit.
 *
 * Writes that arrive while a transaction is under way are executed together in
 * the next, so that many share one fsync. Each is isolated by a savepoint: one
 * that fails undoes only itself. A write's promise settles only after the
 * commit that made it durable.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Client, Transaction } from '@libsql/client';
import { Kysely } from 'kysely';
import { BugError } from '../errors.js';
import { isBusy } from './failure.js';
import { LibsqlDialect } from './libsql-dialect.js';
import type { Db, Tables } from './schema.js';

/** Bounds how long one group keeps the event loop and the file's lock. */
const LARGEST_GROUP = 100;
/** How long another process may hold the file before writes give up. */
const BUSY_LIMIT_MS = 5_000;

export class WriteQueue {
  readonly #client: Client;
  readonly #file: string;
  /** Executes within the transaction of the group that is under way. */
  readonly #db: Db;
  #transaction: Transaction | null = null;
  #waiting: Write[] = [];
  #draining = false;

  /** `client` has one connection and is used by nobody else; `file` identifies the database in this process. */
  constructor(client: Client, file: string) {
    this.#client = client;
    this.#file = file;
    this.#db = new Kysely<Tables>({ dialect: new LibsqlDialect(() => this.#current()) });
  }

  /** `savepoint` false: the query is one statement, which SQLite undoes by itself when it fails. */
  add<T>(query: (db: Db) => Promise<T>, savepoint: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(new Write(query, savepoint, resolve as (value: unknown) => void, reject));
      if (!this.#draining) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#waiting.length > 0) {
      // Lets everything that this turn of the event loop wants to write join the group.
      await nextTurn();
      await inTurn(this.#file, () => this.#commitGroup());
    }
    this.#draining = false;
  }

  async #commitGroup(): Promise<void> {
    let group: Write[] = [];
    try {
      const transaction = await retryWhileBusy(() => this.#begin());
      this.#transaction = transaction;
      try {
        group = this.#waiting.splice(0, LARGEST_GROUP);
        for (const write of group) await write.perform(this.#db, transaction);
        await transaction.commit();
      } finally {
        this.#transaction = null;
        // Rolls back unless committed, and is content when SQLite has done so by itself (a full disk).
        transaction.close();
      }
      for (const write of group) write.settle();
    } catch (error) {
      if (group.length === 0) group = this.#waiting.splice(0);
      for (const write of group) write.reject(error);
    }
  }

  async #begin(): Promise<Transaction> {
    // Each time, because the client may have opened a new connection.
    await this.#client.execute('pragma synchronous = full');
    const transaction = await this.#client.transaction('deferred');
    try {
      // Not transaction('write'): a prepared BEGIN IMMEDIATE that met a lock stays half-executed on the
      // connection and fails later commits with "SQL statements in progress".
      await transaction.executeMultiple('rollback; begin immediate');
      return transaction;
    } catch (error) {
      transaction.close();
      throw error;
    }
  }

  #current(): Transaction {
    if (!this.#transaction) throw new BugError('a write outlived its transaction');
    return this.#transaction;
  }
}

/** Tries again for about five seconds while another process holds the file. */
export async function retryWhileBusy<T>(attempt: () => Promise<T>): Promise<T> {
  const endAt = performance.now() + BUSY_LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > endAt) throw error;
      await sleep(2 + Math.random() * 15);
    }
  }
}

class Write {
  #settle: (() => void) | null = null;
  constructor(
    readonly query: (db: Db) => Promise<unknown>,
    readonly savepoint: boolean,
    readonly resolve: (value: unknown) => void,
    readonly reject: (error: unknown) => void,
  ) {}

  /** Runs the query and keeps its outcome back until the commit. Throws only when the whole group is lost. */
  async perform(db: Db, transaction: Transaction): Promise<void> {
    if (this.savepoint) await transaction.executeMultiple('savepoint write');
    try {
      const value = await this.query(db);
      this.#settle = () => this.resolve(value);
    } catch (error) {
      this.#settle = () => this.reject(error);
      if (transaction.closed) throw error;
      if (this.savepoint) await transaction.executeMultiple('rollback to write');
    }
    if (this.savepoint) await transaction.executeMultiple('release write');
  }

  settle(): void {
    this.#settle?.();
  }
}

/** Ends of the lines of writers that this process has per file: two stores of one file take turns. */
const lines = new Map<string, Promise<void>>();

async function inTurn(file: string, act: () => Promise<void>): Promise<void> {
  const turn = (lines.get(file) ?? Promise.resolve()).then(act);
  lines.set(file, turn);
  await turn;
  if (lines.get(file) === turn) lines.delete(file);
}
