import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type DirectedGraphNode, toDirectedGraph } from 'xstate/graph';
import { createConnectionMachine } from '../../machines/connection.js';
import { createSessionMachine } from '../../machines/session.js';
import { chart, transitionsWithin } from '../../src/diagrams/chart.js';
import { mermaid } from '../../src/diagrams/mermaid.js';
import { outline } from '../../src/diagrams/outline.js';
import { WORDS } from '../../src/diagrams/words.js';
import { readDiagram } from './drawn.js';

const machine = createSessionMachine();
const text = mermaid(outline(chart(machine)));
const drawn = readDiagram(text);

/** The machine's edges between top-level states: those of XState's own graph, and what it leaves out, `always`. */
function edgesOfMachine(): string[] {
  const within = (graph: DirectedGraphNode): DirectedGraphNode[] => [
    graph,
    ...graph.children.flatMap(within),
  ];
  const between = within(toDirectedGraph(machine)).flatMap(({ edges, stateNode }) => [
    ...edges.filter(({ transition }) => transition.target).map(({ source, target }) => [source, target]),
    ...(stateNode.always ?? []).flatMap(({ source, target }) => (target ?? []).map((to) => [source, to])),
  ]);
  const names = between.map(([from, to]) => [from?.path[0], to?.path[0]]);
  return [
    ...new Set(names.filter(([from, to]) => from !== to).map(([from, to]) => `${from} -> ${to}`)),
  ].sort();
}

it('every top-level state has one box, the lifecycle’s first and in its order', () => {
  expect([...drawn.boxes].sort()).toEqual(Object.keys(machine.config.states ?? {}).sort());
  expect(drawn.boxes.slice(0, 7).join(' ')).toBe(
    'queued claiming provisioning serving extending snapshotting released',
  );
});

it('what is drawn or said is what the machine can do, no more and no less, and each once', () => {
  expect([...drawn.arrows, ...drawn.said].sort()).toEqual(edgesOfMachine());
});

it('begins where the machine begins, ends where it ends', () => {
  expect(drawn.beginning).toEqual(['queued']);
  expect(drawn.ends).toEqual(['ended']);
});

it('every state but the first is reached by an arrow, and the way around is drawn', () => {
  const reached = drawn.arrows.map((arrow) => arrow.split(' -> ')[1]);
  expect(drawn.boxes.filter((name) => !reached.includes(name))).toEqual([]);
  expect(drawn.arrows).toEqual(
    expect.arrayContaining([
      'queued -> claiming',
      'claiming -> provisioning',
      'provisioning -> serving',
      'serving -> extending',
      'extending -> serving',
      'serving -> snapshotting',
      'snapshotting -> released',
      'released -> queued',
    ]),
  );
});

it('a label says at most three causes, and that there are more', () => {
  for (const [edge, words] of drawn.labels) {
    expect(words.length, edge).toBeLessThanOrEqual(4);
    expect(words.slice(0, 3), edge).not.toContain('…');
    if (words.length === 4) expect(words[3], edge).toBe('…');
  }
  expect(drawn.labels.get('serving -> snapshotting')).toContain('…');
});

it.each([
  ['an event', 'queued -> claiming', 'slot granted'],
  ['a deadline', 'serving -> extending', 'little time left'],
  ['an effect’s answer', 'claiming -> provisioning', 'claimed'],
  ['any answer at all', 'discarding -> ended', 'done'],
  ['any other answer, to an inner state', 'provisioning -> serving', 'crashed'],
  ['a failed effect', 'extending -> serving', 'failed'],
  ['a condition', 'released -> queued', 'claimable'],
  ['what is left when no condition holds', 'snapshotting -> released', 'vm stopped'],
])('%s is said on the edge %s', (_, edge, words) => {
  expect(drawn.labels.get(edge)).toContain(words);
});

it('every word is for something that a machine names', () => {
  const transitions = [machine, createConnectionMachine()].flatMap((each) => transitionsWithin(chart(each)));
  const names = new Set(transitions.flatMap(({ cause }) => [cause.name, cause.guard]));
  expect([...WORDS.keys()].filter((name) => !names.has(name))).toEqual([]);
});

it('drawn twice -> the same bytes', () => {
  expect(mermaid(outline(chart(createSessionMachine())))).toBe(text);
});

it.each(['visualizations/README.md', 'visualizations/session.mmd'])('%s shows it', (path) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toContain(text);
});
