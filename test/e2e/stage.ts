/**
 * Both clouds and an orchestrator in this process, on a clock that jumps while
 * nothing happens. What a crash does is shown with child.ts instead.
 */
import { join } from 'node:path';
import { createOrchestrator, type Orchestrator, withAccounts } from '../../src/compose.js';
import { parseConfig } from '../../src/config/index.js';
import {
  type DevinCloud,
  type DevinCloudOptions,
  type SessionView,
  startDevinCloud,
} from '../../src/emulator/devin/index.js';
import {
  startVercelCloud,
  type VercelCloud,
  type VercelCloudOptions,
} from '../../src/emulator/vercel/index.js';
import { cloudEnvironment } from '../../src/emulator/world/environment.js';
import type { ActorRow } from '../../src/ports/store.js';
import type { Transition } from '../../src/runtime/drive.js';
import { rewriteFetch, sandboxName } from '../../src/sandbox/index.js';
import { onEnd, temporaryDirectory, until } from './support.js';
import { createWarpClock, type WarpClock } from './warp-clock.js';

/** While something happens the clock runs this fast: five minutes are a minute of the wall. */
const SPEED = 5;
/** Short beside what a session has to wait for: a jump makes nothing later than this. */
const STEP_MS = 5_000;
/** Where only the passing of time matters. */
const STRIDE_MS = 30_000;
/** Real processes are waited for here: no jumps, or they would seem to take for ever. */
const WORKING = [
  'provisioning.confirming',
  'provisioning.settling',
  'serving.connecting',
  'snapshotting.waiting',
];

/** `always`: even while a process is waited for, which then never comes. */
type Jump = 'whenQuiet' | 'always';
interface Waiting {
  readonly jump?: Jump;
  readonly stepMs?: number;
}

export interface StageOptions {
  readonly devin?: Partial<DevinCloudOptions>;
  readonly vercel?: Partial<VercelCloudOptions>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Stage {
  readonly clock: WarpClock;
  readonly devin: DevinCloud;
  readonly vercel: VercelCloud;
  readonly databaseUrl: string;
  /** The orchestrator that runs now. */
  readonly orchestrator: Orchestrator;
  readonly log: readonly string[];
  readonly transitions: readonly Transition[];
  /** Stops the orchestrator and starts another on the same database; `between` runs while there is none. */
  restart(between?: () => unknown): Promise<void>;
  row(id: string): Promise<ActorRow | null>;
  /** States that the session went through, oldest first. */
  path(id: string): string[];
  /** Waits for `look`; while nothing happens, the clock jumps. */
  until<T>(what: string, look: () => T | Promise<T>, options?: Waiting): Promise<NonNullable<T>>;
  /** Waits until the session is in the state (or one below it). */
  untilState(id: string, state: string, options?: Waiting): Promise<ActorRow>;
  untilSession(id: string, holds: (view: SessionView) => boolean): Promise<SessionView>;
  /** Lets this much of the clock's time pass, in steps, each when nothing happens. */
  pass(ms: number): Promise<void>;
}

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const dir = await temporaryDirectory();
  const clock = createWarpClock(SPEED);
  const vercel = await startVercelCloud({ ...options.vercel, clock, dir: join(dir, 'vercel') });
  onEnd(() => vercel.close());
  const devin = await startDevinCloud({ ...options.devin, clock });
  onEnd(() => devin.close());
  const databaseUrl = `file:${join(dir, 'outposts.db')}`;
  const env = {
    ...cloudEnvironment(devin, vercel),
    DATABASE_URL: databaseUrl,
    ...options.env,
  };
  const parsed = parseConfig(env, { mode: 'local' });
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;

  const log: string[] = [];
  const transitions: Transition[] = [];
  const launch = async () => {
    const orchestrator = await createOrchestrator({
      config: withAccounts(config, null),
      clock,
      speed: SPEED,
      sandboxFetch: rewriteFetch(vercel.url),
      log: (line) => log.push(line),
      onTransition: (transition) => transitions.push(transition),
    });
    await orchestrator.start();
    return orchestrator;
  };
  let orchestrator: Orchestrator | null = await launch();
  const stop = async () => {
    await orchestrator?.stop();
    orchestrator = null;
  };
  onEnd(stop);
  const running = () => {
    if (orchestrator === null) throw new Error('no orchestrator runs');
    return orchestrator;
  };

  const rows = () => running().store.list({ limit: 500 });
  /** Jumps unless something is under way; never beyond the next thing that an actor waits for. */
  const jump = async (how: Jump, stepMs: number) => {
    const nextAt = await running().store.nextWakeAt('session', -1);
    if (nextAt !== null && nextAt <= clock.now()) return;
    if (how !== 'always' && (await rows()).some(({ state }) => WORKING.includes(state))) return;
    clock.skip(Math.max(1, Math.min(stepMs, (nextAt ?? Number.POSITIVE_INFINITY) - clock.now())));
  };
  const story = async () => {
    const states = (await rows()).map(
      (row) => `${row.id} ${row.state} ${row.problem ?? ''} ${row.quarantine ?? ''}`,
    );
    const path = transitions
      .slice(-30)
      .map(({ id, event, from, to }) => `${id}: ${from} -> ${to} (${event.type})`);
    return [...states, ...path, ...log.slice(-15)].join('\n');
  };
  const stage: Stage = {
    clock,
    devin,
    vercel,
    databaseUrl,
    get orchestrator() {
      return running();
    },
    log,
    transitions,
    async restart(between) {
      await stop();
      await between?.();
      orchestrator = await launch();
    },
    row: (id) => running().store.read(id),
    path: (id) => transitions.filter((transition) => transition.id === id).map(({ to }) => to),
    until: (what, look, { jump: how = 'whenQuiet', stepMs = STEP_MS } = {}) =>
      until(what, look, { story, between: () => jump(how, stepMs) }),
    untilState: (id, state, waiting) =>
      stage.until(
        `${id} in ${state}`,
        async () => {
          const row = await stage.row(id);
          return row !== null && `${row.state}.`.startsWith(`${state}.`) ? row : null;
        },
        waiting,
      ),
    untilSession: (id, holds) =>
      stage.until(`${id} as wanted`, () => {
        const view = devin.session(id);
        return holds(view) ? view : null;
      }),
    async pass(ms) {
      const endAt = clock.now() + ms;
      await stage.until(`${ms} ms to pass`, () => clock.now() >= endAt, { stepMs: STRIDE_MS });
    },
  };
  return stage;
}

/** The name under which the orchestrator keeps the session's files. */
export const diskOf = (sessionId: string): string => sandboxName('devin', sessionId);

export const WRITE = 'mkdir -p repos/demo && echo kept > repos/demo/note.txt';
export const FIND = 'test "$(cat repos/demo/note.txt)" = kept';
