/**
 * What `start` shows while it runs: live lines on a terminal, plain lines when
 * its output goes elsewhere, JSON lines when asked for.
 *
 * Prints nothing that came from outside before it is cleaned, and a reader
 * that goes away (`| head`) ends the printing, not the program.
 */
import type { Writable } from 'node:stream';
import { format } from 'node:util';
import { createLogUpdate } from 'log-update';
import { inWords } from '../dashboard/lifecycle.js';
import type { FleetView } from '../dashboard/view.js';
import type { Clock } from '../ports/clock.js';
import { type Change, createChanges } from './changes.js';
import { frame } from './frame.js';
import { type SummaryRow, summaryTable } from './summary-table.js';
import { clean, json, printTo } from './text.js';

export type { SummaryRow } from './summary-table.js';

export interface Terminal {
  /** Shows the latest view; earlier ones are history. */
  show(view: FleetView): void;
  /** Prints something that stays, above the live lines. */
  log(text: string): void;
  /** Prints the final table; live lines end here. */
  summary(rows: readonly SummaryRow[]): void;
  /** Leaves the last live lines standing. Safe to repeat. */
  close(): void;
}

export type TerminalStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

export interface TerminalOptions {
  readonly stream: TerminalStream;
  readonly clock: Pick<Clock, 'now'>;
  /** Live lines instead of a log; default: whether the stream is a terminal. */
  readonly tty?: boolean;
  readonly json?: boolean;
  /** Default: on a terminal, unless NO_COLOR or TERM=dumb says otherwise. */
  readonly colour?: boolean;
}

const REDRAW_MS = 1000;

export function createTerminal(options: TerminalOptions): Terminal {
  const { stream } = options;
  if (options.json) return jsonTerminal(options, printTo(stream));
  return (options.tty ?? stream.isTTY) ? liveTerminal(options) : plainTerminal(options, printTo(stream));
}

/** What libraries print in this process becomes lines of the terminal: plain ones, or JSON. */
export function speakThrough(terminal: Terminal): void {
  for (const name of ['debug', 'error', 'info', 'log', 'warn'] as const)
    console[name] = (...args: unknown[]) => terminal.log(format(...args));
}

function liveTerminal({ stream, clock, colour = wantsColour() }: TerminalOptions): Terminal {
  let open = true;
  stream.on('error', () => (open = false));
  const update = createLogUpdate(stream as NodeJS.WriteStream);
  let view: FleetView | null = null;
  const draw = () => {
    if (!view || !open) return;
    const { columns = 80, rows = 24 } = stream;
    update(frame(view, { columns, rows, colour, now: clock.now() }).join('\n'));
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  const close = () => {
    draw();
    clearInterval(timer);
    view = null;
    update.done();
  };
  return {
    show(latest) {
      view = latest;
      draw();
    },
    log(text) {
      if (open) update.persist(cleanLines(text));
      draw();
    },
    summary(rows) {
      close();
      if (open) stream.write(`\n${summaryTable(rows)}\n`);
    },
    close,
  };
}

function plainTerminal({ clock }: TerminalOptions, print: (text: string) => void): Terminal {
  const changesOf = createChanges();
  return {
    show(view) {
      for (const change of changesOf(view)) print(`${instant(view.at)}  ${changeInWords(change)}`);
    },
    log: (text) => print(`${instant(clock.now())}  ${cleanLines(text)}`),
    summary: (rows) => print(`\n${summaryTable(rows)}`),
    close() {},
  };
}

function jsonTerminal({ clock }: TerminalOptions, print: (text: string) => void): Terminal {
  const changesOf = createChanges();
  const say = (at: number, type: string, rest: object) => print(json({ at: instant(at), type, ...rest }));
  return {
    show(view) {
      for (const { kind, ...change } of changesOf(view)) say(view.at, kind, change);
    },
    log: (text) => say(clock.now(), 'log', { text }),
    summary: (rows) => say(clock.now(), 'summary', { rows }),
    close() {},
  };
}

function changeInWords(change: Change): string {
  switch (change.kind) {
    case 'problem':
      return `! ${clean(change.problem)}`;
    case 'mended':
      return `mended: ${clean(change.problem)}`;
    case 'troubled':
      return `${clean(change.session.id)}  ! ${clean(change.trouble)}`;
    case 'moved': {
      const { id, state, episode, outcome, waitsFor } = change.session;
      const details = [
        `episode ${episode}`,
        outcome === null ? '' : inWords(outcome),
        waitsFor === null ? '' : `waits for ${waitsFor}`,
      ];
      const said = details.filter(Boolean).join(', ');
      return clean(`${id}  ${change.from ?? 'new'} → ${state}  (${said})`);
    }
  }
}

function instant(at: number): string {
  return new Date(at).toISOString();
}

function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}

/** Unless NO_COLOR or TERM=dumb says otherwise. */
export function wantsColour(): boolean {
  return !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}
