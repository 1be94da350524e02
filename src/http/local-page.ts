/**
 * The operator's page of a server on this machine.
 *
 * Only for who reaches it directly on loopback. A request that came through a
 * proxy may be anybody's, whatever its Host says, and finds nothing here.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Context, Hono } from 'hono';
import { describeProblems } from '../config/index.js';
import { localAdmission } from '../dashboard/guard.js';
import { createDashboard } from '../dashboard/index.js';
import type { ActionAnswer, FleetView, Health } from '../dashboard/view.js';
import type { Deployment } from '../deployment.js';
import { assemble } from '../parts.js';
import type { Runs } from '../ports/runs.js';
import { fleetView } from '../view.js';
import type { DeploymentHealth } from './health.js';

/** How often the page is drawn anew, by the wall. */
const REFRESH_MS = 1_000;
const FORWARDED = /^(forwarded|via|x-real-ip|x-forwarded-.*|cf-.*|true-client-ip)$/;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

export interface LocalPageDeps {
  readonly deployment: Deployment;
  readonly runs: Runs;
  health(): Promise<DeploymentHealth>;
}

export function localPage({ deployment, runs, health }: LocalPageDeps): Hono {
  const hosts: string[] = [];
  const page = createDashboard({
    view: () => view(deployment, health),
    changes: everySecond,
    health: async () => healthOf(await health()),
    actions: {
      stop: (id) => tell(id, 'stop.requested', 'is being stopped; its files are kept'),
      retry: async (id) => {
        const { store } = await deployment.base();
        if (id !== undefined && (await store.readmit(id))) {
          await runs.ring(id);
          return { ok: true, message: `${id} is tried again.` };
        }
        return tell(id, 'retry.requested', 'is tried again');
      },
    },
    admission: localAdmission(randomBytes(24).toString('base64url'), hosts),
    title: 'Devin Outposts',
    world: 'local',
  });
  const app = new Hono();
  app.all('*', (c) => {
    const host = directHost(c);
    if (host === null) return c.text('There is nothing here. Try /api/health.\n', 404);
    const { config } = deployment;
    if (config.kind === 'problems' && c.req.path !== '/') return c.text('There is nothing here.\n', 404);
    if (config.kind === 'problems')
      return c.text(`The settings have problems:\n${describeProblems(config.problems)}\n`, 503);
    if (!hosts.includes(host)) hosts.push(host);
    return page.fetch(c.req.raw);
  });
  return app;

  async function tell(id: string | undefined, type: string, done: string): Promise<ActionAnswer> {
    const { store } = await deployment.base();
    if (id === undefined || !(await store.post(id, JSON.stringify({ type }))))
      return { ok: false, message: `There is no session ${id}.` };
    await runs.ring(id);
    return { ok: true, message: `${id} ${done}.` };
  }
}

/** The Host of a request that names this machine and came straight from it; else null. */
function directHost(c: Context): string | null {
  if (Object.keys(c.req.header()).some((name) => FORWARDED.test(name))) return null;
  const host = c.req.header('host')?.toLowerCase() ?? '';
  return LOOPBACK.includes(host.replace(/:\d{1,5}$/, '')) ? host : null;
}

async function view(deployment: Deployment, health: LocalPageDeps['health']): Promise<FleetView> {
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

async function* everySecond(signal: AbortSignal): AsyncIterable<void> {
  while (!signal.aborted) {
    await pause(REFRESH_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (!signal.aborted) yield;
  }
}
