/**
 * Opens the store that DATABASE_URL names.
 *
 * A file is SQLite, which needs nothing else; a server is PostgreSQL. What the
 * store promises is in src/ports/store.ts and the same for both.
 */
import type { Pool } from 'pg';
import { RefusedError } from '../errors.js';
import type { Store, StoreReader } from '../ports/store.js';
import { actorQueries } from './actors.js';
import type { Backend } from './backend.js';
import { dispatchQueries } from './dispatch.js';
import { journalQueries, journalReading } from './journal.js';
import { lookingQueries } from './looking.js';
import { openPostgres, openPostgresReader } from './postgres.js';
import { secretQueries } from './secrets.js';
import { settingQueries } from './settings.js';

export interface StoreOptions {
  /** Largest number of PostgreSQL connections; 4 unless given. SQLite has no use for it. */
  readonly maxConnections?: number;
  /** How long an idle PostgreSQL connection stays open, in milliseconds; ten seconds unless given. */
  readonly idleTimeoutMs?: number;
  /** Given the PostgreSQL pool before its first use, for a platform that looks after idle connections. */
  readonly onPool?: (pool: Pool) => void;
}

/**
 * Connects, migrates and answers the store.
 * Throws RefusedError when the URL is of no use or the schema is newer than this program, TransientError
 * when the database is locked or away. No message repeats the URL.
 */
export async function openStore(databaseUrl: string, options: StoreOptions = {}): Promise<Store> {
  return storeOver(await openBackend(databaseUrl, options));
}

/**
 * Connects to look: neither makes nor migrates nor writes anything.
 * Throws as `openStore`, and RefusedError when the database is not there or its schema is not this program's.
 */
export async function openReader(databaseUrl: string): Promise<StoreReader> {
  const backend =
    dialectOf(databaseUrl) === 'sqlite'
      ? await (await importSqlite()).openSqliteReader(databaseUrl)
      : await openPostgresReader(databaseUrl);
  return {
    dialect: backend.dialect,
    ...lookingQueries(backend),
    ...journalReading(backend),
    close: () => backend.close(),
  };
}

async function openBackend(url: string, options: StoreOptions): Promise<Backend> {
  if (dialectOf(url) === 'postgres') return openPostgres(url, options);
  const { openSqlite } = await importSqlite();
  return openSqlite(url);
}

function dialectOf(url: string): Store['dialect'] {
  if (url.startsWith('file:')) return 'sqlite';
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return 'postgres';
  throw new RefusedError(
    'DATABASE_URL should be file:<path> for SQLite, or postgres://<user>:<password>@<host>/<database> for PostgreSQL',
    { setting: 'DATABASE_URL' },
  );
}

/** Only when it is needed: a bundle for functions goes without SQLite's native library. */
async function importSqlite(): Promise<typeof import('./sqlite.js')> {
  try {
    return await import('./sqlite.js');
  } catch (cause) {
    throw new RefusedError(
      'this installation has no SQLite library, so DATABASE_URL should be postgres://<user>:<password>@<host>/<database>',
      { setting: 'DATABASE_URL', cause },
    );
  }
}

function storeOver(backend: Backend): Store {
  return {
    dialect: backend.dialect,
    ...settingQueries(backend),
    ...actorQueries(backend),
    ...dispatchQueries(backend),
    ...lookingQueries(backend),
    ...journalQueries(backend),
    ...secretQueries(backend),
    close: () => backend.close(),
  };
}
