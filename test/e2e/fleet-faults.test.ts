import { describe, expect, test } from 'vitest';
import { FIND, type Stage, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, worksAt } from './support.js';

type DevinFault = Parameters<Stage['devin']['faults']['add']>[0];
const MINUTE_MS = 60_000;

const script = [{ run: WRITE }, { waitMs: 5_000 }, { run: FIND }];

async function endAndCheck(stage: Stage, ids: readonly string[]) {
  for (const id of ids) stage.devin.end(id);
  for (const id of ids) await stage.untilState(id, 'ended');
  expectServedWell(stage, ids);
  await expectNothingLeft(stage, ids);
}

describe.each([401, 403])('the fleet API answers %i', (status) => {
  test('to everything -> the setting is named, it is asked once a minute, and served when that is mended', async () => {
    const stage = await startStage();
    await stage.until('a first look', async () => (await stage.orchestrator.health()).kind === 'ready');
    const fault = stage.devin.faults.add({ on: 'any', times: null, kind: { status } });
    const { id } = stage.devin.startSession({ script });
    await stage.until('a problem', async () => (await stage.orchestrator.view()).problems.length > 0);
    expect((await stage.orchestrator.view()).problems.join()).toContain('DEVIN_OUTPOSTS_TOKEN');

    const before = stage.devin.calls.count('list') + stage.devin.calls.count('watch');
    await stage.pass(5 * MINUTE_MS);
    const calls = stage.devin.calls.count('list') + stage.devin.calls.count('watch') - before;
    expect(calls).toBeGreaterThan(2);
    expect(calls).toBeLessThanOrEqual(14);
    expect(stage.log.filter((line) => line.includes('DEVIN_OUTPOSTS_TOKEN'))).toHaveLength(1);

    fault.remove();
    await stage.untilSession(id, worksAt(3));
    await stage.until('no problem', async () => (await stage.orchestrator.view()).problems.length === 0);
    await endAndCheck(stage, [id]);
  });

  test('to claims only -> the session shows the setting, keeps its slot, and is claimed when that is mended', async () => {
    const stage = await startStage();
    const fault = stage.devin.faults.add({ on: 'claim', times: null, kind: { status } });
    const { id } = stage.devin.startSession({ script });
    const problem = await stage.until('a problem', async () => (await stage.row(id))?.problem);
    expect(problem).toContain('DEVIN_OUTPOSTS_TOKEN');
    await stage.pass(5 * MINUTE_MS);
    expect((await stage.row(id))?.state).toBe('claiming');
    expect(stage.devin.calls.count('claim', id)).toBeLessThanOrEqual(7);
    fault.remove();
    await stage.untilSession(id, worksAt(3));
    expect((await stage.row(id))?.problem).toBeNull();
    await endAndCheck(stage, [id]);
  });
});

test('the list answers 429 with Retry-After 120 -> it is not asked again before, and serving goes on', async () => {
  const stage = await startStage();
  const { id } = stage.devin.startSession({ script });
  await stage.untilSession(id, worksAt(3));
  await stage.untilState(id, 'serving.monitoring');
  stage.devin.faults.add({ on: 'list', kind: { status: 429, retryAfter: '120' } });
  await stage.until('the refusal', () => stage.log.some((line) => line.includes('429')));
  const askedAt = stage.clock.now();
  const before = stage.devin.calls.count('list');
  await stage.until('the next list', () => stage.devin.calls.count('list') > before);
  expect(stage.clock.now() - askedAt).toBeGreaterThan(110_000);
  expect((await stage.row(id))?.state).toMatch(/^(serving|extending)/);
  await endAndCheck(stage, [id]);
});

test('a claim answers 429 with Retry-After 90 -> it is tried again after that, once', async () => {
  const stage = await startStage();
  stage.devin.faults.add({ on: 'claim', kind: { status: 429, retryAfter: '90' } });
  const startedAt = stage.clock.now();
  const { id } = stage.devin.startSession({ script });
  await stage.until('a claim', () => stage.devin.session(id).claims.length > 0);
  expect(stage.clock.now() - startedAt).toBeGreaterThanOrEqual(90_000);
  expect(stage.devin.calls.count('claim', id)).toBe(2);
  await stage.untilSession(id, worksAt(3));
  await endAndCheck(stage, [id]);
});

const troubles: [string, DevinFault['kind']][] = [
  ['503', { status: 503 }],
  ['a cut connection', 'drop'],
  ['malformed JSON', 'garbage'],
  ['a lost answer', 'loseAnswer'],
];
describe.each(troubles)('%s', (_, kind) => {
  test('at every list, claim and release, three times each -> both sessions are served once and end', async () => {
    const stage = await startStage();
    for (const on of ['list', 'claim', 'release'] as const) stage.devin.faults.add({ on, times: 3, kind });
    const ids = [1, 2].map(() => stage.devin.startSession({ script }).id);
    for (const id of ids) await stage.untilSession(id, worksAt(3));
    for (const id of ids) expect(stage.devin.session(id).remotes.ever).toBe(1);
    await endAndCheck(stage, ids);
    for (const id of ids) expect((await stage.row(id))?.episode).toBe(1);
  });
});

test('the queue is away for ten minutes while a session works -> it works on, and is released when it ended', async () => {
  const stage = await startStage();
  const { id } = stage.devin.startSession({ script });
  await stage.untilSession(id, worksAt(3));
  await stage.untilState(id, 'serving.monitoring');
  const fault = stage.devin.faults.add({ on: 'any', times: null, kind: { status: 503 } });
  await stage.pass(10 * MINUTE_MS);
  expect(stage.path(id).some((state) => state.startsWith('snapshotting'))).toBe(false);
  fault.remove();
  await endAndCheck(stage, [id]);
  expect(stage.devin.session(id).remotes.ever).toBe(1);
});
