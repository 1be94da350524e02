/**
 * What a picture of a machine shows: boxes with lines of text, and arrows.
 *
 * Arrows connect boxes side by side. A step that leads out of the box it is in
 * says so in words: with an arrow for each, nothing would be readable. Knows no
 * positions.
 */
import { type Cause, type State, type Transition, topOf, transitionsWithin } from '../chart.js';
import { type Edge, outline, shortWords } from '../outline.js';
import { wordsOf } from '../words.js';
import { STYLES, type TextStyle, wrap } from './text.js';

export interface Box {
  /** The state's path. */
  id: string;
  lines: Line[];
  final: boolean;
  /** The inner box in which it begins. */
  initial: string | null;
  inner: Box[];
  arrows: Arrow[];
}
export interface Line {
  text: string;
  style: TextStyle;
  /** It goes on with the line above. */
  isSetIn: boolean;
}
export interface Arrow {
  from: string;
  to: string;
  words: string[];
  failure: boolean;
  /** Each cause as the machine names it. */
  names: string[];
}

const ROOM_PX = 210;
/** Where there is an inside, it is wide anyway. */
const WIDE_PX = 460;

/** Top-level states only, each with what it does. */
export const overview = (chart: State): Box =>
  outermost(chart, (state, said) => leaf(state, [...steps(state), ...said]));

/** Every state. */
export const whole = (chart: State): Box =>
  outermost(chart, (state, said) => (state.inner.length > 0 ? compound(state, chart) : leaf(state, said)));

/** `said`: what leads from a state without an arrow. */
function outermost(chart: State, boxOf: (state: State, said: Line[]) => Box): Box {
  const { drawn, said } = outline(chart);
  const inner = chart.inner.map((state) => {
    const departures = said.filter(({ from }) => from === state.name);
    const again = state.transitions.filter(({ from, to }) => from === to);
    return boxOf(state, [...exits(state, again), ...departures.flatMap((edge) => saidLines(edge))]);
  });
  return { ...frame(chart), inner, arrows: drawn.flatMap((edge) => arrowsOf(edge, shortWords)) };
}

/** One top-level state with its inside. */
export function inside(state: State, chart: State): Box {
  const box = compound(state, chart);
  const lines = [...box.lines, ...arrivals(state, chart, WIDE_PX)];
  return { ...frame(chart), initial: null, inner: [{ ...box, lines }], arrows: [] };
}

const frame = ({ initial }: State) => ({ id: '', lines: [], final: false, initial });

function compound(state: State, chart: State): Box {
  const { inner } = state;
  const pairs = inner
    .flatMap((from) => inner.map((to) => edgeBetween(from, to)))
    .filter((edge) => edge !== null);
  return {
    ...leaf(state, exits(state, state.transitions, WIDE_PX), WIDE_PX),
    initial: state.initial === null ? null : `${state.path}.${state.initial}`,
    inner: inner.map((each) => leaf(each, [...arrivals(each, chart), ...exits(state, each.transitions)])),
    arrows: pairs.flatMap((edge) => arrowsOf(edge, wordsOf)),
  };
}

function edgeBetween(from: State, to: State): Edge | null {
  const causes = from.transitions
    .filter((each) => each.to === to.path && from !== to)
    .map(({ cause }) => cause);
  return causes.length === 0 ? null : { from: from.path, to: to.path, causes };
}

function leaf(state: State, more: Line[], room = ROOM_PX): Box {
  const { path, name, description, tags, effect, deadlines, final } = state;
  const lines = [
    line(name, STYLES.title),
    ...(effect === null ? [] : [line(effect, STYLES.effect)]),
    ...wrapped(description.replace(/`([^`]*)`/g, '“$1”'), STYLES.note, room),
    ...(deadlines.length === 0 ? [] : wrapped(`deadlines: ${deadlines.join(', ')}`, STYLES.small, room)),
    ...(tags.length === 0 ? [] : wrapped(tags.map((tag) => `#${tag}`).join(' '), STYLES.small, room)),
    ...more,
  ];
  return { id: path, lines, final, initial: null, inner: [], arrows: [] };
}

const line = (text: string, style: TextStyle): Line => ({ text, style, isSetIn: false });
const wrapped = (text: string, style: TextStyle, room = ROOM_PX) =>
  wrap(text, room, style).map((each) => line(each, style));

/** Where it goes on after the first line, it is set in. */
const setIn = (text: string, style: TextStyle, room = ROOM_PX) =>
  wrap(text, room, style).map((each, index) => ({ ...line(each, style), isSetIn: index > 0 }));

const steps = ({ inner }: State): Line[] =>
  inner.length === 0 ? [] : wrapped(`steps: ${inner.map(({ name }) => name).join(', ')}`, STYLES.small);

/** What leads from a step out of the box that it is in, and back to itself. */
function exits(within: State, transitions: Transition[], room = ROOM_PX): Line[] {
  const leaving = transitions.filter(
    ({ from, to }) => to !== null && (to === from || !to.startsWith(`${within.path}.`)),
  );
  const targets = [...new Set(leaving.map(({ to }) => to ?? ''))];
  return targets.flatMap((to) =>
    saidLines(
      {
        from: '',
        to: transitions[0]?.from === to ? 'again' : to,
        causes: leaving.filter((each) => each.to === to).map(({ cause }) => cause),
      },
      room,
    ),
  );
}

/** From which other top-level states it is entered itself, rather than the box that it is in. */
function arrivals(state: State, chart: State, room = ROOM_PX): Line[] {
  const coming = transitionsWithin(chart).filter(
    ({ from, to }) => to === state.path && topOf(from) !== topOf(state.path),
  );
  const origins = [...new Set(coming.map(({ from }) => from))];
  return origins.flatMap((from) => {
    const causes = coming.filter((each) => each.from === from).map(({ cause }) => cause);
    return setIn(`← ${from}: ${wordsOf(causes).join(', ')}`, STYLES.exit, room);
  });
}

const isFailure = ({ kind }: Cause) => kind === 'failure';

/** Failures apart from the rest. */
function split<T>({ causes }: Edge, show: (causes: Cause[], failure: boolean) => T): T[] {
  const [failures, others] = [causes.filter(isFailure), causes.filter((cause) => !isFailure(cause))];
  return [
    ...(others.length > 0 ? [show(others, false)] : []),
    ...(failures.length > 0 ? [show(failures, true)] : []),
  ];
}

const saidLines = (edge: Edge, room = ROOM_PX): Line[] =>
  split(edge, (causes, failure) =>
    setIn(`→ ${edge.to}: ${wordsOf(causes).join(', ')}`, failure ? STYLES.failed : STYLES.exit, room),
  ).flat();

const arrowsOf = (edge: Edge, words: (causes: Cause[]) => string[]): Arrow[] =>
  split(edge, (causes, failure) => ({
    from: edge.from,
    to: edge.to,
    words: words(causes),
    failure,
    names: [
      ...new Set(causes.map(({ kind, name, guard }) => `${kind} ${name}${guard ? ` if ${guard}` : ''}`)),
    ],
  }));
