/**
 * The live part of the terminal as lines: one for the whole, one for each
 * session, never more than fit. Pure: the same view, the same lines.
 */
import { durationInWords } from '../dashboard/assets/format.js';
import {
  type Group,
  groupOf,
  inWords,
  isAtRest,
  STEPS,
  stateInWords,
  stepOf,
} from '../dashboard/lifecycle.js';
import type { FleetView, SessionView } from '../dashboard/view.js';
import { clean, cut, line, pad, type Span, type Style, widthOf } from './text.js';

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  /** The instant that times are counted to, on the view's clock. */
  readonly now: number;
}

const INTEREST: readonly Group[] = ['trouble', 'working', 'waiting', 'resting'];
const ID_COLUMNS = 28;
const STATE_COLUMNS = 26;

export function frame(view: FleetView, screen: Screen): string[] {
  const problems = view.problems.slice(0, 3).map((problem): Span[] => [[`! ${clean(problem)}`, 'red']]);
  const room = Math.max(1, screen.rows - problems.length - 3);
  const shown = view.sessions.length <= room ? view.sessions : mostInteresting(view.sessions, room - 1);
  const idColumns = Math.min(ID_COLUMNS, Math.max(0, ...shown.map(({ id }) => widthOf(clean(id)))));
  const lines = [
    headline(view),
    ...problems,
    ...shown.map((session) => sessionLine(session, idColumns, screen.now)),
  ];
  if (shown.length < view.sessions.length) lines.push([[restInWords(view.sessions, shown), 'dim']]);
  return lines.map((spans) => line(spans, screen.columns - 1, screen.colour));
}

function headline({ slots, queueDepth, states }: FleetView): Span[] {
  const resting = Object.entries(states).reduce(
    (sum, [state, count]) => sum + (isAtRest(state) ? count : 0),
    0,
  );
  return [
    [`${slots.used} of ${slots.max} slots · ${queueDepth} in Devin's queue · ${resting} at rest`, 'dim'],
  ];
}

function sessionLine(session: SessionView, idColumns: number, now: number): Span[] {
  const group = groupOf(session);
  const since = durationInWords(now - session.stateSince);
  return [
    [pad(cut(clean(session.id), idColumns), idColumns), 'bold'],
    ['  ', 'plain'],
    ...stepBar(session.state, group),
    ['  ', 'plain'],
    [pad(cut(clean(stateInWords(session.state)), STATE_COLUMNS), STATE_COLUMNS), 'plain'],
    [`  ${pad(since, 12)}  `, 'dim'],
    detail(session, now),
  ];
}

function stepBar(state: string, group: Group): Span[] {
  const step = stepOf(state);
  if (step === null) return [['─'.repeat(STEPS.length), 'dim']];
  const position = STEPS.indexOf(step);
  return [
    ['━'.repeat(position), 'blue'],
    ['●', colourOf(group)],
    ['─'.repeat(STEPS.length - 1 - position), 'dim'],
  ];
}

function colourOf(group: Group): Style {
  if (group === 'trouble') return 'red';
  return group === 'resting' ? 'green' : 'bold';
}

/** The one thing that is most worth knowing besides the state. */
function detail(session: SessionView, now: number): Span {
  const { quarantine, problem, waitsFor, outcome, vmExpiresAt, episode } = session;
  if (quarantine !== null) return [`set aside: ${clean(quarantine)}`, 'red'];
  if (problem !== null) return [clean(problem), 'red'];
  if (waitsFor !== null) return [`waits for ${clean(waitsFor)}`, 'dim'];
  const told = [episode > 1 ? `episode ${episode}` : '', outcome === null ? '' : clean(inWords(outcome))];
  if (vmExpiresAt !== null) told.push(`vm ends in ${durationInWords(vmExpiresAt - now)}`);
  return [told.filter(Boolean).join(' · '), 'dim'];
}

/** Those an operator wants to see first, in the order in which they stood. */
function mostInteresting(sessions: readonly SessionView[], most: number): readonly SessionView[] {
  const rank = (session: SessionView) => INTEREST.indexOf(groupOf(session));
  const chosen = new Set(
    [...sessions].sort((a, b) => rank(a) - rank(b) || b.stateSince - a.stateSince).slice(0, most),
  );
  return sessions.filter((session) => chosen.has(session));
}

function restInWords(sessions: readonly SessionView[], shown: readonly SessionView[]): string {
  const counts = new Map<string, number>();
  const drawn = new Set(shown);
  for (const session of sessions) {
    if (drawn.has(session)) continue;
    const state = clean(session.state.split('.', 1)[0] ?? '');
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const parts = [...counts].map(([state, count]) => `${count} ${state}`);
  return `and ${sessions.length - shown.length} more: ${parts.join(', ')}`;
}
