/**
 * A machine's outline: its top-level states, and one edge for each pair of them
 * that a transition anywhere inside connects, with what causes it.
 *
 * Steps inside a top-level state are left out.
 */
import { type Cause, type State, topOf, transitionsWithin } from './chart.js';
import { wordsOf } from './words.js';

export interface Outline {
  initial: string;
  states: State[];
  /** Those that deserve an arrow. */
  drawn: Edge[];
  /** The others: with an arrow for each, nothing would be readable. */
  said: Edge[];
}

export interface Edge {
  from: string;
  to: string;
  causes: Cause[];
}

export function outline(chart: State): Outline {
  const states = chart.inner;
  const edges = states.flatMap((state) => edgesFrom(state, states));
  const drawn = new Set(states.flatMap(({ name }) => drawable(edges.filter(({ to }) => to === name))));
  return {
    initial: chart.initial ?? '',
    states,
    drawn: edges.filter((edge) => drawn.has(edge)),
    said: edges.filter((edge) => !drawn.has(edge)),
  };
}

function edgesFrom(state: State, order: State[]): Edge[] {
  const exits = transitionsWithin(state);
  return order.flatMap(({ name }) => {
    const causes = exits.filter(({ to }) => to !== null && topOf(to) === name).map(({ cause }) => cause);
    return name === state.name || causes.length === 0 ? [] : [{ from: state.name, to: name, causes }];
  });
}

/** Which of a state's arrivals are drawn: those for causes of their own, or else the first. */
function drawable(arrivals: Edge[]): Edge[] {
  const alike = (a: Edge, b: Edge) => shortWords(a.causes).join() === shortWords(b.causes).join();
  const single = arrivals.filter((edge) => arrivals.filter((other) => alike(edge, other)).length === 1);
  return single.length > 0 ? single : arrivals.slice(0, 1);
}

/** A label says this many causes; `…` stands for the others. */
const CAUSES_SHOWN = 3;

export function shortWords(causes: Cause[]): string[] {
  const words = wordsOf(causes);
  return words.length > CAUSES_SHOWN ? [...words.slice(0, CAUSES_SHOWN), '…'] : words;
}
