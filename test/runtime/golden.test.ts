/** `UPDATE_GOLDEN=1 npx vitest run test/runtime/golden.test.ts` rewrites the records of the present version. */
import { describe, expect, test } from 'vitest';
import { restore, stateOf } from '../../src/runtime/saved.js';
import {
  connections,
  presentGolden,
  readGoldens,
  restingStates,
  rowOf,
  sessions,
  shapes,
  waitsFor,
  writeGolden,
} from './golden.js';

const SUBJECTS = [sessions, connections].map((subject) => {
  if (process.env.UPDATE_GOLDEN === '1') writeGolden(subject, presentGolden(subject));
  const goldens = readGoldens(subject);
  const { kind } = subject;
  return { name: kind.name, subject, kind, goldens, present: goldens.get(kind.version) };
});

const whatToDo = (version: number) => `the chart or the context changed, but its version is still ${version}.
Once version ${version} is released: raise the version beside the machine, add a migration from
${version} to its kind in src/effects, then run
  UPDATE_GOLDEN=1 npx vitest run test/runtime/golden.test.ts
and commit the new file beside the old one. Before the first release, that run alone is enough.`;

describe.each(SUBJECTS)('a saved $name of the present version', ({ subject, kind, present }) => {
  test('the chart and the context are those that the records were made with', () => {
    const { chart, context } = present ?? { chart: 'none', context: 'none' };
    expect({ chart, context }, whatToDo(kind.version)).toEqual(shapes(subject));
  });

  test('there is a record for every state in which it can be found', () => {
    expect(Object.keys(present?.rows ?? {})).toEqual(restingStates(subject));
  });

  test.each(Object.entries(present?.rows ?? {}))(
    '%s -> comes back with its effect and its timers',
    (state, row) => {
      const restored = restore(kind, rowOf(state, row));
      if (restored.kind !== 'restored') throw new Error(JSON.stringify(restored));
      expect(stateOf(restored.snapshot)).toBe(state);
      expect(waitsFor(kind, restored.snapshot)).toEqual({ effect: row.effect, timers: row.timers });
      expect(kind.holdsSlot(restored.snapshot)).toBe(row.holdsSlot);
      expect(kind.episode(restored.snapshot.context)).toBe(row.episode);
      expect(JSON.parse(JSON.stringify(restored.snapshot.context))).toEqual(
        (row.snapshot as { context: unknown }).context,
      );
    },
  );
});

describe.each(SUBJECTS)('a saved $name of every version', ({ kind, goldens }) => {
  const rows = [...goldens].flatMap(([version, { rows }]) =>
    Object.entries(rows).map(([state, row]) => [version, state, row] as const),
  );
  test.each(rows)(
    'version %i, %s -> can be driven on: restored, with an effect, a timer or a rest',
    (_, state, row) => {
      const restored = restore(kind, rowOf(state, row));
      if (restored.kind !== 'restored') throw new Error(JSON.stringify(restored));
      const { effect, timers } = waitsFor(kind, restored.snapshot);
      const rests = restored.snapshot.hasTag('atRest') || restored.snapshot.status === 'done';
      expect(effect !== null || timers.length > 0 || rests).toBe(true);
    },
  );

  test('no version between the first and the present one was forgotten', () => {
    expect([...goldens.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: kind.version }, (_, index) => index + 1),
    );
  });
});

test('version 1 knew no doorbell -> its sessions count as not heard, and as settling since never', () => {
  const { kind } = sessions;
  const rows = Object.entries(readGoldens(sessions).get(1)?.rows ?? {});
  const contexts = rows.map(([state, row]) => {
    const restored = restore(kind, rowOf(state, row));
    return restored.kind === 'restored' ? restored.snapshot.context : null;
  });
  expect(contexts.length).toBeGreaterThan(0);
  for (const context of contexts) expect(context).toMatchObject({ bellHeard: false, settlingSince: null });
});
