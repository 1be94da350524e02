/** The adapter through the real SDK, against the emulated cloud: extending, stopping, removing and listing. */
import { describe, expect, test } from 'vitest';
import { fault, host, opened, rig, running, specOf, useCloud, viewOf } from './harness.js';
import { never, noFence, startRig, until } from './support.js';

useCloud();

describe('the life of a vm', () => {
  test('extended to an instant -> at least until then; repeated -> no further request to extend', async () => {
    const vm = await opened();
    const untilAt = rig.clock.now() + 3_600_000;
    const first = await host.extendTo(vm, untilAt, noFence, never);
    expect(first.kind).toBe('extended');
    expect(viewOf(vm.name).expiresAt).toBeGreaterThanOrEqual(untilAt);
    expect(await host.extendTo(vm, untilAt, noFence, never)).toEqual(first);
    expect(rig.cloud.calls.count({ operation: 'extend', sandbox: vm.name })).toBe(1);
  });

  test('the answer to an extension is lost -> never less than wanted', async () => {
    const vm = await opened();
    const untilAt = rig.clock.now() + 2_400_000;
    fault('extend', 'loseAnswer');
    const answer = await host.extendTo(vm, untilAt, noFence, never);
    expect(answer).toMatchObject({ kind: 'extended', expiresAt: viewOf(vm.name).expiresAt });
    expect(viewOf(vm.name).expiresAt).toBeGreaterThanOrEqual(untilAt);
  });

  test('more than the lifetime that was configured -> limited to it', async () => {
    const vm = await opened();
    const limited = rig.makeHost({ settings: { maxLifetimeMs: 1_800_000 } });
    const answer = await limited.extendTo(vm, rig.clock.now() + 3_600_000, noFence, never);
    const startedAt = viewOf(vm.name).vms[0]?.startedAt ?? 0;
    expect(answer).toEqual({ kind: 'limited', expiresAt: startedAt + 1_800_000 });
  });

  test('more than the plan allows -> limited, and what was there stays', async () => {
    const vm = await opened();
    const before = viewOf(vm.name).expiresAt;
    const hopeful = rig.makeHost({ settings: { maxLifetimeMs: 200_000_000 } });
    const answer = await hopeful.extendTo(vm, rig.clock.now() + 100_000_000, noFence, never);
    expect(answer).toEqual({ kind: 'limited', expiresAt: before });
  });

  test('the fence refuses -> not extended', async () => {
    const vm = await opened();
    const fence = () => Promise.reject(new Error('fenced'));
    await expect(host.extendTo(vm, rig.clock.now() + 3_600_000, fence, never)).rejects.toThrow('fenced');
    expect(rig.cloud.calls.count({ operation: 'extend', sandbox: vm.name })).toBe(0);
  });

  test('stopped -> with the new image, and the same answer when asked again', async () => {
    const vm = await opened();
    const answer = await host.stop(vm, never);
    expect(answer).toEqual({ kind: 'stopped', snapshotId: viewOf(vm.name).currentSnapshotId });
    expect(answer).not.toMatchObject({ snapshotId: null });
    expect(await host.stop(vm, never)).toEqual(answer);
    expect(await rig.makeHost().stop(vm, never)).toEqual(answer);
  });

  test('the answer to stop is lost -> stopped with its image', async () => {
    const vm = await opened();
    fault('stop', 'loseAnswer');
    const answer = await host.stop(vm, never);
    expect(answer).toEqual({ kind: 'stopped', snapshotId: viewOf(vm.name).currentSnapshotId });
  });

  test('the image could not be made -> stopped without one, though an older one exists', async () => {
    const spec = specOf();
    await host.stop(await opened(spec), never);
    const { vmId } = running(await host.open(spec, noFence, never));
    rig.cloud.breakSnapshot(spec.name);
    expect(await host.stop({ name: spec.name, vmId }, never)).toEqual({ kind: 'stopped', snapshotId: null });
    expect(await rig.makeHost().stop({ name: spec.name, vmId }, never)).toEqual({
      kind: 'stopped',
      snapshotId: null,
    });
  });

  test('the vm died -> stopped without an image', async () => {
    const vm = await opened();
    await rig.cloud.kill(vm.name);
    expect(await host.stop(vm, never)).toEqual({ kind: 'stopped', snapshotId: null });
    expect(await host.find(vm.name, never)).toMatchObject({ status: 'aborted', expiresAt: null });
  });

  test('removed -> gone with its snapshots; again -> still fine', async () => {
    const vm = await opened();
    await host.stop(vm, never);
    await host.remove(vm.name, never);
    await host.remove(vm.name, never);
    expect(await host.find(vm.name, never)).toBe(null);
    expect(await host.stop(vm, never)).toEqual({ kind: 'stopped', snapshotId: null });
  });
});

describe('list', () => {
  test('only this installation’s, newest status change first, a page only when it is read', async () => {
    const mine = rig.makeHost({ settings: { tags: { installation: 'list' } } });
    const names: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const spec = specOf();
      running(await mine.open(spec, noFence, never));
      names.unshift(spec.name);
    }
    rig.cloud.calls.reset();
    const seen = [];
    for await (const sight of mine.list(never)) seen.push(sight);
    expect(seen.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(seen.every(({ status, expiresAt }) => status === 'running' && expiresAt !== null)).toBe(true);
    expect(seen.map(({ changedAt }) => changedAt)).toEqual(
      seen.map(({ changedAt }) => changedAt).sort((a, b) => b - a),
    );
    expect(rig.cloud.calls.count({ operation: 'list' })).toBe(1);
  });
});

test('a cloud that is slow and whose clock is six minutes ahead -> our instants, and no step is taken twice', async () => {
  const slow = await startRig({ skewMs: 360_000, stopMs: 400 });
  try {
    const near = (instant: number) => expect.closeTo(instant, -4);
    const view = () => slow.cloud.sandboxes()[0];
    const patient = slow.makeHost();
    const spec = specOf();
    const answer = running(await patient.open(spec, noFence, never));
    const vm = { name: spec.name, vmId: answer.vmId };
    expect(answer.expiresAt).toEqual(near(view()?.expiresAt ?? 0));
    expect(await slow.makeHost().find(spec.name, never)).toMatchObject({ expiresAt: near(answer.expiresAt) });
    const untilAt = answer.startedAt + 2_000_000;
    await patient.extendTo(vm, untilAt, noFence, never);
    expect(view()?.expiresAt).toEqual(near(untilAt));

    expect(await slow.makeHost({ callTimeoutMs: 200 }).stop(vm, never)).toEqual({ kind: 'stopping' });
    expect((await patient.find(spec.name, never))?.status).toMatch(/stopping|snapshotting/);
    expect(await patient.open(spec, noFence, never)).toEqual({ kind: 'settling' });
    expect(await patient.look(vm, 'l1', never)).toEqual({ kind: 'vmGone' });
    await until('stopped', async () => (await patient.stop(vm, never)).kind === 'stopped');
    expect(view()?.vms).toHaveLength(1);
  } finally {
    await slow.close();
  }
});
