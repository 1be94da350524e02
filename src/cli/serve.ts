/**
 * `serve`: sessions served from servers of one's own.
 *
 * Any number of processes on one PostgreSQL. With the workflow engine every
 * process takes part in driving sessions and one at a time looks at the queue;
 * with the poller each process does all of it, kept apart by leases. Listens on
 * loopback: what may be reached from outside is a proxy's business.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Deployment, deployment } from '../deployment.js';
import { messageOf } from '../errors.js';
import { createControlApp } from '../http/app.js';
import { assemble } from '../parts.js';
import { runPass, WINDOW_MS } from '../pass/pass.js';
import type { Runs } from '../ports/runs.js';
import { announceStop, stopping } from '../process.js';
import { workflowRuns } from '../workflows/runs.js';
import { type Engine, startEngine } from './engine.js';
import { type Listening, listen } from './listen.js';
import { ConfigError, refuse } from './refuse.js';
import type { ServeOptions } from './serve-options.js';
import { runIn } from './start.js';
import { createTerminal, speakThrough, type Terminal } from './terminal.js';
import { realClouds, runningWorld, settleEnvironment } from './world.js';

/** How long running work may take to end, by the wall. */
const SETTLE_MS = 10_000;
const TROUBLE_MS = 5_000;
const EXIT_MS = 1_000;

export async function runServe(options: ServeOptions): Promise<number> {
  const { world } = options;
  if (options.engine === 'poller') {
    const start = { ...options, local: false, exitWhenIdle: false, speed: 1, drain: 'leave' } as const;
    return runIn(start, (env) =>
      world === undefined ? realClouds(env, 'server') : runningWorld(env, world),
    );
  }
  const terminal = createTerminal({
    stream: process.stdout,
    clock: { now: Date.now },
    json: options.json,
    tty: false,
  });
  try {
    await settleEnvironment(world);
    await serve(options, terminal);
    return 0;
  } catch (error) {
    return refuse(error);
  } finally {
    terminal.close();
  }
}

async function serve(options: ServeOptions, terminal: Terminal): Promise<void> {
  const host = deployment();
  if (host.config.kind === 'problems') throw new ConfigError(host.config);
  const { databaseUrl, port } = host.config.config;
  for (const { variable, problem } of host.config.warnings) terminal.log(`warning: ${variable} ${problem}`);
  const asked = new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  speakThrough(terminal);
  const runs = workflowRuns();
  const listening: Listening[] = [];
  const running: Promise<unknown>[] = [];
  let engine: Engine | null = null;
  try {
    // Before anybody can ring: a ring wakes a run of this engine.
    engine = await startEngine(databaseUrl);
    const { publicUrl, operators, connect } = host.config.config;
    const signIn = operators.operatorSecret !== null || operators.viewerSecret !== null;
    // Whatever is passed on to here may be anybody's, and need not say so.
    const isPublic = !signIn && [publicUrl, connect.callbackUrl].some((url) => url?.startsWith('https:'));
    const apps = { deployment: host, runs };
    listening.push(await listen(createControlApp({ ...apps, page: !isPublic }).fetch, options.port ?? port));
    // What a proxy passes on must not be the page: nobody can tell then who asks for it.
    if (isPublic)
      listening.push(await listen(createControlApp({ ...apps, page: true }).fetch, options.pagePort ?? 0));
    if (isPublic)
      terminal.log(
        `doorbell: ${listening[0]?.url}, to be passed on from ${publicUrl ?? connect.callbackUrl}`,
      );
    terminal.log(`page: ${listening.at(-1)?.url}`);
    running.push(keepPassing(host, runs, terminal));
    await asked;
    terminal.log('stopping');
    process.once('SIGINT', () => process.exit(130));
  } finally {
    announceStop();
    const settled = Promise.allSettled([...running, engine?.close()]);
    await Promise.race([settled, pause(SETTLE_MS, undefined, { ref: false })]);
    for (const each of listening) await each.close();
    await host.base().then(
      ({ store }) => store.close(),
      () => undefined,
    );
    // The compiled steps keep connections of their own, which nobody here can close.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  }
}

/** One pass after the other; of several processes, one at a time looks at the queue. */
async function keepPassing(host: Deployment, runs: Runs, terminal: Terminal): Promise<void> {
  const signal = stopping();
  for (let trouble: string | null = null; !signal.aborted; ) {
    try {
      const parts = await assemble(await host.base());
      await runPass({ parts, runs, windowMs: WINDOW_MS / host.speed, signal });
      trouble = null;
    } catch (error) {
      if (signal.aborted) return;
      if (messageOf(error) !== trouble) terminal.log(`cannot go on for now: ${messageOf(error)}`);
      trouble = messageOf(error);
      await pause(TROUBLE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
