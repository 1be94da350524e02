import { describe, expect, test } from 'vitest';
import { diskOf, FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, sql, worksAt } from './support.js';

const MINUTE_MS = 60_000;

describe('a vm', () => {
  test.each(['aborted', 'failed'] as const)(
    'that is %s in mid-session -> restored from its newest image and served on under the same claim',
    async (as) => {
      const stage = await startStage();
      const script = [{ run: WRITE }, { suspend: true } as const, { run: FIND }];
      const { id } = stage.devin.startSession({ script });
      await stage.untilState(id, 'released.resting');
      stage.devin.resume(id);
      await stage.untilSession(id, worksAt(3));
      await stage.vercel.kill(diskOf(id), as);
      await stage.untilSession(id, ({ remotes }) => remotes.ever === 3 && remotes.now === 1);
      expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
      expect((await stage.row(id))?.episode).toBe(2);
      stage.devin.end(id);
      await stage.untilState(id, 'ended');
      expectServedWell(stage, [id]);
      await expectNothingLeft(stage, [id]);
    },
  );

  test('that reaches the plan’s 45 minutes -> rolls over to a fresh one with its files, under the same claim', async () => {
    const stage = await startStage({
      vercel: { plan: { maxLifetimeMs: 45 * MINUTE_MS } },
      env: { SANDBOX_MAX_LIFETIME_MS: String(45 * MINUTE_MS) },
    });
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilSession(id, worksAt(1));
    await stage.pass(38 * MINUTE_MS);
    await stage.untilSession(id, ({ remotes }) => remotes.ever === 2 && remotes.now === 1);
    expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
    const { claims, events } = stage.devin.session(id);
    expect(new Set(claims.map((claim) => claim.acceptorId)).size).toBe(1);
    expect(events.filter(({ kind }) => kind === 'released' || kind === 'lapsed')).toEqual([]);
    const [sandbox] = stage.vercel.sandboxes();
    expect(sandbox?.vms).toHaveLength(2);
    const [first] = sandbox?.vms ?? [];
    expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBeLessThan(45 * MINUTE_MS);
    expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThan(35 * MINUTE_MS);
    stage.devin.end(id);
    await stage.untilState(id, 'ended');
    expectServedWell(stage, [id]);
    await expectNothingLeft(stage, [id]);
  });

  test('whose plan is shorter than the settings say -> rolls over before its end all the same', async () => {
    const stage = await startStage({ vercel: { plan: { maxLifetimeMs: 30 * MINUTE_MS } } });
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilSession(id, worksAt(1));
    await stage.pass(24 * MINUTE_MS);
    await stage.untilSession(id, ({ remotes }) => remotes.ever === 2 && remotes.now === 1);
    expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
    const [first] = stage.vercel.sandboxes()[0]?.vms ?? [];
    expect(first?.status).toBe('stopped');
    expectServedWell(stage, [id]);
  });

  test('whose images expired while the session slept -> a fresh start, which the operator sees', async () => {
    const stage = await startStage();
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }, { suspend: true }, { run: 'true' }] });
    await stage.untilState(id, 'released.resting');
    await stage.vercel.expireSnapshot(diskOf(id));
    stage.devin.resume(id);
    await stage.untilSession(id, worksAt(3));
    const view = (await stage.orchestrator.view()).sessions.find((session) => session.id === id);
    expect(view?.outcome).toContain('without its files');
  });

  test('that is stopped without an image -> the session is released as snapshotFailed, visibly', async () => {
    const stage = await startStage();
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }, { waitMs: 1_000 }] });
    await stage.untilSession(id, worksAt(2));
    stage.vercel.breakSnapshot(diskOf(id));
    stage.devin.suspend(id);
    await stage.until('its outcome', async () =>
      (await stage.orchestrator.view()).sessions.some(({ outcome }) => outcome?.startsWith('snapshotFailed')),
    );
    await expectNothingLeft(stage, [id]);
  });

  test('with our tags and no record -> stopped by the sweep, its files kept', async () => {
    const stage = await startStage();
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilSession(id, worksAt(1));
    const row = await stage.untilState(id, 'serving.monitoring');
    stage.devin.faults.add({ on: 'list', times: null, session: id, kind: 'missingRow' });
    stage.devin.faults.add({ on: 'watch', times: null, kind: 'stall' });
    await stage.restart(async () => {
      await sql(stage.databaseUrl, 'delete from actors where id = ?', [row.id]);
    });
    await stage.pass(MINUTE_MS + 20_000);
    expect(stage.vercel.sandboxes()[0]?.status).toBe('running');
    await stage.until('the vm to be stopped', () => stage.vercel.sandboxes()[0]?.status === 'stopped');
    expect(stage.vercel.sandboxes()[0]?.snapshots).toHaveLength(1);
    expect(stage.log.join('\n')).toContain('runs without a session');
  });

  test('of someone else under our name -> refused and shown, and not touched', async () => {
    const stage = await startStage();
    const id = 'devin-foreign';
    const created = await fetch(`${stage.vercel.url}/v3/sandboxes?teamId=${stage.vercel.teamId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.vercel.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        projectId: stage.vercel.projectId,
        name: diskOf(id),
        timeout: 18_000_000,
        resources: { vcpus: 2 },
        tags: { owner: 'someone' },
      }),
    });
    expect(created.status).toBe(200);
    stage.devin.startSession({ id });
    await stage.untilState(id, 'released.coolingOff');
    const view = (await stage.orchestrator.view()).sessions.find((session) => session.id === id);
    expect(view?.outcome).toMatch(/^foreignSandbox/);
    await stage.untilState(id, 'parked');
    const [sandbox] = stage.vercel.sandboxes();
    expect(sandbox).toMatchObject({ status: 'running', tags: { owner: 'someone' } });
    expect(sandbox?.vms).toHaveLength(1);
    expect(sandbox?.vms[0]?.commands).toEqual([]);
    expect(stage.devin.session(id).acceptor).toBeNull();
  });
});

describe('a remote', () => {
  test('that never connects -> released as neverConnected within five minutes of its start', async () => {
    const stage = await startStage();
    stage.devin.faults.add({ on: 'gateway', times: null, kind: 'hang' });
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilState(id, 'serving.connecting');
    const claimedAt = stage.devin.session(id).claims[0]?.at ?? 0;
    await stage.untilState(id, 'released', { jump: 'always' });
    expect(stage.clock.now() - claimedAt).toBeLessThan(6 * MINUTE_MS);
    const view = (await stage.orchestrator.view()).sessions.find((session) => session.id === id);
    expect(view?.outcome).toMatch(/^neverConnected/);
    stage.devin.faults.clear();
    await stage.untilSession(id, worksAt(1));
    expectServedWell(stage, [id]);
  });

  test('that connected while no orchestrator looked for ten minutes -> goes on, not taken for one that never did', async () => {
    const stage = await startStage({ devin: { giveUpMs: 60 * MINUTE_MS } });
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilState(id, 'provisioning.confirming');
    await stage.restart(async () => {
      await stage.devin.until(id, worksAt(1));
      stage.clock.skip(10 * MINUTE_MS);
    });
    await stage.untilState(id, 'serving.monitoring');
    expect(await stage.row(id)).toMatchObject({ episode: 1 });
    expect(stage.devin.session(id).remotes).toMatchObject({ ever: 1, now: 1 });
    expectServedWell(stage, [id]);
  });

  test('that keeps crashing -> started again a few times, then given up with its exit code', async () => {
    const stage = await startStage();
    const script = Array.from({ length: 8 }, () => ({ crash: 3 }));
    const { id } = stage.devin.startSession({ script });
    await stage.untilState(id, 'released');
    const view = (await stage.orchestrator.view()).sessions.find((session) => session.id === id);
    expect(view?.outcome).toBe('remoteCrashed: devin-remote exited with code 3');
    expect(stage.devin.session(id).remotes.ever).toBe(6);
    expectServedWell(stage, [id]);
  });

  test('whose session is taken over by another acceptor -> lost, vm stopped with its files, nothing released', async () => {
    const stage = await startStage();
    const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
    await stage.untilSession(id, worksAt(1));
    await stage.untilState(id, 'serving.monitoring');
    const ours = stage.devin.session(id).acceptor;
    const call = (action: string, acceptor: string | null) =>
      fetch(`${stage.devin.url}/opbeta/outposts/devins/${id}/${action}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stage.devin.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ acceptor_id: acceptor }),
      });
    await call('release', ours);
    expect((await call('claim', 'another')).status).toBe(201);
    await stage.untilState(id, 'lost');
    expect(stage.vercel.sandboxes()[0]).toMatchObject({ status: 'stopped' });
    expect(stage.vercel.sandboxes()[0]?.snapshots).toHaveLength(1);
    expect(stage.devin.session(id).acceptor).toBe('another');
    expect((await stage.row(id))?.holdsSlot).toBe(false);
    await call('release', 'another');
    await stage.untilSession(id, ({ remotes }) => remotes.now === 1);
    expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
  });
});
