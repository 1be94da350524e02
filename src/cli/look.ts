/**
 * What the commands that only look share: the settings' database, opened to
 * read, and the machine that its rows are read with.
 *
 * Neither makes nor migrates nor writes anything, and needs no account.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig, readEnvironment } from '../config/index.js';
import type { Config } from '../config/parse.js';
import { readableSessionKind } from '../effects/session-kind.js';
import { RefusedError } from '../errors.js';
import { type Clock, createClock } from '../ports/clock.js';
import type { StoreReader } from '../ports/store.js';
import { configuredRules } from '../rules.js';
import type { ReadableKind } from '../runtime/actor.js';
import { openReader } from '../store/open.js';
import type { LookOptions } from './look-options.js';
import { ConfigError, refuse } from './refuse.js';
import { json, printTo } from './text.js';

/** What `start --local` serves from, unless DATABASE_URL names another. */
const DATABASE = 'file:.outposts/local.db';
/** The databases that `start` keeps in the current directory. */
const KEPT = ['.outposts/local.db', '.outposts/embedded.db'];

export interface Look {
  readonly store: StoreReader;
  readonly kind: ReadableKind;
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  /** Now, and never before the latest change: a world's clock may run ahead of this machine's. */
  nowAfter(changes: readonly number[]): number;
  readonly speed: number;
  print(text: string): void;
  printJson(value: unknown): void;
}

/** Opens, looks, closes; answers the exit code: that of `show`, 1 when it failed, 2 when settings are wrong. */
export async function runLook(options: LookOptions, show: (look: Look) => Promise<number>): Promise<number> {
  const print = printTo(process.stdout);
  try {
    const around = await surroundings(options);
    const store = await open(around.config, options);
    try {
      return await show({
        ...around,
        store,
        nowAfter: (changes) => Math.max(around.clock.now(), ...changes),
        kind: readableSessionKind(configuredRules(around.config)),
        print,
        printJson: (value) => print(json(value, 2)),
      });
    } finally {
      await store.close();
    }
  } catch (error) {
    return refuse(error);
  }
}

async function surroundings({
  database,
  world,
}: LookOptions): Promise<Pick<Look, 'config' | 'clock' | 'speed'>> {
  const given = readEnvironment({ env: process.env, directory: process.cwd() });
  const env = database === undefined ? given : { ...given, DATABASE_URL: database };
  if (world !== undefined) return (await import('./world.js')).runningWorld(env, world);
  // The one mode that asks for no account.
  const parsed = parseConfig(
    { ...env, DATABASE_URL: env.DATABASE_URL?.trim() || DATABASE },
    { mode: 'embedded' },
  );
  if (parsed.kind === 'problems') throw new ConfigError(parsed);
  return { config: parsed.config, clock: createClock(), speed: 1 };
}

async function open({ databaseUrl }: Config, { database }: LookOptions): Promise<StoreReader> {
  try {
    return await openReader(databaseUrl.reveal());
  } catch (error) {
    if (!(error instanceof RefusedError) || !databaseUrl.reveal().startsWith('file:')) throw error;
    throw new RefusedError(`${error.message}${elsewhere(databaseUrl.reveal())}`, {
      setting: database === undefined ? error.setting : '--database',
    });
  }
}

/** The databases that are here, when another was looked for. */
function elsewhere(url: string): string {
  const here = KEPT.filter((path) => !url.endsWith(path) && existsSync(join(process.cwd(), path)));
  return here.length === 0 ? '' : `; here is ${here.map((path) => `--database file:${path}`).join(' and ')}`;
}
