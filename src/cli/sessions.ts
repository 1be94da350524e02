/** `sessions`: a table of them, latest change first, and how many there are. */
import { durationInWords } from '../dashboard/assets/format.js';
import { stateInWords } from '../dashboard/lifecycle.js';
import { chart, statesWithin } from '../diagrams/chart.js';
import type { ActorRow } from '../ports/store.js';
import type { ReadableKind } from '../runtime/actor.js';
import { sessionView, situationOf } from '../view.js';
import { waiting } from '../waiting.js';
import { type Look, runLook } from './look.js';
import type { SessionsOptions } from './look-options.js';
import { clean, columns, cut } from './text.js';
import { timeOf } from './times.js';

const HEAD = ['Session', 'State', 'Since', 'Episode', 'Waits for', 'Sandbox'];

export function runSessions(options: SessionsOptions): Promise<number> {
  return runLook(options, (look) => show(look, options));
}

async function show(look: Look, { state, search, limit, json }: SessionsOptions): Promise<number> {
  const { store, kind, nowAfter } = look;
  const states = statesWithin(chart(kind.machine)).map(({ path }) => path);
  if (state !== undefined && !states.includes(state)) {
    process.stderr.write(
      `There is no state ${clean(state)}. States are: ${states.filter(Boolean).join(', ')}\n`,
    );
    return 2;
  }
  const found = await store.list({
    machine: kind.name,
    order: 'news',
    limit: limit + 1,
    ...(state === undefined ? {} : { state }),
    ...(search === undefined ? {} : { search }),
  });
  const counts = await store.counts(kind.name);
  const rows = found.slice(0, limit);
  const hasMore = found.length > limit;
  const now = nowAfter(rows.map(({ updatedAt }) => updatedAt));
  if (json) {
    const sessions = rows.map((row) => ({ ...sessionView(row, kind), waiting: waitingOf(row, kind, now) }));
    look.printJson({ at: now, sessions, hasMore, counts });
    return 0;
  }
  const table =
    rows.length === 0 ? ['no session matches'] : columns([HEAD, ...rows.map((row) => cells(row, kind, now))]);
  const width = (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY;
  for (const line of table) look.print(cut(line, width));
  if (hasMore) look.print(`and more: --limit shows them, --state and --search choose`);
  look.print(`\n${countsInWords(counts)}`);
  return 0;
}

function cells(row: ActorRow, kind: ReadableKind, now: number): string[] {
  const { id, state, stateSince, episode, sandboxName, problem, quarantine } = sessionView(row, kind);
  const trouble = quarantine === null ? problem : `set aside: ${quarantine}`;
  return [
    id,
    stateInWords(state),
    durationInWords(now - stateSince),
    String(episode),
    cut(trouble === null ? (waitingOf(row, kind, now)?.briefly ?? '-') : `! ${trouble}`, WAITS_COLUMNS),
    sandboxName ?? '-',
  ].map(clean);
}

/** The widest column's, so that the others stay in sight. */
const WAITS_COLUMNS = 60;

function waitingOf(row: ActorRow, kind: ReadableKind, now: number) {
  const situation = situationOf(row, kind, now);
  return situation === null ? null : waiting(situation, timeOf(now));
}

function countsInWords({ states, slots, quarantined }: Awaited<ReturnType<Look['store']['counts']>>): string {
  const tops = new Map<string, number>();
  for (const [state, count] of Object.entries(states)) {
    const top = state.split('.', 1)[0] ?? state;
    tops.set(top, (tops.get(top) ?? 0) + count);
  }
  const all = [...tops.values()].reduce((sum, count) => sum + count, 0);
  const each = [...tops].map(([state, count]) => `${count} ${clean(state)}`).join(', ');
  return [
    `${all} ${all === 1 ? 'session' : 'sessions'}${all === 0 ? '' : `: ${each}`}`,
    `${slots} ${slots === 1 ? 'slot' : 'slots'} held`,
    ...(quarantined === 0 ? [] : [`${quarantined} set aside`]),
  ].join(' · ');
}
