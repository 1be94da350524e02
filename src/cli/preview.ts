/**
 * `preview`: what would be deployed, served on this machine.
 *
 * Runs the functions of the built output, never the sources, with the engine
 * for development in place of the platform's queues and whatever database the
 * settings name. Listens on loopback. Nobody calls the crons unless asked to.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ageOf } from '../build/output.js';
import { RefusedError } from '../errors.js';
import { announceStop, processTime } from '../process.js';
import { type Listening, listen } from './listen.js';
import { openEngine } from './output-engine.js';
import { loadFunctions } from './output-functions.js';
import { createOutputServer, type OutputServer } from './output-server.js';
import type { PreviewOptions } from './preview-options.js';
import { settleCronSecret } from './preview-secret.js';
import { refuse } from './refuse.js';
import { createTerminal, speakThrough, type Terminal } from './terminal.js';
import { settleEnvironment } from './world.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a preview keeps, in the current directory. */
const HOME = '.outposts';
const DATABASE = `file:${HOME}/preview.db`;
/** How long running requests may take to end, by the wall. */
const SETTLE_MS = 3_000;
const EXIT_MS = 500;

const portSchema = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.number().max(65_535));

/** Runs until it is stopped; answers the exit code. */
export async function runPreview(options: PreviewOptions): Promise<number> {
  const { json } = options;
  const terminal = createTerminal({ stream: process.stdout, clock: { now: Date.now }, json, tty: false });
  try {
    const output = options.output ?? join(ROOT, '.vercel/output');
    await checkAge(output, terminal);
    const env = await settleEnvironment(options.world);
    process.env.DATABASE_URL = env.DATABASE_URL?.trim() || DATABASE;
    await serve(options, output, terminal);
    return 0;
  } catch (error) {
    return refuse(error);
  } finally {
    terminal.close();
  }
}

async function checkAge(output: string, terminal: Terminal): Promise<void> {
  const age = await ageOf(ROOT, output);
  if (age === 'absent')
    throw new RefusedError(`there is nothing built in ${output}`, { setting: 'npm run build:vercel' });
  if (age === 'outdated')
    terminal.log(
      'warning: the sources have changed since this was built; npm run build:vercel builds it anew',
    );
}

async function serve(options: PreviewOptions, output: string, terminal: Terminal): Promise<void> {
  const asked = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  let ready: (server: OutputServer) => void = () => undefined;
  const loaded = new Promise<OutputServer>((resolve) => {
    ready = resolve;
  });
  // Its address is a setting of the functions: it is there before them, and requests wait.
  const listening = await listen(async (request) => (await loaded).answer(request), portOf(options));
  try {
    const server = await load(output, listening, terminal);
    ready(server);
    terminal.log(`page: ${listening.url}`);
    if (options.cron) server.callCrons(processTime().speed);
    await asked;
    terminal.log('stopping');
    process.once('SIGINT', () => process.exit(130));
    announceStop();
    await Promise.race([server.stop(), pause(SETTLE_MS, undefined, { ref: false })]);
    // The timers of sleeping runs would hold this process for as long as they sleep.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  } finally {
    await listening.close();
  }
}

async function load(output: string, { url }: Listening, terminal: Terminal): Promise<OutputServer> {
  process.env.PUBLIC_URL = process.env.PUBLIC_URL?.trim() || url;
  const secret = await settleCronSecret(process.env.CRON_SECRET?.trim(), HOME);
  process.env.CRON_SECRET = secret.value;
  if (secret.path !== null) terminal.log(`the secret of /api/cron is in ${secret.path}`);

  const log = (line: string) => terminal.log(line);
  speakThrough(terminal);
  const engine = await openEngine(process.env.WORKFLOW_LOCAL_DATA_DIR || join(HOME, 'workflow-data'));
  const functions = await loadFunctions(output, log);
  const server = await createOutputServer({ output, functions, url, cronSecret: secret.value, log });
  await engine.start(server.queueFunctions);
  return server;
}

function portOf({ port }: PreviewOptions): number {
  if (port !== undefined) return port;
  const parsed = portSchema.safeParse(process.env.PORT?.trim() || '3000');
  if (parsed.success) return parsed.data;
  throw new RefusedError('the port should be a number from 0 to 65535', { setting: 'PORT' });
}
