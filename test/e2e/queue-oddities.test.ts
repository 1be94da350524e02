import { describe, expect, test } from 'vitest';
import { type Stage, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, worksAt } from './support.js';

type Kind = Parameters<Stage['devin']['faults']['add']>[0]['kind'];
async function serving(options: Parameters<typeof startStage>[0] = {}) {
  const stage = await startStage(options);
  const ids = [1, 2].map(() => stage.devin.startSession({ script: [{ run: WRITE }] }).id);
  for (const id of ids) {
    await stage.untilSession(id, worksAt(1));
    await stage.untilState(id, 'serving.monitoring');
  }
  return { stage, ids, id: ids[0] ?? '' };
}

async function expectUndisturbed({ stage, ids }: { stage: Stage; ids: readonly string[] }) {
  for (const id of ids) {
    expect(stage.path(id).filter((state) => /^(snapshotting|released|lost)/.test(state))).toEqual([]);
    expect(stage.devin.session(id).remotes).toMatchObject({ ever: 1, now: 1 });
    stage.devin.end(id);
  }
  for (const id of ids) await stage.untilState(id, 'ended');
  expectServedWell(stage, ids);
  await expectNothingLeft(stage, ids);
}

async function manyLooks(stage: Stage) {
  const before = stage.devin.calls.count('list');
  await stage.until('many looks', () => stage.devin.calls.count('list') > before + 20);
}

const oddities: [string, Kind, number | null][] = [
  ['a row that reads suspended once', { flicker: 'suspended' }, 1],
  ['a row that reads suspended twice', { flicker: 'suspended' }, 2],
  ['a row that comes twice in every page', 'duplicateRow', null],
  ['a row that is missing from one page', 'missingRow', 1],
  ['a row that is missing from every page', 'missingRow', null],
  ['a cursor that never moves on', 'wedgedCursor', null],
  ['fields and values that nobody knows', 'strangers', null],
];

describe('while sessions are served', () => {
  test.each(oddities)('%s -> no live session is stopped', async (_, kind, times) => {
    const scene = await serving();
    const { stage, id } = scene;
    const fault = stage.devin.faults.add({ on: 'list', session: id, times, kind });
    await manyLooks(stage);
    expect(fault.hits()).toBeGreaterThan(0);
    fault.remove();
    await expectUndisturbed(scene);
  });

  test('a row that reads suspended in the list and in two single reads -> no live session is stopped', async () => {
    const scene = await serving();
    const { stage, id } = scene;
    stage.devin.faults.add({ on: 'list', session: id, kind: { flicker: 'suspended' } });
    const reads = stage.devin.faults.add({
      on: 'read',
      session: id,
      times: 2,
      kind: { flicker: 'suspended' },
    });
    await stage.until('two reads', () => reads.hits() === 2);
    await manyLooks(stage);
    await expectUndisturbed(scene);
  });

  test('the watch withholds its events -> the list finds new sessions all the same', async () => {
    const stage = await startStage();
    stage.devin.faults.add({ on: 'watch', times: null, kind: 'stall' });
    await stage.restart();
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }, { end: true }] });
    await stage.untilState(id, 'ended');
    expectServedWell(stage, [id]);
  });
});

test('a session whose row is gone while its remote hangs -> vm stopped, disk kept', async () => {
  const { stage, id } = await serving({ devin: { leftoverMs: 0 } });
  const name = (await stage.orchestrator.view()).sessions.find((session) => session.id === id)?.sandboxName;
  await stage.untilState(id, 'serving.monitoring');
  stage.devin.suspend(id);
  await stage.untilState(id, 'released.resting');
  const sandbox = stage.vercel.sandboxes().find((each) => each.name === name);
  expect(sandbox?.status).toBe('stopped');
  expect(sandbox?.snapshots).toHaveLength(1);
});

test('sessions that ended before they could be claimed -> no claim and no vm', async () => {
  const stage = await startStage();
  const fault = stage.devin.faults.add({ on: 'list', times: null, kind: { status: 503 } });
  const watch = stage.devin.faults.add({ on: 'watch', times: null, kind: { status: 503 } });
  const asleep = stage.devin.startSession();
  const over = stage.devin.startSession();
  stage.devin.suspend(asleep.id);
  stage.devin.end(over.id);
  await stage.untilSession(asleep.id, ({ status }) => status === 'suspended');
  await stage.untilSession(over.id, ({ status }) => status === 'terminated');
  fault.remove();
  watch.remove();
  const before = stage.devin.calls.count('list');
  await stage.until('ten looks', () => stage.devin.calls.count('list') > before + 10);
  expect(stage.devin.calls.count('claim')).toBe(0);
  expect(stage.vercel.sandboxes()).toEqual([]);
});

test('the row a session ended between list and claim -> given back without a vm', async () => {
  const stage = await startStage();
  stage.devin.faults.add({ on: 'claim', kind: { delayMs: 10_000 } });
  const { id } = stage.devin.startSession();
  await stage.until('a claim', () => stage.devin.calls.count('claim', id) > 0);
  stage.devin.end(id);
  await stage.until('it is over', async () =>
    ['ended', 'released.resting'].includes((await stage.row(id))?.state ?? ''),
  );
  expect(stage.vercel.sandboxes()).toEqual([]);
  await expectNothingLeft(stage, [id]);
});
