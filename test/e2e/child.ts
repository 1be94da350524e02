/** The orchestrator as the process that a person starts, with its JSON lines read. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startWorld, type World, type WorldOptions } from '../../src/emulator/world/index.js';
import { onEnd, temporaryDirectory, until } from './support.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A world in this process, for orchestrators in others. */
export async function startOpenWorld(options: Omit<WorldOptions, 'dir'>): Promise<World> {
  const world = await startWorld({ ...options, dir: await temporaryDirectory() });
  onEnd(() => world.close());
  return world;
}

/** One JSON line of a command with `--json`. */
export interface Line {
  readonly type: string;
  readonly text?: string;
  readonly problem?: string;
  readonly trouble?: string;
  readonly session?: { readonly id: string; readonly state: string; readonly outcome: string | null };
  readonly rows?: readonly Record<string, unknown>[];
}

export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly lines: readonly Line[];
  /** Everything that it wrote, to both streams. */
  output(): string;
  line(what: string, holds: (line: Line) => boolean, timeoutMs?: number): Promise<Line>;
  /** Waits until it serves. */
  up(): Promise<void>;
  /** Sends the signal; does not wait. */
  signal(name: NodeJS.Signals): void;
  /** How it ended: an exit code, or the signal that ended it. */
  ended(): Promise<number | NodeJS.Signals>;
}

export async function startChild(
  world: World | null,
  databaseUrl: string | null,
  options: {
    command?: 'start' | 'serve' | 'preview';
    port?: number;
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Child> {
  const { command = 'start', port = 0 } = options;
  const args = [
    ...['--import', import.meta.resolve('tsx'), `${root}src/cli/main.ts`],
    ...[command, '--json', '--port', String(port)],
    ...(world === null ? [] : ['--world', world.devinUrl]),
    ...(options.args ?? []),
  ];
  const child = spawn(process.execPath, args, {
    // Not the repository: a developer's .env is not for tests.
    cwd: await temporaryDirectory(),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      TSX_TSCONFIG_PATH: `${root}tsconfig.json`,
      ...(world === null ? {} : { OUTPOSTS_WORLD_TOKEN: world.worldToken }),
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  onEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });

  const lines: Line[] = [];
  let output = '';
  createInterface({ input: child.stdout }).on('line', (text) => {
    output += `${text}\n`;
    lines.push(readLine(text));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'spawn');
  /** A process that is gone says nothing more. */
  const failIfOver = (what: string) => {
    if (child.exitCode === null && child.signalCode === null) return null;
    if (!child.stdout.readableEnded) return null;
    throw new Error(`ended before ${what}\n${output.slice(-4_000)}`);
  };
  const result: Child = {
    process: child,
    pid: child.pid ?? 0,
    lines,
    output: () => output,
    line: (what, holds, timeoutMs) =>
      until(what, () => lines.find(holds) ?? failIfOver(what), {
        story: () => output.slice(-4_000),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      }),
    async up() {
      await result.line('the page', ({ text }) => text?.startsWith('page: ') === true);
    },
    signal: (name) => child.kill(name),
    ended: () => ended,
  };
  return result;
}

function readLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { type: 'noJson', text };
  }
}

/** Whether a line tells that the session is in the state, or below it. */
export const isIn =
  (id: string, state: string) =>
  ({ session }: Line): boolean =>
    session?.id === id && `${session.state}.`.startsWith(`${state}.`);
