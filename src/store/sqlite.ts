/**
 * The SQLite backend: a file, through libSQL.
 *
 * One connection writes, through the queue; another reads, and so never sees
 * what is not committed. WAL lets both work at once, and other processes too.
 */
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Client, createClient } from '@libsql/client';
import { Kysely, sql } from 'kysely';
import { messageOf, RefusedError, TransientError } from '../errors.js';
import type { Backend } from './backend.js';
import { toStoreError } from './failure.js';
import { LibsqlDialect } from './libsql-dialect.js';
import { migrate } from './migrations.js';
import type { Db, Tables } from './schema.js';
import { retryWhileBusy, WriteQueue } from './write-queue.js';

/**
 * How long SQLite itself waits for a lock. It blocks the event loop meanwhile,
 * so it only bridges another process's commit; longer waits are retried outside.
 */
const BUSY_TIMEOUT_MS = 25;

/** Opens and migrates the file, made with its directory when absent. Throws RefusedError, TransientError. */
export async function openSqlite(url: string): Promise<Backend> {
  const file = fileOf(url);
  try {
    mkdirSync(dirname(file), { recursive: true });
    const writer = createClient({ url, concurrency: 1, timeout: BUSY_TIMEOUT_MS });
    const reader = createClient({ url, concurrency: 1, timeout: BUSY_TIMEOUT_MS });
    const backend = new SqliteBackend(writer, reader, join(realpathSync(dirname(file)), basename(file)));
    try {
      await retryWhileBusy(() => writer.execute('pragma journal_mode = wal'));
      await retryWhileBusy(() => reader.execute('pragma query_only = on'));
      await backend.transact('open the database', (db) => migrate(db, 'sqlite'));
    } catch (error) {
      await backend.close();
      throw error;
    }
    return backend;
  } catch (error) {
    const known = toStoreError('open the database', error);
    if (known instanceof TransientError || known instanceof RefusedError) throw known;
    throw new RefusedError(`open the database: ${messageOf(error)}`, { setting: 'DATABASE_URL' });
  }
}

function fileOf(url: string): string {
  const path = url.slice('file:'.length);
  if (path === '' || path.includes('?') || path.startsWith(':memory:'))
    throw new RefusedError('DATABASE_URL should be file:<path of a file>, without parameters', {
      setting: 'DATABASE_URL',
    });
  return resolve(decodeURIComponent(path.replace(/^\/\/(localhost)?(?=\/)/, '')));
}

class SqliteBackend implements Backend {
  readonly dialect = 'sqlite';
  readonly now = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
  readonly journalTurn = sql`1`;
  readonly #writer: Client;
  readonly #reader: Client;
  readonly #queue: WriteQueue;
  readonly #db: Db;
  #closed = false;

  constructor(writer: Client, reader: Client, file: string) {
    this.#writer = writer;
    this.#reader = reader;
    this.#queue = new WriteQueue(writer, file);
    this.#db = new Kysely<Tables>({ dialect: new LibsqlDialect(() => reader) });
  }

  async read<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    this.#assertOpen(label);
    try {
      return await retryWhileBusy(() => query(this.#db));
    } catch (error) {
      throw toStoreError(label, error);
    }
  }

  /** Entries are committed in the order of their numbers: there is one writer. */
  readSettledJournal<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.read(label, query);
  }

  async change<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    this.#assertOpen(label);
    return this.#queue.add(label, query, false);
  }

  async transact<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    this.#assertOpen(label);
    return this.#queue.add(label, query, true);
  }

  /** A write transaction is alone already. */
  async lockActor(): Promise<void> {}
  async lockSlots(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
    this.#reader.close();
    this.#writer.close();
  }

  #assertOpen(label: string): void {
    if (this.#closed) throw new TransientError(`${label}: the store is closed`);
  }
}
