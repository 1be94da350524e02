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
import { messageOf } from '../errors.js';
import { createLooker, createSweeper, type Parts } from '../parts.js';
import type { Runs } from '../ports/runs.js';
import type { Store } from '../ports/store.js';
import { Poller } from '../runtime/poller.js';
import { HandOver } from './hand-over.js';

export interface PassOptions {
  readonly parts: Parts;
  readonly runs: Runs;
  /** How long the pass looks, by the wall. */
  readonly windowMs: number;
  /** Ends the pass early and in order. */
  readonly signal?: AbortSignal;
}

export type PassReport =
  | { readonly kind: 'passed'; readonly problem: string | null }
  /** Another pass was at it for all of the time that this one could wait. */
  | { readonly kind: 'overlapped' };

/** The setting that holds when a pass last looked at the queue, in milliseconds of the wall. */
export const LAST_LOOK = 'last-look';

/** A pass looks for this long, and has settled when the next one is due. */
export const WINDOW_MS = 57_000;

/** A pass that is silent for this long is taken to be dead. */
const LEAD_MS = 12_000;
const KEEP_EVERY_MS = 4_000;
const NOTE_EVERY_MS = 20_000;
/** The sweep is due this long after the last one began, whichever pass that was. */
const SWEEP_EVERY_MS = 55_000;
/** How long actors that are being moved may take to settle at the end. */
const SETTLE_MS = 3_000;
/** Runs wake by themselves; what is due for longer than this has none, or a stuck one. */
const GRACE_MS = 5_000;

export async function runPass({ parts, runs, windowMs, signal }: PassOptions): Promise<PassReport> {
  const { store } = parts;
  const owner = randomUUID();
  const window = AbortSignal.timeout(Math.max(0, Math.round(windowMs)));
  const over = AbortSignal.any([window, ...(signal ? [signal] : [])]);
  if (!(await becomeLeader(parts, owner, over))) return { kind: 'overlapped' };
  const lost = new AbortController();
  const keeping = keepLeading(parts, owner, lost);
  try {
    const problem = await look(parts, runs, owner, AbortSignal.any([over, lost.signal]));
    return { kind: 'passed', problem };
  } finally {
    clearInterval(keeping);
    await store.unlead('pass', owner).catch(() => undefined);
  }
}

async function look(parts: Parts, runs: Runs, owner: string, over: AbortSignal): Promise<string | null> {
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
    pollIntervalMs: config.pollIntervalMs,
    random: Math.random,
    log,
    onLook: noteLooks(store),
  });
  const sweep = async () => {
    await dispatcher.looked;
    if (over.aborted || !(await store.lead('sweep', owner, SWEEP_EVERY_MS))) return;
    await createSweeper(parts, looker, (id) => poller.kick(id)).sweep(over);
  };

  await looker.learnActors();
  const looking = dispatcher.run();
  const polling = dispatcher.looked.then(() => poller.run());
  const sweeping = sweep().catch((error) => {
    if (!over.aborted) log(`the sweep failed: ${messageOf(error)}`);
  });
  await aborted(over);
  dispatcher.stop();
  await poller.stop(SETTLE_MS);
  await Promise.allSettled([looking, polling, sweeping, handOver.settled()]);
  return dispatcher.problem;
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

/** Waits for a leader to end or to fall silent; false when it outlasts what a silent one could. */
async function becomeLeader({ store }: Parts, owner: string, over: AbortSignal): Promise<boolean> {
  for (const giveUpAt = performance.now() + LEAD_MS + KEEP_EVERY_MS; !over.aborted; ) {
    if (await store.lead('pass', owner, LEAD_MS)) return true;
    if (performance.now() > giveUpAt) return false;
    await pause(500, undefined, { signal: over }).catch(() => undefined);
  }
  return false;
}

function keepLeading({ store }: Parts, owner: string, lost: AbortController): NodeJS.Timeout {
  return setInterval(() => {
    store.lead('pass', owner, LEAD_MS).then(
      (leads) => leads || lost.abort(),
      // The next turn may succeed, and a second pass does no harm.
      () => undefined,
    );
  }, KEEP_EVERY_MS);
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
