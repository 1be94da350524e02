/**
 * What a driver's error means to the program: try again, tell the operator, or a bug.
 *
 * Messages name the operation, the actor and the cause. They never quote SQL,
 * a row or the database's URL, and the driver's error is not attached, because
 * it may.
 */
import { LibsqlError } from '@libsql/client';
import pg from 'pg';
import { messageOf, RefusedError, TransientError } from '../errors.js';

/** The error to throw for `error`, met while doing `label` ("save devin-abc"). */
export function toStoreError(label: string, error: unknown): unknown {
  if (error instanceof TransientError || error instanceof RefusedError) return error;
  switch (verdict(error)) {
    case 'again':
      return new TransientError(`${label}: ${causeOf(error)}`);
    case 'refused':
      return new RefusedError(`${label}: ${causeOf(error)}`, { setting: 'DATABASE_URL' });
    case 'other':
      return error;
  }
}

/** Whether SQLite said that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof LibsqlError && ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'].includes(error.code)
  );
}

/** Whether a PostgreSQL connection is of no further use after `error`. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0)/.test(error.code ?? '');
  return verdict(error) === 'again';
}

const SQLITE_AGAIN = [
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
  'SQLITE_IOERR',
  'SQLITE_FULL',
  'SQLITE_NOMEM',
];
const SQLITE_REFUSED = [
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
  'SQLITE_NOTADB',
  'SQLITE_CORRUPT',
  'SQLITE_PERM',
];

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRES_AGAIN = /^(08|53|58|57P0[1-5]|57014|40001|40P01|55P03|25006|25P0[34])/;
/** Wrong credentials, no such database, no permission. */
const POSTGRES_REFUSED = /^(28|3D000|42501)/;

const NETWORK_AGAIN = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
];
/** What pg and its pool throw without a code when a connection breaks or does not come. */
const POSTGRES_BROKEN =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed)|Postgres connection has been discarded)/;

function verdict(error: unknown): 'again' | 'refused' | 'other' {
  if (error instanceof LibsqlError) {
    if (SQLITE_AGAIN.includes(error.code)) return 'again';
    return SQLITE_REFUSED.includes(error.code) ? 'refused' : 'other';
  }
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    if (POSTGRES_AGAIN.test(code)) return 'again';
    return POSTGRES_REFUSED.test(code) ? 'refused' : 'other';
  }
  if (!(error instanceof Error)) return 'other';
  const code = 'code' in error ? String(error.code) : '';
  return NETWORK_AGAIN.includes(code) || POSTGRES_BROKEN.test(error.message) ? 'again' : 'other';
}

function causeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error && error.code ? String(error.code) : '';
  // An AggregateError (several addresses tried) has no message of its own.
  const message = messageOf(error) || 'the database cannot be reached';
  return code && !message.includes(code) ? `${message} (${code})` : message;
}
