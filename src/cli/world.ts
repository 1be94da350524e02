/** Where `start` finds its clouds: the real ones, an embedded world of its own, or one that runs already. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Config,
  type Environment,
  type Problem,
  parseConfig,
  readEnvironment,
} from '../config/index.js';
import type { SessionControl } from '../emulator/devin/index.js';
import {
  type AttachedWorld,
  attachWorld,
  type Demo,
  startWorld,
  sweepAbandonedWorlds,
} from '../emulator/world/index.js';
import { RefusedError } from '../errors.js';
import { type Clock, createClock } from '../ports/clock.js';
import { settleProcessTime } from '../process.js';
import { redirectProcess, rewriteFetch } from '../sandbox/fetch.js';
import { ConfigError } from './refuse.js';

/** The token of a running world; never an argument, which other users of the machine could read. */
export const WORLD_TOKEN = 'OUTPOSTS_WORLD_TOKEN';

/** A world of one process lives in a temporary directory of this name and some letters. */
const DIRECTORY = 'outposts-world-';
/** What a world that outlives this process is served from, unless DATABASE_URL names another. */
const EMBEDDED_DATABASE = 'file:.outposts/embedded.db';

export interface Surroundings {
  readonly config: Config & { readonly accounts: NonNullable<Config['accounts']> };
  readonly warnings: readonly Problem[];
  readonly clock: Clock;
  readonly speed: number;
  /** Null with the real clouds. */
  readonly world: {
    readonly url: string;
    readonly control: SessionControl;
    runDemo(n: number, signal?: AbortSignal): Promise<Demo>;
  } | null;
  /** Whether the world ends with this process. */
  readonly ownWorld: boolean;
  readonly sandboxFetch?: typeof fetch;
  close(): Promise<void>;
}

/** `local`: from a developer's machine; `server`: from servers of one's own. */
export async function realClouds(env: Environment, mode: 'local' | 'server'): Promise<Surroundings> {
  return {
    ...configured(env, mode),
    clock: createClock(),
    speed: 1,
    world: null,
    ownWorld: false,
    close: async () => undefined,
  };
}

/** Starts a world for this process alone. Its database and disks go when it ends, unless DATABASE_URL names one. */
export async function ownWorld(env: Environment, speed: number): Promise<Surroundings> {
  // Wrong settings are told before anything is started, and so is what this world does not use.
  const { warnings } = configured(env, 'embedded');
  await sweepAbandonedWorlds(tmpdir(), DIRECTORY);
  const dir = await mkdtemp(join(tmpdir(), DIRECTORY));
  const world = await startWorld({ dir, speed });
  const close = async () => {
    await world.close();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const database = { DATABASE_URL: env.DATABASE_URL?.trim() || `file:${join(dir, 'outposts.db')}` };
    return {
      ...configured({ ...env, ...world.env, ...database }, 'local'),
      warnings,
      clock: world.worldClock,
      speed,
      world: { url: world.devinUrl, control: world.control, runDemo: world.runDemo },
      ownWorld: true,
      sandboxFetch: rewriteFetch(world.vercelUrl),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Joins a world that another process runs, on its clock. */
export async function runningWorld(env: Environment, url: string): Promise<Surroundings> {
  const { warnings } = configured(env, 'embedded');
  const world = await attached(env, url);
  // Real sessions and emulated ones never share a database by default.
  const database = { DATABASE_URL: env.DATABASE_URL?.trim() || EMBEDDED_DATABASE };
  return {
    ...configured({ ...env, ...world.env, ...database }, 'local'),
    warnings,
    clock: world.worldClock,
    speed: world.clock.speed,
    world: { url, control: world.control, runDemo: world.runDemo },
    ownWorld: false,
    sandboxFetch: rewriteFetch(world.vercelUrl),
    close: async () => undefined,
  };
}

/** Which outpost of a world is served, when the environment itself says so; blank: none yet. */
const OUTPOST = ['DEVIN_OUTPOSTS_TOKEN', 'DEVIN_OUTPOST_ID'];

/**
 * Makes the settings of `.env`, and of a running world, the environment of this process, where the parts that it
 * hosts read them.
 */
export async function settleEnvironment(world: string | undefined): Promise<Environment> {
  const env = readEnvironment({ env: process.env, directory: process.cwd() });
  const given = Object.fromEntries(
    OUTPOST.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
  Object.assign(process.env, env, world === undefined ? {} : { ...(await joinWorld(env, world)), ...given });
  // `vercel env pull` writes it, and this is not Vercel.
  delete process.env.VERCEL;
  return env;
}

/**
 * Makes this process one that serves a running world: on its clock, with its clouds behind `fetch`. To be done
 * before anything else is loaded. Answers what the environment needs.
 */
async function joinWorld(env: Environment, url: string): Promise<Environment> {
  const world = await attached(env, url);
  redirectProcess(world.vercelUrl);
  settleProcessTime({ clock: world.worldClock, speed: world.clock.speed });
  return world.env;
}

function attached(env: Environment, url: string): Promise<AttachedWorld> {
  const token = env[WORLD_TOKEN];
  if (!token)
    throw new RefusedError(`the token that the world at ${url} printed is needed`, { setting: WORLD_TOKEN });
  return attachWorld(url, token);
}

function configured(env: Environment, mode: 'local' | 'server' | 'embedded') {
  const parsed = parseConfig(env, { mode });
  if (parsed.kind === 'problems') throw new ConfigError(parsed);
  const { accounts } = parsed.config;
  return {
    config: { ...parsed.config, accounts } as Surroundings['config'],
    warnings: parsed.warnings,
  };
}
