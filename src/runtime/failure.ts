/** What a failed try of an effect means: when it is tried again, and what the operator reads meanwhile. */
import { messageOf, RefusedError, TransientError } from '../errors.js';

/** Pause before a refused effect is tried again. */
const REFUSED_RETRY_MS = 60_000;
/** Backoff of a failed effect: doubles from the first to the last, with jitter. */
const RETRY_MS = { first: 1_000, most: 30_000 };

export interface Failure {
  readonly message: string;
  readonly problem: string;
  /** Whether it wears the effect's patience: only the operator can mend what the whole installation is refused. */
  readonly counts: boolean;
  /** Failed tries that count, this one included. */
  readonly attempt: number;
  readonly pauseMs: number;
}

/** `before`: failed tries that count so far. `random`: in [0, 1). */
export function failureOf(error: unknown, effect: string, before: number, random: number): Failure {
  const message = messageOf(error);
  const shown = error instanceof RefusedError ? `${message} (${error.setting})` : message;
  if (error instanceof RefusedError && error.scope === 'installation')
    return { message, problem: shown, counts: false, attempt: before, pauseMs: REFUSED_RETRY_MS };
  const attempt = before + 1;
  const askedMs = error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0;
  return {
    message,
    problem: `${shown}; try ${attempt} of ${effect} failed`,
    counts: true,
    attempt,
    pauseMs: Math.max(askedMs, backoffMs(attempt, random)),
  };
}

/** Half of the pause is fixed, half is jitter. */
function backoffMs(attempt: number, random: number): number {
  const pauseMs = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** (attempt - 1));
  return pauseMs / 2 + (pauseMs / 2) * random;
}
