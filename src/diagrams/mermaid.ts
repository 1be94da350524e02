/**
 * The text of a Mermaid state diagram of an outline.
 *
 * The same outline gives the same bytes. Where several states lead to one for the
 * same causes, their boxes say so instead of arrows: with an arrow for each,
 * nothing would be readable at the width of a README.
 */
import type { Edge, Outline } from './outline.js';
import { wordsOf } from './words.js';

/** A label says this many causes; `…` stands for the others. */
const CAUSES_SHOWN = 3;

export function mermaid({ initial, states, edges }: Outline): string {
  const drawn = new Set(states.flatMap(({ name }) => drawable(edges.filter(({ to }) => to === name))));
  const said = edges.filter((edge) => !drawn.has(edge));
  const lines = [
    ...states.flatMap(({ name }) => box(name, said)),
    `[*] --> ${initial}`,
    ...edges.filter((edge) => drawn.has(edge)).map(arrow),
    ...states.filter(({ final }) => final).map(({ name }) => `${name} --> [*]`),
  ];
  return `stateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Which of a state's arrivals are drawn: those with a label of their own, or else the first. */
function drawable(arrivals: Edge[]): Edge[] {
  const alike = (a: Edge, b: Edge) => label(a).join() === label(b).join();
  const single = arrivals.filter((edge) => arrivals.filter((other) => alike(edge, other)).length === 1);
  return single.length > 0 ? single : arrivals.slice(0, 1);
}

const arrow = (edge: Edge) => `${edge.from} --> ${edge.to} : ${label(edge).join('<br/>')}`;

/** The first line becomes the box's title. */
function box(name: string, said: Edge[]): string[] {
  const departures = said.filter(({ from }) => from === name);
  return [
    `${name} : ${name}`,
    ...departures.map((edge) => `${name} : ${label(edge).join(' or<br/>')} → ${edge.to}`),
  ];
}

function label({ causes }: Edge): string[] {
  const words = wordsOf(causes);
  return words.length > CAUSES_SHOWN ? [...words.slice(0, CAUSES_SHOWN), '…'] : words;
}
