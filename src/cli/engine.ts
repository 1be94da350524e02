/**
 * The workflow engine of a server of one's own: its tables in PostgreSQL, our
 * compiled workflow, and the worker that runs it in this process.
 *
 * The engine delivers over HTTP to itself. That listener is another one than
 * the page's, on a port of its own, so that no proxy can make it reachable.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createWorld } from '@workflow/world-postgres';
import { Hono } from 'hono';
import { setWorld } from 'workflow/runtime';
import { buildBundles } from '../build/bundles.js';
import type { Secret } from '../config/index.js';
import { RefusedError } from '../errors.js';
import { openStore } from '../store/open.js';
import { driverUrl } from '../store/postgres-url.js';
import { listen } from './listen.js';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** Wake-ups that one process works on at a time; each may wait for the cloud for most of a minute. */
const CONCURRENCY = 16;
const CONNECTIONS = 18;
/** Making the engine's tables takes seconds. */
const PREPARE_MS = 60_000;

export interface Engine {
  /** Takes nothing more up, and waits for what is under way. */
  close(): Promise<void>;
}

/** @throws RefusedError unless the database is PostgreSQL and its tables can be made. */
export async function startEngine(databaseUrl: Secret): Promise<Engine> {
  const url = driverUrl(databaseUrl.reveal());
  if (!url.startsWith('postgres'))
    throw new RefusedError('the workflow engine needs PostgreSQL; with SQLite use --engine poller', {
      setting: 'DATABASE_URL',
    });
  forgiveLostConnections();
  await prepareTables(databaseUrl, url);
  await mkdir(join(ROOT, '.outposts'), { recursive: true });
  const dir = await mkdtemp(join(ROOT, '.outposts/bundles-'));
  const { flow, step } = await buildBundles(ROOT, dir);
  const load = async (path: string) => (await import(pathToFileURL(path).href)) as { POST: Handler };
  const [flows, steps] = await Promise.all([load(flow), load(step)]);
  await rm(dir, { recursive: true, force: true });

  const app = new Hono();
  app.post('/.well-known/workflow/v1/flow', (c) => flows.POST(c.req.raw));
  app.post('/.well-known/workflow/v1/step', (c) => steps.POST(c.req.raw));
  const listening = await listen(app.fetch, 0);
  process.env.WORKFLOW_LOCAL_BASE_URL = listening.url;
  const world = createWorld({
    connectionString: url,
    queueConcurrency: CONCURRENCY,
    maxPoolSize: CONNECTIONS,
  });
  setWorld(world);
  await startQuietly(() => world.start());
  return {
    async close() {
      await world.close?.();
      await listening.close();
    },
  };
}

/** The engine's worker would end the process by itself on a signal; here the command decides what ends when. */
async function startQuietly(start: () => Promise<void>): Promise<void> {
  const before = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  await start();
  for (const [index, signal] of SIGNALS.entries())
    for (const listener of process.listeners(signal))
      if (!before[index]?.has(listener)) process.off(signal, listener);
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGABRT', 'SIGUSR2'] as const;

type Handler = (request: Request) => Promise<Response>;

/**
 * The engine keeps a connection of its own to hear of streams, and nobody watches it: when the database restarts,
 * its loss would end this process. We use no streams, so it means nothing.
 */
function forgiveLostConnections(): void {
  const engine = createRequire(createRequire(import.meta.url).resolve('@workflow/world-postgres'));
  const { prototype } = (engine('pg') as { Client: { prototype: EngineClient } }).Client;
  const { connect } = prototype;
  prototype.connect = function (...args) {
    this.on('error', () => undefined);
    return connect.apply(this, args);
  };
}

interface EngineClient {
  connect(...args: unknown[]): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** One process at a time: the engine's set-up does not expect another. */
async function prepareTables(databaseUrl: Secret, url: string): Promise<void> {
  const store = await openStore(databaseUrl.reveal(), { maxConnections: 1 });
  const owner = randomUUID();
  try {
    while (!(await store.lead('engine-tables', owner, PREPARE_MS))) await pause(500);
    await runSetUp(url);
  } finally {
    await store.unlead('engine-tables', owner).catch(() => undefined);
    await store.close();
  }
}

/** The engine's own program. The address travels in the environment. */
async function runSetUp(url: string): Promise<void> {
  const program = createRequire(import.meta.url).resolve('@workflow/world-postgres/cli');
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, WORKFLOW_POSTGRES_URL: url },
    stdio: 'ignore',
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0)
    throw new RefusedError(
      "the workflow engine's tables could not be made: its user must be allowed to create schemas, and the address must be the database's own, not a transaction pooler's",
      { setting: 'DATABASE_URL' },
    );
}
