/**
 * `watch`: the sessions as they move, until it is stopped.
 *
 * Live lines on a terminal; elsewhere a line, or a JSON object, for every
 * entry that the journal gets, so that nothing is missed between two looks.
 * A database that is away for a while is waited for.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { FleetView } from '../dashboard/view.js';
import { messageOf, TransientError } from '../errors.js';
import { fleetView } from '../view.js';
import { createHappenings } from './happenings.js';
import { type Look, runLook } from './look.js';
import type { LookOptions } from './look-options.js';
import { createTerminal, type TerminalStream } from './terminal.js';
import { json, printTo } from './text.js';

/** By the wall clock. */
const LOOK_EVERY_MS = 500;

/** Answers 0 once SIGINT or SIGTERM came, because that is how it is meant to end. */
export function runWatch(options: LookOptions): Promise<number> {
  return runLook(options, async (look) => {
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    // A reader that goes away has seen enough.
    process.stdout.once('error', onSignal);
    try {
      await watch(look, { stream: process.stdout, json: options.json, signal: stop.signal });
      return 0;
    } finally {
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    }
  });
}

interface WatchOptions {
  readonly stream: TerminalStream;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** Resolves when `signal` aborts, with the terminal as it was before. */
export async function watch(look: Look, options: WatchOptions): Promise<void> {
  const { stream, signal } = options;
  const isLive = stream.isTTY === true && !options.json;
  const shown = isLive ? live(look, stream) : lines(look, options);
  try {
    for (let trouble: string | null = null; !signal.aborted; ) {
      try {
        await shown.look();
        if (trouble !== null) shown.mended(trouble);
        trouble = null;
      } catch (error) {
        if (!(error instanceof TransientError)) throw error;
        if (trouble === null) shown.troubled(error.message);
        trouble ??= messageOf(error);
      }
      await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    shown.close();
  }
}

interface Shown {
  look(): Promise<void>;
  troubled(problem: string): void;
  mended(problem: string): void;
  close(): void;
}

const viewOf = ({ store, kind, config, speed, clock }: Look): Promise<FleetView> =>
  fleetView({ store, kind, maxConcurrent: config.maxConcurrent, speed, now: clock.now, problems: () => [] });

function live(look: Look, stream: TerminalStream): Shown {
  let view: FleetView | null = null;
  const now = () => look.nowAfter(view?.sessions.map(({ stateSince }) => stateSince) ?? []);
  const terminal = createTerminal({ stream, clock: { now }, tty: true });
  return {
    async look() {
      view = await viewOf(look);
      terminal.show(view);
    },
    troubled: (problem) =>
      view === null ? terminal.log(problem) : terminal.show({ ...view, problems: [problem] }),
    mended() {},
    close: () => terminal.close(),
  };
}

function lines(look: Look, { stream, json: asJson }: WatchOptions): Shown {
  const print = printTo(stream);
  const happenings = createHappenings(look, () => viewOf(look));
  const say = (at: number, type: string, rest: object, words: string) => {
    const instant = new Date(at).toISOString();
    print(asJson ? json({ at: instant, type, ...rest }) : `${instant}  ${words}`);
  };
  const { now } = look.clock;
  return {
    async look() {
      for (const { at, type, words, ...rest } of await happenings()) say(at, type, rest, words);
    },
    troubled: (problem) => say(now(), 'problem', { problem }, `! ${problem}`),
    mended: (problem) => say(now(), 'mended', { problem }, `mended: ${problem}`),
    close() {},
  };
}
