/**
 * The engine that runs sessions, in this process: the compiled workflow on the
 * engine's local world, a SQLite file and both clouds' emulators over HTTP.
 *
 * One per test file. What the steps take from the process (settings, clock,
 * where the Sandbox API is) is settled once.
 */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createLocalWorld, type LocalWorld } from '@workflow/world-local';
import { getHookByToken, getRun, start } from 'workflow/api';
import { setWorld } from 'workflow/runtime';
import { buildBundles } from '../../src/build/bundles.js';
import { createDeployment } from '../../src/deployment.js';
import { type DevinCloud, startDevinCloud } from '../../src/emulator/devin/index.js';
import { startVercelCloud, type VercelCloud } from '../../src/emulator/vercel/index.js';
import { cloudEnvironment } from '../../src/emulator/world/environment.js';
import { assemble, type Base } from '../../src/parts.js';
import { runPass } from '../../src/pass/pass.js';
import { createClock } from '../../src/ports/clock.js';
import type { Runs } from '../../src/ports/runs.js';
import type { ActorRow, Store } from '../../src/ports/store.js';
import { settleProcessTime } from '../../src/process.js';
import { redirectProcess } from '../../src/sandbox/fetch.js';
import { SESSION_RUN_ID, workflowRuns } from '../../src/workflows/runs.js';
import type { RunEnd } from '../../src/workflows/session.js';
import { hookToken } from '../../src/workflows/token.js';
import { readGoldens, sessions } from '../runtime/golden.js';

const { kind } = sessions;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Seconds of a session's life are a fraction of one; the engine sleeps whole seconds of the wall all the same. */
const SPEED = 5;
export const CRON_SECRET = 'cron-secret-of-this-test-0123456789';

export interface Engine {
  readonly devin: DevinCloud;
  readonly vercel: VercelCloud;
  readonly world: LocalWorld;
  readonly runs: Runs;
  readonly base: Base;
  readonly store: Store;
  readonly databaseFile: string;
  /** Tokens for connecting remotes, as claims have answered them so far. */
  readonly connectTokens: ReadonlySet<string>;
  /** Passes, one after the other, until told to end; with `runs`, those hear of what is to be done. */
  passing(runs?: Runs): { end(): Promise<void> };
  /** A session that a pass has claimed, and that no run drives yet. */
  claimed(spec?: Parameters<DevinCloud['startSession']>[0]): Promise<string>;
  /** Starts a run like any other; it hands over after so many wake-ups. */
  startRun(id: string, wakeUpsPerRun?: number): Promise<string>;
  endOf(runId: string): Promise<RunEnd>;
  /** The run that holds the session; null when none does. */
  holderOf(id: string): Promise<string | null>;
  eventsOf(runId: string): Promise<readonly string[]>;
  runsOf(id: string): Promise<readonly string[]>;
  /** Adds an actor in a state that one was once found in. */
  enroll(id: string, state: string, change?: { version?: number; context?: object }): Promise<string>;
  row(id: string): Promise<ActorRow>;
  /** The actor's state; null when there is none. */
  stateOf(id: string): Promise<string | null>;
  /** Every file of the engine's data, and what is packed in them. */
  dump(): Promise<string>;
  close(): Promise<void>;
}

