/**
 * Kysely over one connection of @libsql/client's SQLite.
 *
 * Never more than one connection per client: the client opens new ones lazily
 * and without pragmas, so what matters is set again before each transaction.
 * The caller serialises transactions (see write-queue.ts); single statements
 * need no care, as the client runs each in one synchronous step.
 */
import type { Client, InArgs, ResultSet, Transaction } from '@libsql/client';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

export class LibsqlDialect implements Dialect {
  readonly #client: Client;
  constructor(client: Client) {
    this.#client = client;
  }
  createDriver(): Driver {
    return new LibsqlDriver(this.#client);
  }
  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }
  createIntrospector(db: Kysely<unknown>): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }
  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }
}

class LibsqlDriver implements Driver {
  readonly #client: Client;
  readonly #connection: LibsqlConnection;
  constructor(client: Client) {
    this.#client = client;
    this.#connection = new LibsqlConnection(client);
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async beginTransaction(): Promise<void> {
    await this.#client.execute('pragma synchronous = full');
    this.#connection.transaction = await this.#client.transaction('write');
  }
  async commitTransaction(): Promise<void> {
    const { transaction } = this.#connection;
    this.#connection.transaction = null;
    await transaction?.commit();
  }
  async rollbackTransaction(): Promise<void> {
    const { transaction } = this.#connection;
    this.#connection.transaction = null;
    // Unlike rollback(), close() is content when SQLite has rolled back by itself (a full disk).
    transaction?.close();
  }
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {
    this.#client.close();
  }
}

class LibsqlConnection implements DatabaseConnection {
  readonly #client: Client;
  transaction: Transaction | null = null;
  constructor(client: Client) {
    this.#client = client;
  }
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const statement = { sql: query.sql, args: query.parameters as InArgs };
    const result: ResultSet = await (this.transaction ?? this.#client).execute(statement);
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowsAffected) };
  }
  // biome-ignore lint/correctness/useYield: the port has it, nothing here streams
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported');
  }
}
