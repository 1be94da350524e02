import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { createConnectionMachine } from '../../machines/connection.js';
import { createSessionMachine } from '../../machines/session.js';
import { chart, type State, statesWithin, topOf, transitionsWithin } from '../../src/diagrams/chart.js';
import { documents } from '../../src/diagrams/documents.js';
import { whole } from '../../src/diagrams/picture/boxes.js';
import { layout } from '../../src/diagrams/picture/layout.js';
import { svg } from '../../src/diagrams/picture/svg.js';
import { type Area, isInside, overlap, readPicture, within } from './pictured.js';

const README_PX = 880;

const files = await documents();
const textOf = (name: string) => {
  const file = files.find(({ path }) => path === `visualizations/${name}`);
  if (file === undefined) throw new Error(`no file ${name}`);
  return file.text('');
};
const names = files
  .map(({ path }) => /^visualizations\/(.+\.svg)$/.exec(path)?.[1])
  .filter((name) => name !== undefined);

const session = chart(createSessionMachine());
const connection = chart(createConnectionMachine());
const pathsOf = (state: State) =>
  statesWithin(state)
    .map(({ path }) => path)
    .filter((path) => path !== '');

const STATES: [string, string[]][] = [
  ['session.svg', pathsOf(session)],
  ['connection.svg', pathsOf(connection)],
  ['session-overview.svg', session.inner.map(({ path }) => path)],
  ['connection-overview.svg', connection.inner.map(({ path }) => path)],
  ...session.inner
    .filter(({ inner }) => inner.length > 3)
    .map((state): [string, string[]] => [`session-${state.name}.svg`, pathsOf(state)]),
];
it.each(STATES)('%s has a box for each of its states', (name, states) => {
  expect(
    readPicture(textOf(name))
      .boxes.map(({ state }) => state)
      .sort(),
  ).toEqual([...states].sort());
});

