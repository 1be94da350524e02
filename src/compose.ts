/**
 * Wires one long-lived orchestrator out of its parts, and stops it in order.
 *
 * The only place that knows them all. It decides nothing about sessions.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { SessionContext } from '../machines/session/context.js';
import type { Config } from './config/index.js';
import type { FleetView, Health } from './dashboard/view.js';
import { Dispatcher } from './dispatch/dispatcher.js';
import { ExitWatch } from './dispatch/exit-watch.js';
import type { Looker } from './dispatch/look.js';
import { BugError, messageOf } from './errors.js';
import { assemble, type BaseOptions, createLooker, createSweeper, openBase, type Parts } from './parts.js';
import type { Store } from './ports/store.js';
import type { ActorKind } from './runtime/actor.js';
import type { Transition } from './runtime/drive.js';
import { Poller } from './runtime/poller.js';
import { restore } from './runtime/saved.js';
import { fleetView } from './view.js';

const SWEEP_EVERY_MS = 60_000;
/** Another process's sweep is taken over when it is silent for this long. */
const SWEEP_LEASE_MS = 90_000;
/** How long running effects may take to end at a stop, by the wall clock. */
export const SETTLE_MS = 10_000;

export interface ComposeOptions extends Omit<BaseOptions, 'storeOptions'> {
  /** How many times as fast as the wall the clock runs. */
  readonly speed: number;
  onTransition?(transition: Transition): void;
}

export interface Orchestrator {
  readonly store: Store;
  /** Begins to serve; rejects only when that is impossible. */
  start(): Promise<void>;
  /** Claims nothing new from now on. */
  drain(): void;
  /** Asks every session that holds a vm to be saved and released. */
  snapshotAll(): Promise<void>;
  /** Ends loops, settles or aborts running effects, closes the store. Remotes are left running. */
  stop(settleMs?: number): Promise<void>;
  view(): Promise<FleetView>;
  health(): Promise<Health>;
  /** Posts news for a session's actor; false when there is none. */
  tell(sessionId: string, event: { type: string }): Promise<boolean>;
  /** An operator's retry: out of quarantine, parking or cooling off. */
  retry(sessionId: string): Promise<boolean>;
  /** Resolves when something that `view` shows may have changed. */
  changed(signal: AbortSignal): Promise<void>;
}

export async function createOrchestrator(options: ComposeOptions): Promise<Orchestrator> {
  const { config } = options;
  // A wait is held on every remote, so its end is told to us at once, and no doorbell has to be rung.
  const told = { ...config, unheardProbeIntervalMs: config.probeIntervalMs, publicUrl: null };
  const base = await openBase({ ...options, config: told });
  try {
    return wire(await assemble(base), options);
  } catch (error) {
    await base.store.close();
    throw error;
  }
}

