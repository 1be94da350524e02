/**
 * The SQLite backend: a file, through libSQL.
 *
 * One connection writes, through the queue; another reads, and so never sees
 * what is not committed. WAL lets both work at once, and other processes too.
 */
import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Client, createClient } from '@libsql/client';
import { Kysely, sql } from 'kysely';
import { messageOf, RefusedError } from '../errors.js';
import type { Backend, ReadingBackend } from './backend.js';
import { toStoreError } from './failure.js';
import { Gate } from './gate.js';
import { LibsqlDialect } from './libsql-dialect.js';
import { checkSchema, migrate } from './migrations.js';
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
  const backend = connect(() => new SqliteBackend(clientOf(file), clientOf(file), file));
  try {
    await backend.prepare();
    await backend.transact('open the database', (db) => migrate(db, 'sqlite'));
    return backend;
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** Opens the file to look at it. Throws RefusedError when it is not there or not of this schema, TransientError. */
export async function openSqliteReader(url: string): Promise<ReadingBackend> {
  const file = asked(() => pathOf(url));
  if (statSync(file, { throwIfNoEntry: false }) === undefined)
    throw new RefusedError(
      `there is no database ${file}: it is made by the first start; point DATABASE_URL at the one that your orchestrator uses`,
      { setting: 'DATABASE_URL' },
    );
  const reader = connect(() => new SqliteReader(clientOf(file)));
  try {
    await reader.prepare();
    await reader.read('open the database', (db) => checkSchema(db, 'sqlite'));
    return reader;
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** The file's canonical path; its directory exists afterwards. */
function prepareFile(url: string): string {
  return asked(() => {
    const file = pathOf(url);
    mkdirSync(dirname(file), { recursive: true });
    return join(realpathSync(dirname(file)), basename(file));
  });
}

function pathOf(url: string): string {
  const path = decodeURIComponent(url.slice('file:'.length).replace(/^\/\/(?=\/)/, ''));
  if (path === '' || /^\/\/|^:memory:|[?#]/.test(path)) throw new Error('not the path of a file');
  return resolve(path);
}

function asked(prepare: () => string): string {
  try {
    return prepare();
  } catch (error) {
    throw new RefusedError(`DATABASE_URL should be file:<path> of a file to keep: ${messageOf(error)}`, {
      setting: 'DATABASE_URL',
    });
  }
}

const clientOf = (file: string): Client =>
  createClient({ url: pathToFileURL(file).href, concurrency: 1, timeout: BUSY_TIMEOUT_MS });

function connect<B>(make: () => B): B {
  try {
    return make();
  } catch (error) {
    const known = toStoreError('open the database', error);
    if (known !== error) throw known;
    // The client's own words for what SQLite could not open carry no code.
    throw new RefusedError(`open the database: ${messageOf(error)}`, { setting: 'DATABASE_URL' });
  }
}

/** One connection, which cannot write. */
class SqliteReader implements ReadingBackend {
  readonly dialect = 'sqlite';
  readonly #client: Client;
  readonly #db: Db;
  protected readonly gate = new Gate();

  constructor(client: Client) {
    this.#client = client;
    this.#db = new Kysely<Tables>({ dialect: new LibsqlDialect(() => client) });
  }

  prepare(): Promise<void> {
    return this.gate.pass('open the database', async () => {
      await retryWhileBusy(() => this.#client.execute('pragma query_only = on'));
    });
  }

  read<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.gate.pass(label, async () => {
      // The client answers without leaving this turn of the event loop: a caller that reads in a loop would never yield.
      await nextTurn();
      return retryWhileBusy(() => query(this.#db));
    });
  }

  /** Entries are committed in the order of their numbers: there is one writer. */
  readSettledJournal<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.read(label, query);
  }

  async close(): Promise<void> {
    if (await this.gate.close()) this.#client.close();
  }
}

class SqliteBackend extends SqliteReader implements Backend {
  readonly now = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
  readonly journalTurn = sql`1`;
  readonly #writer: Client;
  readonly #reader: Client;
  readonly #queue: WriteQueue;

  constructor(writer: Client, reader: Client, file: string) {
    super(reader);
    this.#writer = writer;
    this.#reader = reader;
    this.#queue = new WriteQueue(writer, file);
  }

  override async prepare(): Promise<void> {
    await this.gate.pass('open the database', () =>
      retryWhileBusy(() => this.#writer.execute('pragma journal_mode = wal')),
    );
    await super.prepare();
  }

  change<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.gate.pass(label, () => this.#queue.add(query, false));
  }

  transact<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.gate.pass(label, () => this.#queue.add(query, true));
  }

  /** A write transaction is alone already. */
  async lockActor(): Promise<void> {}
  async lockSlots(): Promise<void> {}

  override async close(): Promise<void> {
    if (!(await this.gate.close())) return;
    this.#reader.close();
    // The client leaves the log beside the file; whoever copies the file alone shall have everything.
    await this.#writer.execute('pragma wal_checkpoint(truncate)').catch(() => {});
    this.#writer.close();
  }
}
