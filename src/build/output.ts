/**
 * Builds the folder that a deployment consists of, as Vercel would, offline.
 *
 * Works in a clean copy of the project, so that nothing of a developer's
 * directory can get into it or is changed by it: no settings, no link to a
 * project, no login. Replaces the folder only when everything went well.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from '../config/index.js';
import { copyInputs, digestOf } from './inputs.js';
import { exclusively } from './lock.js';
import { vercelCli } from './vercel-cli.js';

export interface OutputOptions {
  /** The project's directory. */
  readonly root: string;
  /** Where the folder goes, on the same disk as `root`; what is there is replaced. */
  readonly output: string;
  /** What the build sees of the environment, apart from Vercel's and npm's own variables. */
  readonly env: Environment;
  log(line: string): void;
}

/** Which inputs an output was built from; it lies within, and nothing serves it. */
const INPUTS_FILE = 'diagnostics/inputs.json';

/** One build at a time. Rejects with what the Vercel CLI said when it fails. */
export async function buildOutput(options: OutputOptions): Promise<void> {
  const { root, output, log } = options;
  const cli = await vercelCli(log);
  const onWait = (holder: number) => log(`waiting for the build of process ${holder}`);
  await exclusively(
    join(root, '.outposts/build.lock'),
    async () => {
      const copy = join(root, '.outposts/build');
      await rm(copy, { recursive: true, force: true });
      try {
        await copyInputs(root, copy);
        const digest = await digestOf(copy);
        await runCli(cli, copy, options.env, log);
        const built = join(copy, '.vercel/output');
        await rm(join(built, 'diagnostics/cli_traces.json'), { force: true });
        await writeFile(join(built, INPUTS_FILE), `${JSON.stringify({ digest })}\n`);
        await rm(output, { recursive: true, force: true });
        await mkdir(dirname(output), { recursive: true });
        await rename(built, output);
      } finally {
        await rm(copy, { recursive: true, force: true });
      }
    },
    onWait,
  );
}

/** Whether `output` is there and built from what `root` holds now. */
export async function ageOf(root: string, output: string): Promise<'current' | 'outdated' | 'absent'> {
  const text = await readFile(join(output, INPUTS_FILE), 'utf8').catch(() => null);
  if (text === null) return 'absent';
  return text.includes(await digestOf(root)) ? 'current' : 'outdated';
}

/** Stands for the link to a project; its settings keep the CLI from installing packages. */
const PROJECT = {
  projectId: 'prj_local',
  orgId: 'team_local',
  settings: { framework: null, installCommand: '', nodeVersion: '24.x' },
};

async function runCli(
  cli: string,
  directory: string,
  env: Environment,
  log: (line: string) => void,
): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'outposts-vercel-home-'));
  try {
    await mkdir(join(directory, '.vercel'));
    await writeFile(join(directory, '.vercel/project.json'), JSON.stringify(PROJECT));
    log('building, which takes a minute or two');
    const args = ['build', '--yes', '--prod', '--standalone', '--global-config', join(home, 'vercel')];
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: directory,
      env: environmentOf(env, home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = () => child.kill();
    process.once('exit', end);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [code] = await once(child, 'close');
    process.off('exit', end);
    if (code !== 0) throw new Error(`vercel build ended with ${code}\n${said.slice(-8_000)}`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Variables with which Vercel and npm would be told to do something else. */
const STEERING = /^(vercel|now|npm|xdg|node_options)(_|$)/i;

function environmentOf(env: Environment, home: string): NodeJS.ProcessEnv {
  const passed = Object.entries(env).filter(([name]) => !STEERING.test(name));
  return {
    ...Object.fromEntries(passed),
    HOME: home,
    USERPROFILE: home,
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    VERCEL_TELEMETRY_DISABLED: '1',
    npm_config_offline: 'true',
    npm_config_ignore_scripts: 'true',
  };
}
