/**
 * The operator's page of a deployment: what it shows, and what its buttons do.
 * Who may see it is the admission's business.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Hono } from 'hono';
import type { Admission } from '../dashboard/admission.js';
import { createDashboard } from '../dashboard/index.js';
import type { ActionAnswer, FleetView, Health } from '../dashboard/view.js';
import type { Deployment } from '../deployment.js';
import { SESSIONS } from '../effects/session-kind.js';
import { assemble } from '../parts.js';
import type { Runs } from '../ports/runs.js';
import type { Store } from '../ports/store.js';
import { fleetView } from '../view.js';
import type { DeploymentHealth } from './health.js';

export interface PageDeps {
  readonly deployment: Deployment;
  readonly runs: Runs;
  readonly admission: Admission;
  readonly world: 'local' | 'deployed';
  health(): Promise<DeploymentHealth>;
}

/** How often the page is drawn anew, by the wall. */
const REFRESH_MS = { local: 1_000, deployed: 3_000 };
/** A function's time is bounded, and the page comes back by itself. */
const STREAM_MS = 20_000;

export function createPage({ deployment, runs, admission, world, health }: PageDeps): Hono {
  return createDashboard({
    view: () => view(deployment, health),
    changes: (signal) => nowAndThen(signal, REFRESH_MS[world], deployment.onVercel ? STREAM_MS : Infinity),
    health: async () => healthOf(await health()),
    actions: {
      stop: (id) => tell(id, 'stop.requested', 'is being stopped; its files are kept'),
      retry: async (id) => {
        const { store } = await deployment.base();
        if (id !== undefined && (await isSession(store, id)) && (await store.readmit(id))) {
          await runs.ring(id);
          return { ok: true, message: `${id} is tried again.` };
        }
        return tell(id, 'retry.requested', 'is tried again');
      },
    },
    admission,
    title: 'Devin Outposts',
    world,
    log: deployment.log,
  });

  async function tell(id: string | undefined, type: string, done: string): Promise<ActionAnswer> {
    const { store } = await deployment.base();
    if (
      id === undefined ||
      !(await isSession(store, id)) ||
      !(await store.post(id, JSON.stringify({ type })))
    )
      return { ok: false, message: `There is no session ${id}.` };
    await runs.ring(id);
    return { ok: true, message: `${id} ${done}.` };
  }
}

/** Other actors are in the same table, and understand other news. */
const isSession = async (store: Store, id: string) => (await store.read(id))?.machine === SESSIONS;

async function view(deployment: Deployment, health: PageDeps['health']): Promise<FleetView> {
  const parts = await assemble(await deployment.base());
  const { problems } = await health();
  return fleetView({
    store: parts.store,
    kind: parts.kind,
    maxConcurrent: parts.config.maxConcurrent,
    speed: deployment.speed,
    now: () => deployment.clock.now(),
    problems: () => [...problems],
  });
}

function healthOf({ status, problems, ...details }: DeploymentHealth): Health {
  return status === 'unready'
    ? { kind: 'unready', reason: problems.join('; ') }
    : { kind: 'ready', details: { ...details, problems } };
}

async function* nowAndThen(signal: AbortSignal, everyMs: number, forMs: number): AsyncIterable<void> {
  const endAt = performance.now() + forMs;
  while (!signal.aborted && performance.now() < endAt) {
    await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) yield;
  }
}
