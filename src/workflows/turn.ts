/**
 * One wake-up of a session's run: drives the actor until it waits for longer
 * than is worth a sleep of the run, and says for how long.
 *
 * Trouble that passes is a short sleep, never an error: a run that failed
 * would have to be missed by the cron before the session moves again.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { deployment } from '../deployment.js';
import { messageOf, RefusedError, TransientError } from '../errors.js';
import { assemble, type Parts } from '../parts.js';
import { stopping } from '../process.js';
import { type DriveAnswer, drive } from '../runtime/drive.js';
import { isAtRest } from '../runtime/level.js';

export type Turn =
  /** Nothing to do before that instant, in milliseconds of the wall's epoch. */
  | {
      readonly kind: 'sleeps';
      readonly untilAt: number;
      /** What was told before this instant, in the same time, the wake-up has seen. */
      readonly seenAt: number;
    }
  /** This run has nothing more to do; news or the cron start another. */
  | { readonly kind: 'rests'; readonly why: DriveAnswer['kind'] };

/** What one wake-up may take, by the wall; well inside a function's time. */
const BUDGET_MS = 45_000;
/** Shorter waits are spent inside the wake-up: a sleep of the run costs five events. */
const SHORT_MS = 6_000;
/** The engine sleeps whole seconds, at least one. */
const LEAST_SLEEP_MS = 1_000;
/** A run looks at its row at least this often. */
const MOST_SLEEP_MS = 10 * 60_000;
/** Another driver usually needs no longer than this; after `SHORT_MS` of that the end of its lease is awaited. */
const BUSY_MS = 500;
/** How far the clocks of those that ring may be behind. A ring that is missed all the same leaves the row due. */
const SKEW_MS = 500;
/** Pauses after trouble. */
const TROUBLE_MS = 15_000;
const REFUSED_MS = 60_000;

export async function takeTurn(sessionId: string): Promise<Turn> {
  const host = deployment();
  try {
    return await turn(await assemble(await host.base()), sessionId, host.speed);
  } catch (error) {
    host.log(`${sessionId}: ${messageOf(error)}`);
    if (error instanceof RefusedError) return sleepFor(REFUSED_MS);
    if (error instanceof TransientError) return sleepFor(Math.max(error.retryAfterMs ?? 0, TROUBLE_MS));
    throw error;
  }
}

async function turn(parts: Parts, sessionId: string, speed: number): Promise<Turn> {
  const { store, kind, clock, log } = parts;
  const startedAt = performance.now();
  const endAt = startedAt + BUDGET_MS;
  // A name of its own: the lease lets the same owner in twice.
  const deps = { store, kind, clock, log, owner: `run-${randomUUID()}`, random: Math.random };
  const settle = stopping();
  for (;;) {
    const leftMs = endAt - performance.now();
    const answer = await drive(deps, sessionId, { budgetMs: leftMs, settle });
    const seenAt = answer.kind === 'rests' ? Date.now() - SKEW_MS : 0;
    const patient = answer.kind === 'busy' && performance.now() - startedAt < SHORT_MS;
    const waitMs = patient ? BUSY_MS : waitOf(answer, parts, speed);
    if (waitMs === null) return { kind: 'rests', why: answer.kind };
    if (settle.aborted || waitMs > Math.min(SHORT_MS, endAt - performance.now())) {
      return sleepFor(waitMs, seenAt);
    }
    await pause(waitMs, undefined, { signal: settle }).catch(() => undefined);
  }
}

const sleepFor = (ms: number, seenAt = 0): Turn => ({
  kind: 'sleeps',
  untilAt: Date.now() + Math.min(MOST_SLEEP_MS, Math.max(LEAST_SLEEP_MS, ms)),
  seenAt,
});

/** How long the answer leaves the actor alone, in milliseconds of the wall; null: this run is not needed. */
function waitOf(answer: DriveAnswer, { kind, clock }: Parts, speed: number): number | null {
  switch (answer.kind) {
    case 'rests':
      if (isAtRest(kind, answer.state)) return null;
      return answer.wakeAt === null ? MOST_SLEEP_MS : wallMs(answer.wakeAt - clock.now(), speed);
    case 'busy':
      // The database measures leases by the wall, however fast the clock is.
      return wallMs(answer.wakeAt - clock.now(), 1);
    case 'stale':
    case 'more':
      return LEAST_SLEEP_MS;
    case 'superseded':
    case 'quarantined':
    case 'absent':
      return null;
  }
}

const wallMs = (ms: number, speed: number): number => Math.max(0, Math.ceil(ms / speed));
