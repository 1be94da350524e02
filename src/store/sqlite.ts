/**
 * The SQLite backend: a file, through libSQL.
 *
 * One connection writes, through the queue; another reads, and so never sees
 * what is not committed. WAL lets both work at once, and other processes too.
 */
import { mkdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Client, createClient } from '@libsql/client';
import { Kysely, sql } from 'kysely';
import { messageOf, RefusedError } from '../errors.js';
import type { Backend } from './backend.js';
import { toStoreError } from './failure.js';
import { Gate } from './gate.js';
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
  const file = prepareFile(url);
  const backend = connect(file);
  try {
    await backend.prepare();
    await backend.transact('open the database', (db) => migrate(db, 'sqlite'));
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** The file's canonical path; its directory exists afterwards. */
function prepareFile(url: string): string {
  try {
    const path = decodeURIComponent(url.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
    if (path === '' || /^\/\/|^:memory:|[?#]/.test(path)) throw new Error('not the path of a file');
    const file = resolve(path);
    mkdirSync(dirname(file), { recursive: true });
    return join(realpathSync(dirname(file)), basename(file));
  } catch (error) {
    throw new RefusedError(`DATABASE_URL should be file:<path> of a file to keep: ${messageOf(error)}`, {
      setting: 'DATABASE_URL',
    });
  }
}

function connect(file: string): SqliteBackend {
  const client = () =>
    createClient({ url: pathToFileURL(file).href, concurrency: 1, timeout: BUSY_TIMEOUT_MS });
  try {
    return new SqliteBackend(client(), client(), file);
  } catch (error) {
    const known = toStoreError('open the database', error);
    if (known !== error) throw known;
    // The client's own words for what SQLite could not open carry no code.
    throw new RefusedError(`open the database: ${messageOf(error)}`, { setting: 'DATABASE_URL' });
  }
}

class SqliteBackend implements Backend {
  readonly dialect = 'sqlite';
  readonly now = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
  readonly journalTurn = sql`1`;
  readonly #writer: Client;
  readonly #reader: Client;
  readonly #queue: WriteQueue;
  readonly #db: Db;
  readonly #gate = new Gate();

  constructor(writer: Client, reader: Client, file: string) {
    this.#writer = writer;
    this.#reader = reader;
    this.#queue = new WriteQueue(writer, file);
    this.#db = new Kysely<Tables>({ dialect: new LibsqlDialect(() => reader) });
  }

  prepare(): Promise<void> {
    return this.#gate.pass('open the database', async () => {
      await retryWhileBusy(() => this.#writer.execute('pragma journal_mode = wal'));
      await retryWhileBusy(() => this.#reader.execute('pragma query_only = on'));
    });
  }

  read<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.#gate.pass(label, async () => {
      // The client answers without leaving this turn of the event loop: a caller that reads in a loop would never yield.
      await nextTurn();
      return retryWhileBusy(() => query(this.#db));
    });
  }

  /** Entries are committed in the order of their numbers: there is one writer. */
  readSettledJournal<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.read(label, query);
  }

  change<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.#gate.pass(label, () => this.#queue.add(query, false));
  }

  transact<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.#gate.pass(label, () => this.#queue.add(query, true));
  }

  /** A write transaction is alone already. */
  async lockActor(): Promise<void> {}
  async lockSlots(): Promise<void> {}

  async close(): Promise<void> {
    if (!(await this.#gate.close())) return;
    this.#reader.close();
    // The client leaves the log beside the file; whoever copies the file alone shall have everything.
    await this.#writer.execute('pragma wal_checkpoint(truncate)').catch(() => {});
    this.#writer.close();
  }
}
