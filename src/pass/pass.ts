/**
 * One bounded pass: watches the queue for a window of time, claims what is new
 * and hands every session that has something to do to its run.
 *
 * Passes may overlap or be cut at any point: everything they do is a saved
 * fact, a grant or a claim that the next pass finds. One at a time looks at the
 * queue, so that a second one costs no calls; it waits for the first to end or
 * to fall silent.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Dispatcher } from '../dispatch/dispatcher.js';
import type { Looker } from '../dispatch/look.js';
import { messageOf, TransientError } from '../errors.js';
import { createLooker, createSweeper, type Parts } from '../parts.js';
import type { Runs } from '../ports/runs.js';
import type { Store } from '../ports/store.js';
import { Poller } from '../runtime/poller.js';
import { HandOver } from './hand-over.js';
import { becomeLeader, keepLeading } from './lead.js';
import { takeOver } from './take-over.js';

export interface PassOptions {
  readonly parts: Parts;
  readonly runs: Runs;
  /** How long the pass looks, by the wall. */
  readonly windowMs: number;
  /** Of several deployments, the one that the cron calls; null: there is only this program. */
  readonly deploymentId?: string | null;
  /** Ends the pass early and in order. */
  readonly signal?: AbortSignal;
}

export type PassReport =
  | { readonly kind: 'passed'; readonly problem: string | null }
  /** Another pass was at it for all of the time that this one could wait. */
  | { readonly kind: 'overlapped' };

/** The setting that holds when a pass last looked at the queue, in milliseconds of the wall. */
export const LAST_LOOK = 'last-look';
/** The setting that holds what keeps passes from their work, in words; empty: nothing. */
export const LAST_PROBLEM = 'pass-problem';

/** A pass looks for this long, and has settled when the next one is due. */
export const WINDOW_MS = 57_000;

/** A row is missing when two looks of one pass have not seen it: whatever the setting says, a pass has two. */
const MOST_BETWEEN_LOOKS_MS = WINDOW_MS / 2;
const NOTE_EVERY_MS = 20_000;
const NOTE_PROBLEM_EVERY_MS = 3_000;
/** A pass that cannot reach the store at its start. */
const TRIES = 3;
const TRY_AGAIN_MS = 1_000;
/** The sweep is due this long after the last one began, whichever pass that was. */
const SWEEP_EVERY_MS = 55_000;
const TRY_SWEEP_EVERY_MS = 10_000;
/** Runs wake by themselves; what is due for longer than this has none, or a stuck one. */
const GRACE_MS = 5_000;
/** At the end: how long drives may take, then rings, and all of it at most. */
const SETTLE_MS = { drives: 3_000, rings: 3_000, most: 8_000 };

/** Rejects with TransientError while the store is away. Ends within the window and some seconds. */
export async function runPass(options: PassOptions): Promise<PassReport> {
  const { parts, runs, windowMs, deploymentId = null, signal } = options;
  const { store } = parts;
  const owner = randomUUID();
  const over = new AbortController();
  const end = () => over.abort();
  // A timer of our own: the signal of AbortSignal.timeout is lost to garbage collection when another is made of it.
  const closing = setTimeout(end, Math.max(0, Math.round(windowMs)));
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  try {
    if (!(await patiently(() => becomeLeader(store, owner, over.signal), over.signal)))
      return { kind: 'overlapped' };
    const stepDown = keepLeading(store, owner, end);
    let settle: () => Promise<string | null>;
    try {
      await takeOver(parts, runs, deploymentId, over.signal);
      settle = await startLooking(parts, runs, owner, over.signal);
      await aborted(over.signal);
    } finally {
      // Before this pass has settled: the next one need not wait for that.
      await stepDown();
    }
    return { kind: 'passed', problem: await settle() };
  } finally {
    clearTimeout(closing);
    signal?.removeEventListener('abort', end);
  }
}

