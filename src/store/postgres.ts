/**
 * The PostgreSQL backend: a small pool that heals by itself.
 *
 * Needs nothing of a session (no prepared statements, no session locks, no
 * `set`), so it works behind a transaction-mode pooler too. A connection that
 * broke or did not answer in time is dropped, never used again.
 */
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from 'kysely';
import pg from 'pg';
import type { Backend, ReadingBackend } from './backend.js';
import { ConnectFailure, isConnectionLost } from './failure.js';
import { Gate } from './gate.js';
import { checkSchema, migrate, POSTGRES_SCHEMA } from './migrations.js';
import { driverUrl } from './postgres-url.js';
import type { Db, Tables } from './schema.js';

const MOST_CONNECTIONS = 4;
const IDLE_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 15_000;

/** Keys of the advisory locks, all under one class of our own. */
const LOCK_CLASS = 0x64766e;
const LOCK = { migrations: 1, slots: 2, journal: 3 } as const;

export interface PostgresOptions {
  readonly maxConnections?: number;
  readonly idleTimeoutMs?: number;
  readonly onPool?: (pool: pg.Pool) => void;
}

/** Connects and migrates. Throws RefusedError (credentials, no such database), TransientError (not reachable). */
export async function openPostgres(url: string, options: PostgresOptions): Promise<Backend> {
  const backend = new PostgresBackend(url, options);
  try {
    await backend.transact('open the database', async (db) => {
      await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, ${LOCK.migrations})`.execute(db);
      await migrate(db, 'postgres');
    });
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

/** Connects; every transaction is a read-only one. Throws as `openPostgres`, and RefusedError for another schema. */
export async function openPostgresReader(url: string): Promise<ReadingBackend> {
  const backend = new PostgresBackend(url, { maxConnections: 2 }, true);
  try {
    await backend.read('open the database', (db) => checkSchema(db, 'postgres'));
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}

class PostgresBackend implements Backend {
  readonly dialect = 'postgres';
  readonly now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  /**
   * Numbers of the journal are given out before their transactions commit. Writers share this lock and
   * a reader that follows the journal takes it alone for a moment, which waits out whoever has a number already.
   */
  readonly journalTurn = sql`pg_advisory_xact_lock_shared(${sql.lit(LOCK_CLASS)}, ${sql.lit(LOCK.journal)})`;
  readonly #root: Kysely<Tables>;
  readonly #db: Kysely<Tables>;
  readonly #gate = new Gate();
  readonly #readOnly: boolean;

  constructor(
    url: string,
    { maxConnections = MOST_CONNECTIONS, idleTimeoutMs, onPool }: PostgresOptions,
    readOnly = false,
  ) {
    this.#readOnly = readOnly;
    const pool = new pg.Pool({
      connectionString: driverUrl(url),
      max: maxConnections,
      idleTimeoutMillis: idleTimeoutMs ?? IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'outposts',
      types: { getTypeParser },
    });
    onPool?.(pool);
    this.#root = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: healing(pool) }) });
    this.#db = this.#root.withSchema(POSTGRES_SCHEMA);
  }

  read<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    if (this.#readOnly) return this.transact(label, query);
    return this.#gate.pass(label, () => query(this.#db));
  }

  readSettledJournal<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.transact(label, async (db) => {
      await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, ${LOCK.journal})`.execute(db);
      return query(db);
    });
  }

  change<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.#gate.pass(label, () => query(this.#db));
  }

  transact<T>(label: string, query: (db: Db) => Promise<T>): Promise<T> {
    return this.#gate.pass(label, () => {
      const transaction = this.#db.transaction().setIsolationLevel('read committed');
      return (this.#readOnly ? transaction.setAccessMode('read only') : transaction).execute(query);
    });
  }

  async lockActor(db: Db, id: string): Promise<void> {
    await db.selectFrom('actors').select('id').where('id', '=', id).forUpdate().execute();
  }

  async lockSlots(db: Db): Promise<void> {
    await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, ${LOCK.slots})`.execute(db);
  }

  async close(): Promise<void> {
    if (await this.#gate.close()) await this.#root.destroy();
  }
}

/** The pool as Kysely uses it; a client that lost its connection is destroyed on release. */
function healing(pool: pg.Pool): PostgresPool {
  const ignore = () => {};
  // Without listeners, a connection that ends while idle or between two queries would end the process.
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return {
    async connect() {
      const client = await connectTo(pool);
      let lost: unknown = null;
      const query = async (text: string, values: readonly unknown[]) => {
        if (lost) throw lost;
        try {
          return await client.query(text, [...values]);
        } catch (error) {
          if (isConnectionLost(error)) lost = error;
          throw error;
        }
      };
      return {
        // The interface's other overload is for cursors, which nothing here opens.
        query: query as unknown as PostgresPoolClient['query'],
        release: (discard?: boolean) => client.release(Boolean(discard || lost)),
      };
    },
    end: () => pool.end(),
  };
}

async function connectTo(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw new ConnectFailure(error);
  }
}

/** bigint arrives as text, because it may exceed a double; ours are instants and counters. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === pg.types.builtins.INT8) return Number;
  return pg.types.getTypeParser(oid, format);
}
