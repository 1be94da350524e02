import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { chart } from '../../src/diagrams/chart.js';
import { mermaid } from '../../src/diagrams/mermaid.js';
import { outline } from '../../src/diagrams/outline.js';
import { readDiagram } from './drawn.js';

const draw = (states: NonNullable<Parameters<typeof createMachine>[0]['states']>) =>
  readDiagram(mermaid(outline(chart(createMachine({ id: 'm', initial: 'a', states })))));

it('a cause without words of its own -> its name in plain letters, deadlines with `after`', () => {
  const { labels } = draw({
    a: { on: { 'tea.isReady': 'b' }, after: { tooLate: 'c' } },
    b: { always: { guard: 'allDrunk', target: 'c' } },
    c: {},
  });
  expect(Object.fromEntries(labels)).toEqual({
    'a -> b': ['tea is ready'],
    'a -> c': ['after too late'],
    'b -> c': ['all drunk'],
  });
});

it('steps within a state, and events that only note something -> left out', () => {
  const { arrows, boxes } = draw({
    a: {
      initial: 'x',
      on: { 'note.taken': { actions: 'note' }, again: { target: 'a', reenter: true } },
      states: { x: { on: { next: 'y' } }, y: { on: { leave: '#m.b' } } },
    },
    b: {},
  });
  expect(boxes).toEqual(['a', 'b']);
  expect(arrows).toEqual(['a -> b']);
});

it('two states lead to a third for the same causes, and one for another -> one arrow, the boxes of the two say the rest', () => {
  const { arrows, said, labels } = draw({
    a: { on: { go: 'b', quit: 'd' } },
    b: { on: { go: 'c', quit: 'd' } },
    c: { on: { fall: 'd' } },
    d: {},
  });
  expect(arrows).toEqual(['a -> b', 'b -> c', 'c -> d']);
  expect(said).toEqual(['a -> d', 'b -> d']);
  expect(labels.get('b -> d')).toEqual(['quit']);
});

it('all that lead to a state do so for the same causes -> the first is an arrow', () => {
  const { arrows, said } = draw({ a: { on: { go: 'b', quit: 'c' } }, b: { on: { quit: 'c' } }, c: {} });
  expect(arrows).toEqual(['a -> b', 'a -> c']);
  expect(said).toEqual(['b -> c']);
});

it('the same cause in several inner states -> said once', () => {
  const { labels } = draw({
    a: { initial: 'x', states: { x: { on: { quit: '#m.b', next: 'y' } }, y: { on: { quit: '#m.b' } } } },
    b: {},
  });
  expect(labels.get('a -> b')).toEqual(['quit']);
});
