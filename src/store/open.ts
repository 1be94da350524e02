/**
 * Opens the store that DATABASE_URL names.
 *
 * A file is SQLite, which needs nothing else; a server is PostgreSQL. What the
 * store promises is in src/ports/store.ts and the same for both.
 */
import { RefusedError } from '../errors.js';
import type { Store } from '../ports/store.js';
import { actorQueries } from './actors.js';
import type { Backend } from './backend.js';
import { dispatchQueries } from './dispatch.js';
import { journalQueries } from './journal.js';
import { lookingQueries } from './looking.js';
import { openPostgres } from './postgres.js';
import { settingQueries } from './settings.js';
import { openSqlite } from './sqlite.js';

export interface StoreOptions {
  /** Largest number of PostgreSQL connections; 4 unless given. SQLite has no use for it. */
  readonly maxConnections?: number;
}

/**
 * Connects, migrates and answers the store.
 * Throws RefusedError when the URL is of no use or the schema is newer than this program, TransientError
 * when the database is locked or away. No message repeats the URL.
 */
export async function openStore(databaseUrl: string, options: StoreOptions = {}): Promise<Store> {
  return storeOver(await openBackend(databaseUrl, options.maxConnections ?? 4));
}

function openBackend(url: string, maxConnections: number): Promise<Backend> {
  if (url.startsWith('file:')) return openSqlite(url);
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return openPostgres(url, maxConnections);
  throw new RefusedError(
    'DATABASE_URL should be file:<path> for SQLite, or postgres://<user>:<password>@<host>/<database> for PostgreSQL',
    { setting: 'DATABASE_URL' },
  );
}

function storeOver(backend: Backend): Store {
  return {
    dialect: backend.dialect,
    ...settingQueries(backend),
    ...actorQueries(backend),
    ...dispatchQueries(backend),
    ...lookingQueries(backend),
    ...journalQueries(backend),
    close: () => backend.close(),
  };
}
