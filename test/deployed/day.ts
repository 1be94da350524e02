/**
 * A session that lives for long, driven by real durable runs on a clock that
 * jumps from one thing due to the next: what a day costs the engine.
 *
 * The compiled workflow, the engine's local world, SQLite and both clouds'
 * emulators are real; the engine's sleeps are cut short when the clock jumps.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createLocalWorld, type LocalWorld } from '@workflow/world-local';
import { getHookByToken, getRun } from 'workflow/api';
import { setWorld } from 'workflow/runtime';
import { buildBundles } from '../../src/build/bundles.js';
import { listen } from '../../src/cli/listen.js';
import { createDeployment } from '../../src/deployment.js';
import type { Step } from '../../src/emulator/devin/index.js';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { startVercelCloud } from '../../src/emulator/vercel/index.js';
import { cloudEnvironment } from '../../src/emulator/world/environment.js';
import { createControlApp } from '../../src/http/app.js';
import { assemble } from '../../src/parts.js';
import { runPass } from '../../src/pass/pass.js';
import { settleProcessTime } from '../../src/process.js';
import { redirectProcess } from '../../src/sandbox/fetch.js';
import { workflowRuns } from '../../src/workflows/runs.js';
import type { RunEnd } from '../../src/workflows/session.js';
import { hookToken } from '../../src/workflows/token.js';
import { createWarpClock } from '../e2e/warp-clock.js';

export interface DayReport {
  readonly hours: number;
  /** The state that the session was left in. */
  readonly state: string | null;
  /** Boots of its sandbox. */
  readonly vms: number;
  readonly remotesAtOnce: number;
  readonly runs: number;
  /** Runs that ended because another took over. */
  readonly handedOver: number;
  readonly mostEventsPerRun: number;
  readonly events: number;
  readonly steps: number;
  /** Milliseconds of the wall for which the engine's two functions worked. */
  readonly workedMs: { readonly flow: number; readonly step: number };
  /** Median milliseconds of one replay in the first and in the last tenth of a full run's life. */
  readonly replayMs: { readonly early: number; readonly late: number };
  readonly sandboxCalls: number;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export async function liveADay(options: {
  readonly dir: string;
  readonly hours: number;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<DayReport> {
  const { dir, hours } = options;
  const clock = createWarpClock(1);
  const vercel = await startVercelCloud({ clock, dir: join(dir, 'vercel') });
  const devin = await startDevinCloud({ clock });
  redirectProcess(vercel.url);
  settleProcessTime({ clock, speed: 1 });
  const cronSecret = 'only-for-tests-0123456789';
  Object.assign(process.env, {
    ...cloudEnvironment(devin, vercel),
    DATABASE_URL: `file:${join(dir, 'outposts.db')}`,
    CRON_SECRET: cronSecret,
    ...options.env,
  });
  const runs = workflowRuns();
  const bell = await listen((request) => app.fetch(request), 0);
  process.env.PUBLIC_URL = bell.url;
  const deployment = createDeployment(process.env);
  const app = createControlApp({ deployment, runs });
  const worked = createStopwatch();
  const world = await startLocal(dir, worked);
  const base = await deployment.base();
  const { store } = base;

  const script: Step[] = [{ waitMs: hours * 3_600_000 }, { end: true }];
  const { id } = devin.startSession({ script });
  const over = new AbortController();
  const passing = (async () => {
    while (!over.signal.aborted)
      await runPass({ parts: await assemble(base), runs, windowMs: 3_600_000, signal: over.signal });
  })();
  const endAt = clock.now() + (hours + 1) * 3_600_000;
  const vms = new Set<string>();
  for (;;) {
    const row = await store.read(id);
    for (const sandbox of vercel.sandboxes()) for (const vm of sandbox.vms) vms.add(vm.id);
    if (row?.state === 'ended' || clock.now() > endAt) break;
    const serves = row?.state.startsWith('serving') && row.wakeAt !== null && row.wakeAt > clock.now();
    const holder = serves ? await getHookByToken(hookToken(id)).catch(() => null) : null;
    if (!serves || row?.wakeAt == null || holder === null) {
      await pause(5);
      continue;
    }
    clock.skip(row.wakeAt - clock.now());
    // The run may not be asleep yet.
    for (let tries = 0; (await store.read(id))?.rev === row.rev && tries < 200; tries++) {
      if (tries % 10 === 0)
        await getRun(holder.runId)
          .wakeUp()
          .catch(() => undefined);
      await pause(5);
    }
  }
  over.abort();
  await passing;
  await pause(500);

  const list = (await world.runs.list({ pagination: { limit: 1_000 } })).data;
  const counts = await Promise.all(
    list.map(async ({ runId }) => (await world.events.list({ runId, pagination: { limit: 30_000 } })).data),
  );
  const events = counts.flat();
  const report: DayReport = {
    hours,
    state: (await store.read(id))?.state ?? null,
    vms: vms.size,
    remotesAtOnce: devin.session(id).remotes.maxAtOnce,
    runs: list.length,
    handedOver: await countHandedOver(list.map(({ runId }) => runId)),
    mostEventsPerRun: Math.max(...counts.map(({ length }) => length)),
    events: events.length,
    steps: events.filter(({ eventType }) => eventType === 'step_completed').length,
    workedMs: worked.totals(),
    replayMs: worked.replays(),
    sandboxCalls: vercel.calls.count({}),
  };
  await world.close?.();
  await bell.close();
  await store.close();
  await devin.close();
  await vercel.close();
  return report;
}

async function countHandedOver(runIds: readonly string[]): Promise<number> {
  const ends = await Promise.all(runIds.map((runId) => getRun<RunEnd>(runId).returnValue.catch(() => null)));
  return ends.filter((end) => end?.kind === 'handedOver').length;
}

type Handler = (request: Request) => Promise<Response>;
type Stopwatch = ReturnType<typeof createStopwatch>;

/** Times the engine's calls of its two functions. */
function createStopwatch() {
  const calls = { flow: [] as { run: string; ms: number }[], step: [] as { run: string; ms: number }[] };
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    timed:
      (kind: 'flow' | 'step', handle: Handler): Handler =>
      async (request) => {
        const { runId = '' } = (await request.clone().json()) as { runId?: string };
        const startedAt = performance.now();
        try {
          return await handle(request);
        } finally {
          calls[kind].push({ run: runId, ms: performance.now() - startedAt });
        }
      },
    totals: () => ({
      flow: calls.flow.reduce((sum, { ms }) => sum + ms, 0),
      step: calls.step.reduce((sum, { ms }) => sum + ms, 0),
    }),
    replays() {
      const byRun = new Map<string, { ms: number }[]>();
      for (const call of calls.flow) byRun.set(call.run, [...(byRun.get(call.run) ?? []), call]);
      const longest = Math.max(...[...byRun.values()].map(({ length }) => length));
      const full = [...byRun.values()].filter(({ length }) => length > longest * 0.8);
      const share = (from: number, to: number) =>
        median(full.flatMap((run) => run.slice(run.length * from, run.length * to).map(({ ms }) => ms)));
      return { early: share(0, 0.1), late: share(0.9, 1) };
    },
  };
}

async function startLocal(dir: string, worked: Stopwatch): Promise<LocalWorld> {
  await mkdir(join(ROOT, '.outposts'), { recursive: true });
  const outDir = await mkdtemp(join(ROOT, '.outposts/test-bundles-'));
  const bundles = await buildBundles(ROOT, outDir);
  const load = async (path: string) => (await import(pathToFileURL(path).href)).POST;
  const world = createLocalWorld({ dataDir: join(dir, 'workflow') });
  const list = world.events.list.bind(world.events);
  world.events.list = (params) => list({ ...params, pagination: { limit: 10_000, ...params.pagination } });
  world.registerHandler('__wkf_workflow_', worked.timed('flow', await load(bundles.flow)));
  world.registerHandler('__wkf_step_', worked.timed('step', await load(bundles.step)));
  await rm(outDir, { recursive: true });
  setWorld(world);
  await world.start?.();
  return world;
}
