/**
 * This process as a deployment: its settings, and the base that its functions
 * share for as long as the platform keeps it.
 *
 * Settings are read once and never silently replaced by others; a database
 * that cannot be opened is tried again by whoever asks next. One per process
 * and bundle: functions, steps and servers ask `deployment()`.
 */
import { attachDatabasePool } from '@vercel/functions';
import {
  type Config,
  type ConfigResult,
  deploymentNotices,
  describeProblems,
  type Environment,
  type Problem,
  parseConfig,
  type Secret,
} from './config/index.js';
import { type Connections, connectionsOf } from './connections.js';
import { RefusedError } from './errors.js';
import { type Base, openBase } from './parts.js';
import type { Clock } from './ports/clock.js';
import { processTime } from './process.js';

export interface Deployment {
  readonly clock: Clock;
  /** How many times as fast as the wall the clock runs; 1 but for emulated worlds. */
  readonly speed: number;
  /** Whether this runs on Vercel's platform. */
  readonly onVercel: boolean;
  /** Vercel's name of this deployment; null elsewhere. */
  readonly id: string | null;
  readonly config: ConfigResult;
  /** Null while the settings have problems, or lack it: then nobody is let in. */
  readonly cronSecret: Secret | null;
  /** What does not work where this runs, or on its plan. */
  notices(): readonly Problem[];
  log(line: string): void;
  /** Rejects with RefusedError (settings), or TransientError while the database is away. */
  base(): Promise<Base>;
  /** What moves connections; null where nothing can be connected. Rejects as `base` does. */
  connections(): Promise<Connections | null>;
}

/** Connections of one instance; an instance serves many requests at once, and there are many instances. */
const CONNECTIONS = 3;
/** An idle connection is closed after this long, so that a database may fall asleep. */
const IDLE_MS = 5_000;

let ours: Deployment | null = null;

export function deployment(): Deployment {
  ours ??= createDeployment(process.env);
  return ours;
}

export function createDeployment(env: Environment): Deployment {
  const onVercel = env.VERCEL === '1';
  const { clock, speed } = processTime();
  const mode = onVercel ? 'vercel' : 'server';
  const config = parseConfig(env, { mode });
  let opening: Promise<Base> | null = null;
  let connecting: Promise<Connections | null> | null = null;
  const log = (line: string) => console.log(line);
  const open = async () =>
    openBase({
      config: usable(config, onVercel ? env.VERCEL_ENV : undefined),
      clock,
      log,
      storeOptions: {
        maxConnections: CONNECTIONS,
        ...(onVercel ? { idleTimeoutMs: IDLE_MS, onPool: attachDatabasePool } : {}),
      },
    });
  const base = () => {
    opening ??= open().catch((error) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return {
    clock,
    speed,
    onVercel,
    id: onVercel ? (env.VERCEL_DEPLOYMENT_ID ?? null) : null,
    config,
    cronSecret: config.kind === 'ok' ? config.config.cronSecret : null,
    notices: () => deploymentNotices(env, Date.now(), mode),
    log,
    base,
    connections() {
      connecting ??= base()
        .then(connectionsOf)
        .catch((error) => {
          connecting = null;
          throw error;
        });
      return connecting;
    },
  };
}

/**
 * @throws RefusedError that names every setting that is wrong; and off production, where a database is often the
 * same: opening it there would bring its schema to what that branch knows.
 */
function usable(
  result: ConfigResult,
  vercelEnv: string | undefined,
): Config & { readonly accounts: NonNullable<Config['accounts']> } {
  if (result.kind === 'problems') {
    const [first] = result.problems;
    throw new RefusedError(`the settings have problems:\n${describeProblems(result.problems)}`, {
      setting: first?.variable ?? 'the environment',
    });
  }
  if (vercelEnv !== undefined && vercelEnv !== 'production')
    throw new RefusedError('only a production deployment opens the database', { setting: 'VERCEL_ENV' });
  const { accounts } = result.config;
  if (accounts === null) throw new RefusedError('there are no accounts', { setting: 'DEVIN_OUTPOSTS_TOKEN' });
  return { ...result.config, accounts };
}
