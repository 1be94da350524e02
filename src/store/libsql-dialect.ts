/**
 * Kysely over @libsql/client's SQLite, for single statements.
 *
 * `target` answers what executes them now: the client, or the transaction that
 * is open on it. Transactions are not made here but by the write queue: the
 * client opens connections lazily and without pragmas, and one commit may
 * carry many writes.
 */
import type { Client, InArgs } from '@libsql/client';
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
import { BugError } from '../errors.js';

/** A client or a transaction. */
export type Target = Pick<Client, 'execute'>;

export class LibsqlDialect implements Dialect {
  readonly #target: () => Target;
  constructor(target: () => Target) {
    this.#target = target;
  }
  createDriver(): Driver {
    return new LibsqlDriver(this.#target);
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
  readonly #connection: LibsqlConnection;
  constructor(target: () => Target) {
    this.#connection = new LibsqlConnection(target);
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }
  async releaseConnection(): Promise<void> {}
  beginTransaction = unsupported;
  commitTransaction = unsupported;
  rollbackTransaction = unsupported;
  /** The client is its maker's to close. */
  async destroy(): Promise<void> {}
}

class LibsqlConnection implements DatabaseConnection {
  readonly #target: () => Target;
  constructor(target: () => Target) {
    this.#target = target;
  }
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.#target().execute({ sql, args: parameters as InArgs });
    return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowsAffected) };
  }
  streamQuery = unsupported;
}

function unsupported(): never {
  throw new BugError('only single statements are executed here');
}
