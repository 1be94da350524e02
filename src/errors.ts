/**
 * What can go wrong at an edge, sorted by what the program does next.
 *
 * Expected outcomes (claim taken, entry gone, vm stopped) are results, never
 * errors. Messages name the operation, the object and the cause; they never
 * carry a token, a verifier or a body.
 */

/** Network, 429, 5xx, a timeout, a locked database: try again later. */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
  /** Earliest time to try again, in milliseconds from now, when the other side said so. */
  readonly retryAfterMs: number | null;
  constructor(message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** An answer that its schema rejects. Treated as transient; names the failing path, never the body. */
export class ContractError extends TransientError {
  override readonly name = 'ContractError';
}

/**
 * What was refused: everything, until the operator mends a setting or an account; or the data of one session
 * (its row, its allow list), which no patience mends.
 */
export type RefusalScope = 'installation' | 'session';

/** 401, 402, 403, 422 or bad configuration. `setting` names what the operator should look at. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly setting: string;
  readonly scope: RefusalScope;
  constructor(message: string, options: { setting: string; scope?: RefusalScope; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.setting = options.setting;
    this.scope = options.scope ?? 'installation';
  }
}

/** This driver no longer holds the row: its lease ended or another driver moved it. Stop at once, write nothing. */
export class StaleDriverError extends Error {
  override readonly name = 'StaleDriverError';
}

/** An invariant of this program is broken. */
export class BugError extends Error {
  override readonly name = 'BugError';
}

/** The message of anything that was thrown, at most `limit` characters. */
export function messageOf(error: unknown, limit = 300): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