it.each([
  ['session.svg', session],
  ['connection.svg', connection],
] as const)('%s: a box tells effect, deadlines, tags and meaning of its state', (name, machine) => {
  const { boxes } = readPicture(textOf(name));
  for (const { path, name: title, effect, deadlines, tags, description } of statesWithin(machine).slice(1)) {
    const lines = boxes.find(({ state }) => state === path)?.lines ?? [];
    const text = lines.join(' ');
    expect(lines[0], path).toBe(title);
    if (effect !== null) expect(lines, path).toContain(effect);
    if (deadlines.length > 0) expect(text, path).toContain(`deadlines: ${deadlines.join(', ')}`);
    for (const tag of tags) expect(text, path).toContain(`#${tag}`);
    expect(text, path).toContain(description.replace(/`([^`]*)`/g, '“$1”'));
  }
});

it.each([
  ['session.svg', session],
  ['connection.svg', connection],
] as const)('%s: every way from one state to another is an arrow or said in a box', (name, machine) => {
  const { boxes, arrows } = readPicture(textOf(name));
  const isShown = (from: string, to: string) =>
    arrows.some(({ title }) => title.startsWith(`${from} → ${to}:`)) ||
    boxes.some(
      ({ state, lines }) =>
        state === from && lines.some((line) => line.startsWith(`→ ${from === to ? 'again' : to}:`)),
    );
  for (const { from, to } of transitionsWithin(machine)) {
    if (to === null) continue;
    // From outside of all steps, a way to a step is seen to lead to the box around it.
    const isAround = !from.includes('.') && isShown(from, topOf(to));
    expect(isShown(from, to) || isAround, `${from} → ${to}`).toBe(true);
  }
});

it('what follows when an effect has failed after all its tries -> an arrow of its own, or a line of its own', () => {
  const { arrows } = readPicture(textOf('session-overview.svg'));
  const failures = arrows.filter(({ isFailure }) => isFailure);
  expect(failures.map(({ title }) => title.split(':')[0])).toEqual([
    'claiming → released',
    'provisioning → snapshotting',
    'extending → serving',
  ]);
  expect(failures.map(({ words }) => words)).toEqual([['failed'], ['failed'], ['failed']]);
  expect(textOf('session-overview.svg')).toMatch(/\.failure path\{stroke-dasharray:/);
});

it('the overview reads from top to bottom: each of the lifecycle’s states below the one before', () => {
  const { boxes } = readPicture(textOf('session-overview.svg'));
  const lifecycle = 'queued claiming provisioning serving extending snapshotting released'.split(' ');
  const tops = lifecycle.map((name) => boxes.find(({ state }) => state === name)?.area.top ?? 0);
  expect(tops).toEqual([...tops].sort((a, b) => a - b));
  expect(new Set(tops).size).toBe(lifecycle.length);
});

describe.each(names)('%s', (name) => {
  const text = textOf(name);
  const { root, boxes, arrows } = readPicture(text);
  const page: Area = {
    left: 0,
    top: 0,
    right: Number(root.attributes.width),
    bottom: Number(root.attributes.height),
  };

  it('all words are within their box, all boxes and labels within the picture', () => {
    for (const { state, area, words } of boxes) {
      expect(isInside(area, page), state).toBe(true);
      for (const word of words) expect(isInside(word, area), state).toBe(true);
    }
    for (const { title, areas } of arrows)
      for (const area of areas) expect(isInside(area, page), title).toBe(true);
  });

  it('boxes overlap only where one is in the other', () => {
    const pairs = boxes.flatMap((a, index) => boxes.slice(index + 1).map((b) => [a, b] as const));
    const crossing = pairs.filter(
      ([a, b]) => overlap(a.area, b.area) && !isInside(b.area, a.area) && !isInside(a.area, b.area),
    );
    expect(crossing.map(([a, b]) => `${a.state} and ${b.state}`)).toEqual([]);
  });

  it('no words are on other words, and no line runs through words', () => {
    const words = [
      ...boxes.flatMap(({ state, words }) => words.map((area) => ({ of: state, area }))),
      ...arrows.flatMap(({ title, areas }) => areas.map((area) => ({ of: title, area }))),
    ];
    const lines = arrows.flatMap(({ title, pieces }) => pieces.map((area) => ({ of: title, area })));
    const clashes = words.flatMap((word, index) =>
      [...words.slice(index + 1), ...lines.map((line) => ({ of: line.of, area: thick(line.area) }))]
        .filter(({ area }) => overlap(word.area, area))
        .map(({ of }) => `${word.of} | ${of}`),
    );
    expect(clashes).toEqual([]);
  });

  it('no line runs through a box that has nothing to do with it', () => {
    const leaves = boxes.filter(({ state }) => !boxes.some((other) => other.state.startsWith(`${state}.`)));
    const clashes = arrows.flatMap(({ title, pieces }) =>
      leaves
        .filter(({ area }) => pieces.some((piece) => overlap(thick(piece), inset(area))))
        .map(({ state }) => `${title} | ${state}`),
    );
    expect(clashes).toEqual([]);
  });

  it('knows light and dark, runs nothing, fetches nothing', () => {
    expect(text).toContain('@media (prefers-color-scheme:dark)');
    const elements = new Set(within(root).map((element) => element.name));
    expect([...elements].sort()).toEqual([
      'circle',
      'g',
      'path',
      'polygon',
      'rect',
      'style',
      'svg',
      'text',
      'title',
    ]);
    expect(text.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
      /https?:|url\(|@import|\son\w+=/,
    );
  });
});

const thick = ({ left, right, top, bottom }: Area): Area => ({
  left: left - 0.5,
  right: right + 0.5,
  top: top - 0.5,
  bottom: bottom + 0.5,
});
const inset = ({ left, right, top, bottom }: Area): Area => ({
  left: left + 2,
  right: right - 2,
  top: top + 2,
  bottom: bottom - 2,
});

it.each(names.filter((name) => !['session.svg', 'connection.svg'].includes(name)))(
  '%s -> its smallest words are legible at the width of a README',
  (name) => {
    const width = Number(readPicture(textOf(name)).root.attributes.width);
    const smallestPx = 11 * Math.min(1, README_PX / width);
    expect(smallestPx).toBeGreaterThan(9);
  },
);

it('drawn twice -> the same bytes', async () => {
  const again = await documents();
  expect(again.map(({ path, text }) => (path === 'README.md' ? path : text('')))).toEqual(
    files.map(({ path, text }) => (path === 'README.md' ? path : text(''))),
  );
});

it('hostile names and descriptions -> shown as they are, and the picture stays a picture', async () => {
  const machine = createMachine({
    id: 'm',
    initial: 'a"<b>&',
    states: {
      'a"<b>&': { description: '</text><script>alert(1)</script> & "more"', on: { "<i>'": 'c' } },
      c: {},
    },
  });
  const { boxes, arrows, root } = readPicture(svg(await layout(whole(chart(machine))), '<title> & more'));
  expect(boxes[0]?.lines.join(' ')).toBe('a"<b>& </text><script>alert(1)</script> & "more"');
  expect(arrows.map(({ words }) => words)).toContainEqual(["<i>'"]);
  expect(within(root).some(({ name }) => name === 'script')).toBe(false);
  expect(root.inner[0]?.text).toBe('<title> & more');
});
