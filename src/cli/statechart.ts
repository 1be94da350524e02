/**
 * A statechart as text: a box for each top-level state, one below the other in
 * the machine's order, with what leads on beside it. Pure.
 *
 * What is marked is marked by lines and letters; colour only repeats it.
 */
import { inWords } from '../dashboard/lifecycle.js';
import { pad, type Span, type Style, timeTaken, widthOf } from './text.js';

export interface Chart {
  readonly states: readonly ChartState[];
  readonly edges: readonly ChartEdge[];
}

export interface ChartState {
  readonly name: string;
  readonly description: string;
  /** The inner states on the way to where the session is, dotted; null when it is not in here. */
  readonly current: string | null;
  readonly visits: number;
  readonly ms: number;
}

export interface ChartEdge {
  readonly from: string;
  readonly to: string;
  /** In words, what tells most first. */
  readonly causes: readonly string[];
  /** How often the session went this way. */
  readonly taken: number;
}

export const LEGEND = '╔═▶ is there now   ┌─┐ has been there   ┌╌┐ has not';

export function statechart({ states, edges }: Chart): Span[][] {
  const width =
    Math.max(...states.map(({ name, current }) => Math.max(widthOf(name), widthOf(inner(current))))) + 4;
  return states.flatMap((state, index) => {
    const exits = edges.filter(({ from }) => from === state.name);
    const below = states[index + 1]?.name;
    const onward = exits.find(({ to }) => to === below);
    const beside = [...stayed(state), ...exits.filter((exit) => exit !== onward).map(exitInWords)];
    return [...box(state, width, beside, onward !== undefined), ...arrow(onward, width, below !== undefined)];
  });
}

type Lines = Readonly<Record<'corners' | 'across' | 'down' | 'tee', string>>;
const LINES: Readonly<Record<'now' | 'been' | 'not', Lines>> = {
  now: { corners: '╔╗╚╝', across: '═', down: '║', tee: '╤' },
  been: { corners: '┌┐└┘', across: '─', down: '│', tee: '┬' },
  not: { corners: '┌┐└┘', across: '╌', down: '╎', tee: '┬' },
};

function box(
  { name, current, visits }: ChartState,
  width: number,
  beside: readonly Span[],
  leadsOn: boolean,
): Span[][] {
  const which = current !== null ? 'now' : visits > 0 ? 'been' : 'not';
  const style: Style = which === 'now' ? 'green' : which === 'not' ? 'dim' : 'plain';
  const { corners, across, down, tee } = LINES[which];
  const [topLeft = '', topRight = '', bottomLeft = '', bottomRight = ''] = corners;
  const border = (left: string, middle: string, right: string): Span[] => {
    const before = Math.floor(width / 2);
    return [[left + across.repeat(before) + middle + across.repeat(width - before - 1) + right, style]];
  };
  const written = [current === null ? name : `▶ ${name}`, ...(inner(current) === '' ? [] : [inner(current)])];
  const rows = Array.from({ length: Math.max(written.length, beside.length) }, (_, row): Span[] => {
    const text = pad(` ${written[row] ?? ''}`, width);
    return [
      [down, style],
      [text, which === 'now' ? 'bold' : style],
      [`${down}  `, style],
      beside[row] ?? ['', 'plain'],
    ];
  });
  return [
    border(topLeft, across, topRight),
    ...rows,
    border(bottomLeft, leadsOn ? tee : across, bottomRight),
  ];
}

function arrow(edge: ChartEdge | undefined, width: number, isBelow: boolean): Span[][] {
  if (edge === undefined) return isBelow ? [[]] : [];
  const left = ' '.repeat(Math.floor(width / 2) + 1);
  return [[[`${left}▼ `, edge.taken > 0 ? 'plain' : 'dim'], labelled('', edge)]];
}

const inner = (current: string | null): string =>
  current === null || current === '' ? '' : `  ${current.split('.').map(inWords).join(' · ')}`;

const stayed = ({ visits, ms }: ChartState): Span[] =>
  visits === 0 ? [] : [[`${times(visits)}, ${timeTaken(ms)}`, 'plain']];

const exitInWords = (edge: ChartEdge): Span => labelled(`→ ${edge.to}: `, edge);

function labelled(before: string, { causes, taken }: ChartEdge): Span {
  const went = taken === 0 ? '' : `  [${times(taken)}]`;
  return [`${before}${causes.join(', ')}${went}`, taken === 0 ? 'dim' : 'bold'];
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
