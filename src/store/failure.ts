/**
 * What a driver's error means to the program: try again, tell the operator, or a bug.
 *
 * Messages name the operation, the actor and the cause. They never quote SQL,
 * a row or the database's URL, and the driver's error is not attached, because
 * it may.
 */
import pg from 'pg';
import { messageOf, RefusedError, TransientError } from '../errors.js';

/** No connection came; `reason` is the driver's error. */
export class ConnectFailure extends Error {
  readonly reason: unknown;
  constructor(reason: unknown) {
    super('no connection to the database');
    this.reason = reason;
  }
}

/** A database that is asleep, starting, full or away takes some seconds to be there again. */
const AWAY_RETRY_MS = 5_000;

/** The error to throw for `thrown`, met while doing `label` ("save devin-abc"). */
export function toStoreError(label: string, thrown: unknown): unknown {
  if (thrown instanceof TransientError || thrown instanceof RefusedError) return thrown;
  const connected = !(thrown instanceof ConnectFailure);
  const error = connected ? thrown : thrown.reason;
  switch (connected ? verdict(error) : connectVerdict(error)) {
    case 'again':
      return new TransientError(`${label}: ${causeOf(error)}`, {
        retryAfterMs: connected ? null : AWAY_RETRY_MS,
      });
    case 'refused':
      return new RefusedError(`${label}: ${causeOf(error)}`, { setting: 'DATABASE_URL' });
    case 'other':
      return error;
  }
}

/** Whether SQLite said that another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'].includes(sqliteCode(error) ?? '');
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

type Verdict = 'again' | 'refused' | 'other';

function verdict(error: unknown): Verdict {
  const sqlite = sqliteCode(error);
  if (sqlite !== null) {
    if (SQLITE_AGAIN.includes(sqlite)) return 'again';
    return SQLITE_REFUSED.includes(sqlite) ? 'refused' : 'other';
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

/**
 * What a failure to connect means. Hosted databases have many codes for being asleep, paused or full (XX000
 * among them), but few for a wrong URL; what a server did not say itself (TLS, a parameter) is the URL's too.
 */
function connectVerdict(error: unknown): Verdict {
  const known = verdict(error);
  if (known !== 'other') return known;
  return error instanceof pg.DatabaseError ? 'again' : 'refused';
}

/** The client's package is not imported to tell its errors: where PostgreSQL serves, it may not be there. */
function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== 'LibsqlError' || !('code' in error)) return null;
  return String(error.code);
}

const CERTIFICATE_ADVICE =
  'name its authority with sslrootcert=<file>, or encrypt without verifying with sslmode=no-verify';

function causeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error && error.code ? String(error.code) : '';
  // An AggregateError (several addresses tried) has no message of its own.
  const message = messageOf(error) || 'the database cannot be reached';
  const cause = code && !message.includes(code) ? `${message} (${code})` : message;
  return /CERT|VERIFY_LEAF/.test(code) ? `${cause}; ${CERTIFICATE_ADVICE}` : cause;
}
