/**
 * `start`: brings an orchestrator up, shows it, and takes it down in order.
 *
 * The first Ctrl-C drains, the second stops at once. A restart picks every
 * session up where it was, because nothing of one lives in this process.
 */
import { createOrchestrator, type Orchestrator } from '../compose.js';
import { type Environment, readEnvironment } from '../config/index.js';
import { withDeadline } from '../ports/clock.js';
import { watchDemo } from './demo.js';
import type { Listening } from './listen.js';
import { servePage } from './page.js';
import { createRecorder } from './recorder.js';
import { refuse } from './refuse.js';
import type { StartOptions } from './start-options.js';
import { createTerminal, type Terminal } from './terminal.js';
import { ownWorld, realClouds, runningWorld, type Surroundings } from './world.js';

/** Runs until it is stopped; answers the exit code. */
export function runStart(options: StartOptions): Promise<number> {
  return runIn(options, (env) => {
    if (options.local) return realClouds(env, 'local');
    return options.world === undefined ? ownWorld(env, options.speed) : runningWorld(env, options.world);
  });
}

/** Runs one long-lived orchestrator in the surroundings that `find` brings up. */
export async function runIn(
  options: StartOptions,
  find: (env: Environment) => Promise<Surroundings>,
): Promise<number> {
  const env = readEnvironment({ env: process.env, directory: process.cwd() });
  let around: Surroundings;
  try {
    around = await find(env);
  } catch (error) {
    return refuse(error);
  }
  const terminal = createTerminal({ stream: process.stdout, clock: around.clock, json: options.json });
  try {
    return await serve(options, around, terminal);
  } catch (error) {
    terminal.close();
    return refuse(error);
  } finally {
    await around.close();
  }
}

async function serve(options: StartOptions, around: Surroundings, terminal: Terminal): Promise<number> {
  const { config, clock, speed, world } = around;
  for (const { variable, problem } of around.warnings) terminal.log(`warning: ${variable} ${problem}`);
  const recorder = createRecorder();
  const orchestrator = await createOrchestrator({
    config,
    clock,
    speed,
    ...(around.sandboxFetch === undefined ? {} : { sandboxFetch: around.sandboxFetch }),
    log: (line) => terminal.log(line),
    onTransition: (transition) => recorder.note(transition),
  });
  let page: Listening | null = null;
  const signals = listenForSignals();
  try {
    page = await servePage(orchestrator, {
      port: options.port ?? config.port,
      control: world?.control ?? null,
      log: (line) => terminal.log(line),
    });
    await orchestrator.start();
    terminal.log(`page: ${page.url}`);
    const showing = new AbortController();
    const shown = keepShowing(orchestrator, terminal, showing.signal);
    const demo =
      world === null || (options.sessions ?? 0) === 0
        ? null
        : watchDemo(orchestrator, world, options.sessions ?? 0, {
            clock,
            recorder,
            exitWhenIdle: options.exitWhenIdle,
            signal: showing.signal,
          });
    demo?.catch(() => undefined);
    const ended = await Promise.race([
      signals.first.then(() => null),
      ...(demo !== null && options.exitWhenIdle ? [demo] : []),
    ]);
    if (ended === null) await shutDown(options, around, orchestrator, terminal);
    showing.abort();
    await shown;
    if (ended === null) return 0;
    terminal.summary(ended.rows);
    for (const reason of ended.reasons) terminal.log(`failed: ${reason}`);
    return ended.reasons.length === 0 ? 0 : 1;
  } finally {
    signals.close();
    await orchestrator.stop();
    await page?.close();
    terminal.close();
  }
}

/** Ctrl-C: claims nothing new, then does with the sessions being served what `--drain` says. */
async function shutDown(
  options: StartOptions,
  around: Surroundings,
  orchestrator: Orchestrator,
  terminal: Terminal,
): Promise<void> {
  orchestrator.drain();
  if (options.drain === 'leave') {
    const view = await orchestrator.view();
    const ends = view.sessions.flatMap((session) => session.vmExpiresAt ?? []);
    const running = `${view.slots.used} sessions keep running`;
    if (around.ownWorld || ends.length === 0) terminal.log('stopping');
    else
      terminal.log(`stopping; ${running}: start again before ${new Date(Math.min(...ends)).toISOString()}`);
    return;
  }
  terminal.log(options.drain === 'finish' ? 'waiting for sessions to finish' : 'saving every session');
  if (options.drain === 'snapshot') await orchestrator.snapshotAll();
  while ((await orchestrator.view()).slots.used > 0) await orchestrator.changed(AbortSignal.timeout(1_000));
}

async function keepShowing(
  orchestrator: Orchestrator,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await orchestrator.view().then(
      (view) => terminal.show(view),
      () => undefined,
    );
    const limit = withDeadline(1_000, signal);
    await orchestrator.changed(limit.signal).finally(limit.clear);
  }
}

function listenForSignals() {
  let heard = 0;
  let hear: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const onSignal = () => {
    heard += 1;
    if (heard > 1) {
      process.stderr.write('stopped at once; a restart picks every session up\n');
      process.exit(130);
    }
    hear();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    first,
    close() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
