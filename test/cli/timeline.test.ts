import { describe, expect, it, vi } from 'vitest';
import { legsInLines, legsOf } from '../../src/cli/path.js';
import { timelineInLines } from '../../src/cli/timeline.js';
import type { Stay } from '../../src/details.js';

vi.stubEnv('TZ', 'UTC');
const MIDNIGHT = Date.UTC(2026, 0, 2);

/** Stays of a second each, in these states. */
const stays = (states: readonly string[], from = MIDNIGHT): Stay[] =>
  states.map((state, index) => ({
    state,
    since: from + index * 1_000,
    ms: 1_000,
    episode: 1,
    cause: `to ${state}`,
    event: null,
  }));
const probes = (count: number) =>
  Array.from({ length: count }, () => ['serving.probing', 'serving.monitoring']).flat();

describe('a timeline', () => {
  it('probes again and again -> told once, counted, with the time that all of them took', () => {
    const lines = timelineInLines(stays(['serving.connecting', ...probes(40), 'snapshotting.stopping']));
    expect(lines).toEqual([
      '2026-01-02',
      expect.stringMatching(/^00:00:00 {2}serving · connecting +1\.0 s +to serving\.connecting$/),
      expect.stringMatching(
        /^00:00:01 {2}40 × serving · probing → serving · monitoring +1 min 20 s +to serving\.probing, to/,
      ),
      expect.stringMatching(/^00:01:21 {2}snapshotting · stopping +1\.0 s/),
    ]);
  });

  it('something that comes twice -> told twice', () => {
    expect(timelineInLines(stays(probes(2)))).toHaveLength(1 + 4);
  });

  it('the same state for another cause -> no repetition', () => {
    const others = stays(probes(3)).map((stay, index) => ({ ...stay, cause: `cause ${index}` }));
    expect(timelineInLines(others)).toHaveLength(1 + 6);
  });

  it('midnight passes -> the new day has a line of its own', () => {
    const lines = timelineInLines(stays(['queued', 'claiming'], MIDNIGHT - 1_000));
    expect(lines.map((line) => line.slice(0, 10))).toEqual([
      '2026-01-01',
      '23:59:59  ',
      '2026-01-02',
      '00:00:00  ',
    ]);
  });

  it('nothing in it -> no lines', () => {
    expect(timelineInLines([])).toEqual([]);
  });
});

describe('a path', () => {
  it('steps within a state -> one leg, for the cause that led into it', () => {
    const legs = legsOf(stays(['claiming', 'serving.connecting', ...probes(2), 'extending']));
    expect(legs).toMatchObject([
      { state: 'claiming', ms: 1_000 },
      { state: 'serving', ms: 5_000, cause: 'to serving.connecting' },
      { state: 'extending', ms: 1_000 },
    ]);
  });

  it('extended again and again, in a narrow terminal -> counted, broken between legs', () => {
    const served = Array.from({ length: 9 }, () => ['serving.monitoring', 'extending']).flat();
    const legs = legsOf(stays(['queued', 'claiming', ...served, 'serving.monitoring']));
    expect(legsInLines(legs, 40)).toEqual([
      'queued 1.0 s → claiming 1.0 s →',
      '9 × serving ⇄ extending 18.0 s →',
      'serving 1.0 s',
    ]);
  });
});
