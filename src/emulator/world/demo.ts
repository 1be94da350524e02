/**
 * The scripted sessions that show the orchestrator at work, and the judge of
 * how each one went.
 *
 * A check looks only at what Devin's cloud saw: the outputs of the commands,
 * the claims, and the remotes that connected.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.js';
import type { SessionControl, SessionView, Step } from '../devin/index.js';

const MINUTE_MS = 60_000;
/** How long a sleeper sleeps after it was released, in the world's time. */
const SLEEP_MS = MINUTE_MS;
/** A session that is not over after this much of the world's time has failed. */
const LIMIT_MS = 120 * MINUTE_MS;
const LOOK_EVERY_WALL_MS = 50;

interface DemoScript {
  readonly title: string;
  readonly script: readonly Step[];
  /** What is wrong with the session that ended; empty when nothing is. */
  check(view: SessionView): string[];
}

export interface DemoReport {
  readonly sessionId: string;
  readonly title: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly status: string;
  /** From start to end, in milliseconds of the world's time. */
  readonly tookMs: number;
}

export interface Demo {
  readonly sessionIds: readonly string[];
  /** One per session, in the same order. Reject only when the demo is aborted or the world is gone. */
  readonly reports: readonly Promise<DemoReport>[];
}

const WRITE = 'mkdir -p repos/demo && echo kept > repos/demo/note.txt && echo written';
const FIND = [
  'if [ "$(cat repos/demo/note.txt)" = kept ]; then echo found',
  'else echo "repos/demo/note.txt is lost" >&2; exit 1; fi',
].join('; ');

const WORKS: DemoScript = {
  title: 'works long enough to be extended',
  script: [
    { run: WRITE },
    { waitMs: 6 * MINUTE_MS },
    { run: 'date >> repos/demo/work.log && wc -l < repos/demo/work.log' },
    { waitMs: 6 * MINUTE_MS },
    { run: FIND },
    { end: true },
  ],
  check: () => [],
};

const SLEEPS: DemoScript = {
  title: 'sleeps and finds its files again',
  script: [
    { run: WRITE },
    { waitMs: MINUTE_MS },
    { suspend: true, flickerReads: 2, flushMs: 10_000 },
    { run: FIND },
    { waitMs: MINUTE_MS },
    { end: true },
  ],
  check: (view) =>
    view.claims.filter((claim) => !claim.renewal).length < 2
      ? ['it was never claimed again after its sleep']
      : [],
};

const CRASHES: DemoScript = {
  title: 'survives a crash of its remote',
  script: [
    { run: WRITE },
    { waitMs: MINUTE_MS },
    { crash: 1 },
    { run: FIND },
    { waitMs: MINUTE_MS },
    { end: true },
  ],
  check: (view) => (view.remotes.ever < 2 ? ['its remote was never started again'] : []),
};

/** `n` scripts, the three kinds in turn. */
export function demoScripts(n: number): DemoScript[] {
  const kinds = [WORKS, SLEEPS, CRASHES] as const;
  return Array.from({ length: n }, (_, index) => kinds[index % kinds.length] ?? WORKS);
}

/** Starts `n` sessions and follows each to its end; wakes those that sleep. */
export async function runDemo(
  n: number,
  parts: { control: SessionControl; clock: Clock; signal?: AbortSignal },
): Promise<Demo> {
  const demos = demoScripts(n);
  const started: SessionView[] = [];
  for (const demo of demos) started.push(await parts.control.startSession({ script: [...demo.script] }));
  const reports = demos.map((demo, index) => follow(demo, started[index]?.id ?? '', parts));
  // Whoever waits for one report must not be ended by the rejection of another.
  for (const report of reports) report.catch(() => {});
  return { sessionIds: started.map((view) => view.id), reports };
}

async function follow(
  demo: DemoScript,
  id: string,
  { control, clock, signal }: { control: SessionControl; clock: Clock; signal?: AbortSignal },
): Promise<DemoReport> {
  const startedAt = clock.now();
  let view = await control.session(id);
  const isOver = () => view.status === 'terminated' || view.status === 'error';
  while (!isOver() && clock.now() - startedAt < LIMIT_MS) {
    await pause(LOOK_EVERY_WALL_MS, undefined, { ...(signal ? { signal } : {}) });
    view = await control.session(id);
    if (view.status !== 'suspended' || view.phase === 'claimed') continue;
    await clock.sleep(SLEEP_MS, signal);
    view = await control.session(id);
    // Someone may have woken it meanwhile.
    if (view.status === 'suspended') view = await control.resume(id);
  }
  const problems = [...(isOver() ? [] : ['it did not end']), ...judge(view), ...demo.check(view)];
  return {
    sessionId: id,
    title: demo.title,
    ok: problems.length === 0,
    problems,
    status: view.status,
    tookMs: clock.now() - startedAt,
  };
}

/** What must hold for every session that was served. */
function judge(view: SessionView): string[] {
  const problems = view.outputs
    .filter((output) => output.code !== 0)
    .map((output) => `a command failed with ${output.code}: ${output.output.trim() || output.command}`);
  if (view.status === 'error') problems.push('Devin gave it up');
  if (view.step < view.steps) problems.push(`it stopped at step ${view.step} of ${view.steps}`);
  if (view.remotes.maxAtOnce > 1) problems.push(`${view.remotes.maxAtOnce} remotes were alive at once`);
  if (view.claims.some((claim) => claim.ofEnded && !claim.renewal))
    problems.push('it was claimed after it had ended');
  return problems;
}