function wire(parts: Parts, { speed, onTransition }: ComposeOptions): Orchestrator {
  const { config, clock, fleet, host, kind, log, store } = parts;
  const notifier = createNotifier();
  const exits = new ExitWatch({ host, store, clock, kick: (id) => poller.kick(id) });
  const poller: Poller = new Poller({
    store,
    kind,
    clock,
    owner: `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`,
    random: Math.random,
    log,
    onTransition(transition) {
      const context = transition.context as SessionContext;
      exits.follow(transition.id, transition.to, context);
      if (transition.to === 'ended') looker.forget(transition.id);
      if (transition.freedSlot) dispatcher.nudge();
      onTransition?.(transition);
      notifier.notify();
    },
  });
  const looker: Looker = createLooker(parts, {
    settle: (id) => poller.settle(id),
    kick: (id) => poller.kick(id),
  });
  const dispatcher = new Dispatcher({
    fleet,
    looker,
    clock,
    pollIntervalMs: config.pollIntervalMs,
    random: Math.random,
    log,
  });
  const sweeper = createSweeper(parts, looker, (id) => poller.kick(id));

  const stopping = new AbortController();
  const owner = randomBytes(8).toString('hex');
  let sweepTrouble: string | null = null;
  const sweeps = async () => {
    for (let count = 1; !stopping.signal.aborted; count++) {
      await clock.sleep(SWEEP_EVERY_MS, stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        if (await store.lead('sweep', owner, SWEEP_LEASE_MS)) await sweeper.sweep(stopping.signal);
        if (count % 10 === 0) await looker.learnActors();
        sweepTrouble = null;
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (sweepTrouble === null) log(`the sweep failed: ${messageOf(error)}`);
        sweepTrouble = messageOf(error);
      }
    }
  };
  const loops: Promise<unknown>[] = [];
  const problems = () =>
    [
      dispatcher.problem && `the queue cannot be read: ${dispatcher.problem}`,
      poller.problem && `sessions cannot be moved: ${poller.problem}`,
      sweepTrouble && `the sweep fails: ${sweepTrouble}`,
    ].filter((problem): problem is string => typeof problem === 'string');

  return {
    store,
    async start() {
      await looker.learnActors();
      await followServing(store, kind, exits);
      // Deadlines that passed while nobody looked are judged by what the queue says now.
      loops.push(
        dispatcher.run(),
        dispatcher.looked.then(() => poller.run()),
        sweeps(),
      );
    },
    drain: () => void dispatcher.drain(),
    async snapshotAll() {
      await dispatcher.drain();
      for await (const row of allRows(store, kind.name)) {
        if (row.holdsSlot && row.quarantine === null) await post(row.id, { type: 'drain.requested' });
      }
    },
    async stop(settleMs = SETTLE_MS) {
      stopping.abort(new Error('the orchestrator is stopping'));
      dispatcher.stop();
      exits.stop();
      await poller.stop(settleMs);
      await Promise.race([Promise.allSettled(loops), pause(1_000, undefined, { ref: false })]);
      await store.unlead('sweep', owner).catch(() => undefined);
      await store.close();
    },
    view: () =>
      fleetView({
        store,
        kind,
        maxConcurrent: config.maxConcurrent,
        speed,
        now: () => clock.now(),
        problems,
      }),
    async health() {
      const { states, slots, quarantined } = await store.counts(kind.name);
      const details = { lastLookAt: dispatcher.lookedAt, slots, states, quarantined, problems: problems() };
      return dispatcher.lookedAt === null
        ? { kind: 'unready', reason: dispatcher.problem ?? 'the first look at the queue is under way' }
        : { kind: 'ready', details };
    },
    tell: post,
    async retry(sessionId) {
      if (!(await store.readmit(sessionId))) return post(sessionId, { type: 'retry.requested' });
      poller.kick(sessionId);
      return true;
    },
    changed: (signal) => notifier.next(signal),
  };

  async function post(id: string, event: { type: string }): Promise<boolean> {
    const posted = await store.post(id, JSON.stringify(event));
    if (posted) poller.kick(id);
    return posted;
  }
}

/** After a restart: takes up the waits of sessions that are being served. */
async function followServing(store: Store, kind: ActorKind, exits: ExitWatch) {
  for await (const row of allRows(store, kind.name)) {
    if (!row.holdsSlot || row.quarantine !== null) continue;
    const restored = restore(kind, row);
    if (restored.kind === 'restored')
      exits.follow(row.id, row.state, restored.snapshot.context as SessionContext);
  }
}

async function* allRows(store: Store, machine: string) {
  const limit = 500;
  for (let after: string | undefined; ; ) {
    const rows = await store.list({ machine, limit, ...(after === undefined ? {} : { after }) });
    yield* rows;
    after = rows.at(-1)?.id;
    if (rows.length < limit) return;
  }
}

function createNotifier() {
  let waiting = new Set<() => void>();
  return {
    notify(): void {
      const woken = waiting;
      waiting = new Set();
      for (const wake of woken) wake();
    },
    next(signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = () => {
          signal.removeEventListener('abort', wake);
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      });
    },
  };
}

/** The accounts of a configuration that has them. */
export function withAccounts(config: Config, accounts: Config['accounts']): ComposeOptions['config'] {
  const chosen = config.accounts ?? accounts;
  if (chosen === null) throw new BugError('no accounts to serve with');
  return { ...config, accounts: chosen };
}
