/** Follows the scripted sessions of the embedded world until nothing is left to do, and judges how they went. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Orchestrator } from '../compose.js';
import type { SessionView } from '../dashboard/view.js';
import type { Demo, DemoReport } from '../emulator/world/index.js';
import type { Clock } from '../ports/clock.js';
import type { Recorder } from './recorder.js';
import type { SummaryRow } from './terminal.js';

/** Nothing moved for this long in the world's time: it never will. */
const STUCK_MS = 20 * 60_000;
const LOOK_EVERY_WALL_MS = 100;

export interface DemoEnd {
  readonly rows: readonly SummaryRow[];
  /** What went wrong, in words; empty when nothing did. */
  readonly reasons: readonly string[];
}

export async function watchDemo(
  orchestrator: Orchestrator,
  world: { runDemo(n: number, signal?: AbortSignal): Promise<Demo> },
  count: number,
  parts: { clock: Clock; recorder: Recorder; exitWhenIdle: boolean; signal: AbortSignal },
): Promise<DemoEnd> {
  const { clock, recorder, exitWhenIdle, signal } = parts;
  const startedAt = clock.now();
  const over = new AbortController();
  const demo = await world.runDemo(count, AbortSignal.any([over.signal, signal]));
  const reports = new Map<string, DemoReport>();
  for (const [index, report] of demo.reports.entries()) {
    report.then((done) => reports.set(demo.sessionIds[index] ?? '', done)).catch(() => undefined);
  }
  const isOver = (id: string) => reports.has(id) && recorder.of(id)?.state === 'ended';
  /** What waits for an operator moves no more by itself. */
  const isIdle = (id: string) => isOver(id) || (exitWhenIdle && recorder.of(id)?.state === 'parked');
  const stuckSince = () => Math.max(startedAt, recorder.lastAt());
  for (;;) {
    if (demo.sessionIds.every(isIdle)) break;
    if (clock.now() - stuckSince() > STUCK_MS) break;
    await pause(LOOK_EVERY_WALL_MS, undefined, { signal });
  }
  over.abort();
  const view = await orchestrator.view();
  const reasons = [
    ...demo.sessionIds.flatMap((id) => reasonsOf(id, reports.get(id), view.sessions, recorder)),
    ...(demo.sessionIds.every(isOver) ? [] : view.problems),
    ...(view.slots.used === 0 ? [] : [`${view.slots.used} slots are still held`]),
  ];
  return { rows: demo.sessionIds.map((id) => rowOf(id, startedAt, reports.get(id), recorder)), reasons };
}

function reasonsOf(
  id: string,
  report: DemoReport | undefined,
  sessions: readonly SessionView[],
  recorder: Recorder,
): string[] {
  const told = (report?.problems ?? []).map((problem) => `${id}: ${problem}`);
  const state = recorder.of(id)?.state ?? 'never claimed';
  if (state === 'ended') return told;
  const view = sessions.find((session) => session.id === id);
  const why = [view?.outcome, view?.problem, view?.quarantine].filter((part) => part != null);
  return [...told, `${id}: it got no further than ${state}${why.length > 0 ? ` (${why.join('; ')})` : ''}`];
}

function rowOf(
  id: string,
  startedAt: number,
  report: DemoReport | undefined,
  recorder: Recorder,
): SummaryRow {
  const record = recorder.of(id);
  const since = (at: number | null | undefined) => (at == null ? null : at - startedAt);
  return {
    id,
    episodes: record?.episodes ?? 0,
    outcome: record?.outcome ?? null,
    claimedAfterMs: since(record?.claimedAt),
    connectedAfterMs: since(record?.connectedAt),
    totalMs: since(record?.endedAt),
    checks: report === undefined ? 'not over' : report.ok ? 'passed' : 'failed',
  };
}