/** The first truthy answer; an error that tells what was waited for after `ms` of the wall. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  ms = 18_000,
): Promise<NonNullable<T>> {
  for (const giveUpAt = Date.now() + ms; ; ) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > giveUpAt) throw new Error(`waited in vain: ${what}`);
    await pause(20);
  }
}

export async function startEngine(): Promise<Engine> {
  const dir = await mkdtemp(join(tmpdir(), 'outposts-workflows-'));
  const started = Date.now();
  const clock = createClock({ speed: SPEED, origin: { wall: started, clock: started } });
  settleProcessTime({ clock, speed: SPEED });
  const vercel = await startVercelCloud({ clock, dir: join(dir, 'vercel') });
  const devin = await startDevinCloud({ clock });
  const connectTokens = overhearTokens();
  redirectProcess(vercel.url);
  const databaseFile = join(dir, 'outposts.db');
  Object.assign(process.env, {
    ...cloudEnvironment(devin, vercel),
    DATABASE_URL: `file:${databaseFile}`,
    CRON_SECRET,
    PROBE_INTERVAL_MS: '60000',
    UNHEARD_PROBE_INTERVAL_MS: '60000',
    MAX_CONCURRENT: '50',
  });
  const dataDir = join(dir, 'workflow');
  const world = await startLocal(dataDir);
  const base = await createDeployment(process.env).base();
  const runs = workflowRuns();
  const { store } = base;

  const passing: Engine['passing'] = (heard = runs) => {
    const over = new AbortController();
    const passes = (async () => {
      while (!over.signal.aborted)
        await runPass({
          parts: await assemble(base),
          runs: heard,
          windowMs: 60_000,
          signal: over.signal,
        });
    })();
    return {
      async end() {
        over.abort();
        await passes;
      },
    };
  };

  return {
    devin,
    vercel,
    world,
    runs,
    base,
    store,
    databaseFile,
    connectTokens,
    passing,
    async claimed(spec) {
      const { id } = devin.startSession(spec);
      const rung = new Set<string>();
      const noted: Runs = {
        async ring(sessionId) {
          rung.add(sessionId);
          return 'started';
        },
        answers: async () => true,
        dismiss: async () => undefined,
        replace: async () => undefined,
      };
      const pass = passing(noted);
      await until(`${id} is claimed`, () => rung.has(id));
      await pass.end();
      return id;
    },
    async startRun(id, wakeUpsPerRun) {
      const args = wakeUpsPerRun === undefined ? [id] : [id, wakeUpsPerRun];
      return (await start({ workflowId: SESSION_RUN_ID }, args)).runId;
    },
    async endOf(runId) {
      return (await getRun(runId).returnValue) as RunEnd;
    },
    async holderOf(id) {
      return getHookByToken(hookToken(id)).then(
        (hook) => hook.runId,
        () => null,
      );
    },
    async eventsOf(runId) {
      const { data } = await world.events.list({ runId, pagination: { limit: 10_000 } });
      return data.map(({ eventType }) => eventType);
    },
    async runsOf(id) {
      const { data } = await world.runs.list({ pagination: { limit: 1_000 } });
      return data.filter(({ input }) => textOf(input).includes(id)).map(({ runId }) => runId);
    },
    async enroll(id, state, change = {}) {
      const row = readGoldens(sessions).get(kind.version)?.rows[state];
      if (row === undefined) throw new Error(`there is no record of ${state}`);
      const { effect, timers, snapshot, ...columns } = row;
      const saved = structuredClone(snapshot) as { context: { facts: unknown } };
      Object.assign(saved.context, { sessionId: id }, change.context);
      const text = JSON.stringify(saved);
      const actor = { ...columns, version: change.version ?? kind.version, state, snapshot: text };
      await store.enroll(id, actor, JSON.stringify(saved.context.facts), 0);
      return text;
    },
    async row(id) {
      const row = await store.read(id);
      if (row === null) throw new Error(`there is no ${id}`);
      return row;
    },
    async stateOf(id) {
      return (await store.read(id))?.state ?? null;
    },
    async dump() {
      const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const texts = await Promise.all(
        files.map(async ({ parentPath, name }) =>
          textOf(await readFile(join(parentPath, name)).catch(() => '')),
        ),
      );
      return texts.join('\n');
    },
    async close() {
      await world.close?.();
      await store.close();
      await devin.close();
      await vercel.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** What bytes say, also where they are packed as base64. */
function textOf(data: unknown): string {
  const text = data instanceof Uint8Array ? Buffer.from(data).toString('utf8') : (JSON.stringify(data) ?? '');
  const packed = text.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? [];
  return [text, ...packed.map((part) => Buffer.from(part, 'base64').toString('utf8'))].join('\n');
}

function overhearTokens(): Set<string> {
  const tokens = new Set<string>();
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await plain(input, init);
    if (String(input instanceof Request ? input.url : input).includes('/claim')) {
      const body = await answer.clone().text();
      for (const token of body.match(/ct_[\w-]{20,}/g) ?? []) tokens.add(token);
    }
    return answer;
  };
  return tokens;
}

async function startLocal(dataDir: string): Promise<LocalWorld> {
  await mkdir(join(ROOT, '.outposts'), { recursive: true });
  const outDir = await mkdtemp(join(ROOT, '.outposts/test-bundles-'));
  const { flow, step } = await buildBundles(ROOT, outDir);
  const load = async (path: string) => (await import(pathToFileURL(path).href)).POST;
  const world = createLocalWorld({ dataDir });
  const list = world.events.list.bind(world.events);
  // The local world reads its whole directory for each page.
  world.events.list = (params) => list({ ...params, pagination: { limit: 10_000, ...params.pagination } });
  world.registerHandler('__wkf_workflow_', await load(flow));
  world.registerHandler('__wkf_step_', await load(step));
  await rm(outDir, { recursive: true });
  setWorld(world);
  await world.start?.();
  return world;
}
