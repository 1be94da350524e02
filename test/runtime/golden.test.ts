/** `UPDATE_GOLDEN=1 npx vitest run test/runtime/golden.test.ts` rewrites the records of the present version. */
import { describe, expect, test } from 'vitest';
import { restore, stateOf } from '../../src/runtime/saved.js';
import {
  kind,
  presentGolden,
  readGoldens,
  restingStates,
  rowOf,
  shapes,
  waitsFor,
  writeGolden,
} from './golden.js';

if (process.env.UPDATE_GOLDEN === '1') writeGolden(presentGolden());
const goldens = readGoldens();
const present = goldens.get(kind.version);

const whatToDo = `the session's chart or context changed, but its version is still ${kind.version}.
Once version ${kind.version} is released: raise SESSION_VERSION in machines/session.ts, add a migration from
${kind.version} to src/effects/session-kind.ts, then run
  UPDATE_GOLDEN=1 npx vitest run test/runtime/golden.test.ts
and commit the new file beside the old one. Before the first release, that run alone is enough.`;

describe('saved sessions of the present version', () => {
  test('the chart and the context are those that the records were made with', () => {
    const { chart, context } = present ?? { chart: 'none', context: 'none' };
    expect({ chart, context }, whatToDo).toEqual(shapes());
  });

  test('there is a record for every state in which a session can be found', () => {
    expect(Object.keys(present?.rows ?? {})).toEqual(restingStates());
  });

  test.each(Object.entries(present?.rows ?? {}))(
    '%s -> comes back with its effect and its timers',
    (state, row) => {
      const restored = restore(kind, rowOf(state, row));
      if (restored.kind !== 'restored') throw new Error(JSON.stringify(restored));
      expect(stateOf(restored.snapshot)).toBe(state);
      expect(waitsFor(restored.snapshot)).toEqual({ effect: row.effect, timers: row.timers });
      expect(kind.holdsSlot(restored.snapshot)).toBe(row.holdsSlot);
      expect(kind.episode(restored.snapshot.context)).toBe(row.episode);
      expect(JSON.parse(JSON.stringify(restored.snapshot.context))).toEqual(
        (row.snapshot as { context: unknown }).context,
      );
    },
  );
});

describe('saved sessions of every version', () => {
  const rows = [...goldens].flatMap(([version, { rows }]) =>
    Object.entries(rows).map(([state, row]) => [version, state, row] as const),
  );
  test.each(rows)(
    'version %i, %s -> can be driven on: restored, with an effect, a timer or a rest',
    (_, state, row) => {
      const restored = restore(kind, rowOf(state, row));
      if (restored.kind !== 'restored') throw new Error(JSON.stringify(restored));
      const { effect, timers } = waitsFor(restored.snapshot);
      const rests = restored.snapshot.hasTag('atRest') || restored.snapshot.status === 'done';
      expect(effect !== null || timers.length > 0 || rests).toBe(true);
    },
  );

  test('version 1 knew no doorbell -> its sessions count as not heard, and as settling since never', () => {
    const rows = Object.entries(goldens.get(1)?.rows ?? {});
    const contexts = rows.map(([state, row]) => {
      const restored = restore(kind, rowOf(state, row));
      return restored.kind === 'restored' ? restored.snapshot.context : null;
    });
    expect(contexts.length).toBeGreaterThan(0);
    for (const context of contexts) expect(context).toMatchObject({ bellHeard: false, settlingSince: null });
  });

  test('no version between the first and the present one was forgotten', () => {
    expect([...goldens.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: kind.version }, (_, index) => index + 1),
    );
  });
});
