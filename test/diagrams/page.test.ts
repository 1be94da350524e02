import { expect, it } from 'vitest';
import { connectionInvariants } from '../../machines/connection/invariants.js';
import { createConnectionMachine } from '../../machines/connection.js';
import { OUTCOMES } from '../../machines/session/context.js';
import { sessionInvariants } from '../../machines/session/invariants.js';
import { createSessionMachine } from '../../machines/session.js';
import { chart, statesWithin, type Transition } from '../../src/diagrams/chart.js';
import { documents } from '../../src/diagrams/documents.js';

const files = await documents();
const page = files.find(({ path }) => path === 'visualizations/README.md')?.text('') ?? '';
const [sessionPart = '', connectionPart = ''] = page.split('\n## A connection\n');

/** The cells of each state's row. */
const rowsOf = (part: string) => {
  const rows = [...part.matchAll(/^\| \*\*([\w.]+)\*\*.*$/gm)];
  const cells = rows.map(([row, name = '']) => [name, row.slice(2, -2).split(' | ')] as const);
  return new Map(cells.filter(([, { length }]) => length === 6));
};

const MACHINES = [
  ['session', chart(createSessionMachine()), rowsOf(sessionPart)],
  ['connection', chart(createConnectionMachine()), rowsOf(connectionPart)],
] as const;

/** By the name under which one finds it in the machine's source. */
function nameIn({ cause, guard }: Transition): string {
  if (cause.kind === 'failure') return 'the effect failed';
  if (cause.kind === 'event' || cause.kind === 'deadline') return `\`${cause.name}\``;
  return guard === null ? (cause.kind === 'answer' ? 'answer' : 'else') : `\`${guard}\``;
}

it.each(MACHINES)(
  '%s: every state has a row with its meaning, effect, deadlines and tags',
  (_, machine, rows) => {
    for (const state of statesWithin(machine).slice(1)) {
      const [name, meaning, effect, , deadlines] = rows.get(state.path) ?? [];
      expect(meaning, state.path).toBe(state.description);
      expect(effect, state.path).toBe(state.effect === null ? '' : `\`${state.effect}\``);
      expect(deadlines, state.path).toBe(state.deadlines.map((each) => `\`${each}\``).join('<br/>'));
      for (const tag of state.tags) expect(name, state.path).toContain(`\`${tag}\``);
    }
  },
);

it.each(MACHINES)(
  '%s: every transition stands in the row of its state, with where it leads',
  (_, machine, rows) => {
    for (const state of statesWithin(machine).slice(1)) {
      const exits = rows.get(state.path)?.[3]?.split('<br/>') ?? [];
      for (const transition of state.transitions) {
        const { from, to } = transition;
        const where = to === null ? '(noted)' : from === to ? '→ again' : `→ ${to}`;
        const line = exits.find((each) => each.endsWith(` ${where}`));
        expect(line, `${from} ${where}`).toContain(nameIn(transition));
      }
      expect(exits.filter((each) => each !== '').length, state.path).toBe(
        new Set(state.transitions.map(({ to }) => to)).size,
      );
    }
  },
);

it.each(MACHINES)('%s: what a crash means is said of every state', (_, machine, rows) => {
  for (const { path } of statesWithin(machine).slice(1)) expect(rows.get(path)?.[5], path).toMatch(/\w{2,}/);
});

it('how an episode ends is said where a transition ends it', () => {
  const rows = rowsOf(sessionPart);
  expect(rows.get('serving.connecting')?.[3]).toContain('`connectBy` as neverConnected → snapshotting');
  for (const outcome of OUTCOMES) expect(sessionPart).toContain(`| **${outcome}** |`);
});

it('every invariant is on the page, under its machine', () => {
  for (const { id, sentence } of sessionInvariants)
    expect(sessionPart).toContain(`- **${id}**: ${sentence}\n`);
  for (const { id, sentence } of connectionInvariants)
    expect(connectionPart).toContain(`- **${id}**: ${sentence}\n`);
});

it('every picture and file that the page points to is one of those that are drawn', () => {
  const pointed = [...page.matchAll(/\]\(([\w-]+\.(?:svg|json|mmd))\)/g)].map(
    ([, file]) => `visualizations/${file}`,
  );
  const paths = files.map(({ path }) => path);
  expect(pointed.filter((file) => !paths.includes(file))).toEqual([]);
  const drawn = paths.filter((path) => path.startsWith('visualizations/') && !path.endsWith('.md'));
  expect(drawn.filter((path) => !pointed.includes(path))).toEqual([]);
});
