/**
 * The text of a Mermaid state diagram of an outline.
 *
 * The same outline gives the same bytes. Where several states lead to one for
 * the same causes, their boxes say so instead of arrows.
 */
import { type Edge, type Outline, shortWords } from './outline.js';

export function mermaid({ initial, states, drawn, said }: Outline): string {
  const lines = [
    ...states.flatMap(({ name }) => box(name, said)),
    `[*] --> ${initial}`,
    ...drawn.map(arrow),
    ...states.filter(({ final }) => final).map(({ name }) => `${name} --> [*]`),
  ];
  return `stateDiagram-v2\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

const arrow = ({ from, to, causes }: Edge) => `${from} --> ${to} : ${shortWords(causes).join('<br/>')}`;

/** The first line becomes the box's title. */
function box(name: string, said: Edge[]): string[] {
  const departures = said.filter(({ from }) => from === name);
  return [
    `${name} : ${name}`,
    ...departures.map(({ causes, to }) => `${name} : ${shortWords(causes).join(' or<br/>')} → ${to}`),
  ];
}
