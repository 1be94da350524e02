import { expect, test } from 'vitest';
import { diskOf, FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, sql, worksAt } from './support.js';

test('an operator stops a session -> parked with its files and its slot free; a retry -> served again', async () => {
  const stage = await startStage();
  const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
  await stage.untilSession(id, worksAt(1));
  expect(await stage.orchestrator.tell(id, { type: 'stop.requested' })).toBe(true);
  const parked = await stage.untilState(id, 'parked');
  expect(parked.holdsSlot).toBe(false);
  expect(stage.vercel.sandboxes()[0]).toMatchObject({ name: diskOf(id), status: 'stopped' });
  await expectNothingLeft(stage, [id]);
  const before = stage.devin.calls.count('claim');
  await stage.pass(300_000);
  expect(stage.devin.calls.count('claim')).toBe(before);

  expect(await stage.orchestrator.retry(id)).toBe(true);
  await stage.untilSession(id, ({ remotes }) => remotes.now === 1);
  expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
  stage.devin.end(id);
  await stage.untilState(id, 'ended');
  expectServedWell(stage, [id]);
  await expectNothingLeft(stage, [id]);
});

test('an operator stops sessions that are queued, or have never been claimed -> parked without a vm', async () => {
  const stage = await startStage({ env: { MAX_CONCURRENT: '1' } });
  const first = stage.devin.startSession({ script: [{ run: WRITE }] });
  await stage.untilSession(first.id, worksAt(1));
  const second = stage.devin.startSession();
  await stage.untilState(second.id, 'queued');
  await stage.orchestrator.tell(second.id, { type: 'stop.requested' });
  await stage.untilState(second.id, 'parked');
  expect(stage.devin.session(second.id).claims).toEqual([]);
  expect(stage.vercel.sandboxes()).toHaveLength(1);
});

test('nine sessions and two slots -> never more than two vms, the oldest first, all served', async () => {
  const stage = await startStage({ env: { MAX_CONCURRENT: '2' } });
  const most = { slots: 0, vms: 0 };
  const ids = Array.from({ length: 9 }, (_, index) => {
    const id = `devin-${index}`;
    stage.devin.startSession({ id, script: [{ run: WRITE }, { waitMs: 2_000 }, { end: true }] });
    return id;
  });
  await stage.until('all of them to end', async () => {
    const { slots } = await stage.orchestrator.view();
    const alive = stage.vercel
      .sandboxes()
      .filter(({ status }) => !['stopped', 'failed', 'aborted'].includes(status));
    most.slots = Math.max(most.slots, slots.used);
    most.vms = Math.max(most.vms, alive.length);
    return ids.every((id) => stage.path(id).at(-1) === 'ended');
  });
  expect(most).toEqual({ slots: 2, vms: 2 });
  const claimed = ids.map((id) => stage.devin.session(id).claims[0]?.at ?? 0);
  expect(claimed).toEqual([...claimed].sort((a, b) => a - b));
  expectServedWell(stage, ids);
  await expectNothingLeft(stage, ids);
});

test('a saved session that no longer parses -> set aside and shown, the others go on', async () => {
  const stage = await startStage();
  const [bad, good] = [
    stage.devin.startSession({ script: [{ run: WRITE }] }),
    stage.devin.startSession({ script: [{ run: WRITE }] }),
  ];
  for (const { id } of [bad, good]) {
    await stage.untilSession(id, worksAt(1));
    await stage.untilState(id, 'serving.monitoring');
  }
  let before: unknown;
  await stage.restart(async () => {
    await sql(
      stage.databaseUrl,
      `update actors set snapshot = json_set(snapshot, '$.context.episode', 'one') where id = ?`,
      [bad.id],
    );
    [before] = await sql(stage.databaseUrl, 'select snapshot, rev from actors where id = ?', [bad.id]);
  });
  await stage.until('it to be set aside', async () => (await stage.row(bad.id))?.quarantine);
  const view = await stage.orchestrator.view();
  expect(view.sessions.find(({ id }) => id === bad.id)?.quarantine).toContain('episode');
  expect(view.problems.join()).toContain('1 set aside');
  expect(await sql(stage.databaseUrl, 'select snapshot, rev from actors where id = ?', [bad.id])).toEqual([
    before,
  ]);

  stage.devin.end(good.id);
  await stage.untilState(good.id, 'ended');
  expect(stage.devin.session(bad.id).remotes).toMatchObject({ ever: 1, now: 1 });

  await sql(
    stage.databaseUrl,
    `update actors set snapshot = json_set(snapshot, '$.context.episode', 1) where id = ?`,
    [bad.id],
  );
  expect(await stage.orchestrator.retry(bad.id)).toBe(true);
  stage.devin.end(bad.id);
  await stage.untilState(bad.id, 'ended');
  expectServedWell(stage, [bad.id, good.id]);
  await expectNothingLeft(stage, [bad.id, good.id]);
});

test('all sessions are to be saved while a look is about to grant a slot -> that session is not begun either', async () => {
  const stage = await startStage();
  const looks = stage.devin.faults.add({ on: 'list', kind: { delayMs: 10_000 } });
  await stage.until('a look', () => looks.hits() > 0);
  const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
  await stage.orchestrator.snapshotAll();
  await stage.until('no slot held', async () => (await stage.orchestrator.view()).slots.used === 0);
  await stage.pass(60_000);
  expect((await stage.orchestrator.view()).slots.used).toBe(0);
  await expectNothingLeft(stage, [id]);
});