/** Looks, claims and hands over until `over`; the answer then settles what is under way, and tells the last problem. */
async function startLooking(
  parts: Parts,
  runs: Runs,
  owner: string,
  over: AbortSignal,
): Promise<() => Promise<string | null>> {
  const { store, kind, clock, log, fleet, config } = parts;
  const handOver = new HandOver({ store, runs, log });
  const poller: Poller = new Poller({
    store,
    kind,
    clock,
    log,
    owner: `pass-${owner}`,
    random: Math.random,
    // A claim is milliseconds; everything else is the run's, which may take its time.
    performs: (effect) => effect === 'claimSession',
    graceMs: GRACE_MS,
    onTransition(transition) {
      handOver.noteMove(transition.id);
      if (transition.to === 'ended') looker.forget(transition.id);
      if (transition.freedSlot) dispatcher.nudge();
    },
    onAnswer: (id, answer) => handOver.take(id, answer, kind),
  });
  const looker: Looker = createLooker(parts, {
    settle: (id) => poller.settle(id),
    kick: (id) => poller.kick(id),
  });
  const dispatcher: Dispatcher = new Dispatcher({
    fleet,
    looker,
    clock,
    pollIntervalMs: Math.min(config.pollIntervalMs, MOST_BETWEEN_LOOKS_MS),
    random: Math.random,
    log,
    mayGrant: () => handOver.mayBegin(),
    onLook: noteLooks(store),
  });
  const problem = () => dispatcher.problem ?? handOver.problem;
  const noteProblem = problemNoter(store, problem);

  await Promise.all([looker.learnActors(), handOver.ask()]);
  void dispatcher.run();
  const polling = dispatcher.looked.then(() => poller.run());
  const noting = setInterval(noteProblem, NOTE_PROBLEM_EVERY_MS);
  const sweeping = dispatcher.looked.then(() => keepSweeping(parts, looker, poller, over));
  return async () => {
    clearInterval(noting);
    noteProblem();
    dispatcher.stop();
    const settled = (async () => {
      await poller.stop(SETTLE_MS.drives);
      await handOver.close(SETTLE_MS.rings);
      await Promise.allSettled([dispatcher.drain(), polling, sweeping]);
    })();
    const enough = new AbortController();
    await Promise.race([
      settled,
      pause(SETTLE_MS.most, undefined, { signal: enough.signal }).catch(() => undefined),
    ]);
    enough.abort();
    return problem();
  };
}

/** Sweeps whenever the last sweep of any pass was long enough ago. */
async function keepSweeping(parts: Parts, looker: Looker, poller: Poller, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      // A name of its own each time: a lease lets its owner in again.
      if (await parts.store.lead('sweep', randomUUID(), SWEEP_EVERY_MS))
        await createSweeper(parts, looker, (id) => poller.kick(id)).sweep(over);
    } catch (error) {
      if (!over.aborted) parts.log(`the sweep failed: ${messageOf(error)}`);
    }
    await pause(TRY_SWEEP_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
  }
}

/** Tells health what stands in the way, whenever it changes. */
function problemNoter(store: Store, problem: () => string | null): () => void {
  let noted: string | null | undefined;
  return () => {
    const now = problem();
    if (now === noted) return;
    noted = now;
    store.writeSetting(LAST_PROBLEM, now ?? '').catch(() => {
      noted = undefined;
    });
  };
}

/** A connection that broke while nobody used it costs a moment, not a minute. */
async function patiently<T>(act: () => Promise<T>, over: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof TransientError) || tries === TRIES) throw error;
      await pause(TRY_AGAIN_MS, undefined, { signal: over }).catch(() => undefined);
      if (over.aborted) throw error;
    }
  }
}

/** Keeps on record that the queue is being looked at, now and then. */
function noteLooks(store: Store): () => void {
  let notedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - notedAt < NOTE_EVERY_MS) return;
    notedAt = performance.now();
    store.writeSetting(LAST_LOOK, String(Date.now())).catch(() => undefined);
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
