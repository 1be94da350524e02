import { describe, expect, test } from 'vitest';
import { TransientError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { doorkeeper, willing } from './doorkeeper.js';
import { usePollers } from './polling.js';
import { DOOR, until, useRig } from './rig.js';

const rig = useRig();
const { poller, running, gated, counting } = usePollers(rig);

describe('the end of a poller', () => {
  test('stopped at rest -> the loop ends, and nothing starts afterwards', async () => {
    await rig.enroll();
    const { poller: made, run } = running(doorkeeper(willing(0)));
    await until(async () => (await rig.row()).wakeAt === null);
    await made.stop(1_000);
    await run;
    await rig.ring();
    made.kick(DOOR);
    expect(await made.settle(DOOR)).toBeNull();
    expect(await rig.row()).toMatchObject({ state: 'closed', rev: 0 });
    expect(rig.clock.sleepingUntil).toEqual([]);
  });

  test('stopped in mid-effect -> the effect ends within the grace and is saved; its successor is not begun', async () => {
    await rig.enroll();
    await rig.ring();
    const { kind, go, begun, aborted } = gated();
    const { poller: made, run } = running(kind);
    await until(() => begun.length === 1);
    const stopped = made.stop(60_000);
    go();
    await stopped;
    await run;
    expect(await rig.row()).toMatchObject({ state: 'closing', wakeAt: 0 });
    expect([begun, aborted]).toEqual([[DOOR], []]);
    expect(await rig.store.take(DOOR, 'the next process', 1_000)).toMatchObject({ kind: 'taken' });
  });

  test('stopped in mid-effect, which does not end within the grace -> aborted, the state is kept, the lease is free', async () => {
    await rig.enroll();
    await rig.ring();
    const { kind, begun, aborted } = gated();
    const { poller: made } = running(kind);
    await until(() => begun.length === 1);
    await made.stop(10);
    expect(aborted).toEqual([DOOR]);
    expect(await rig.row()).toMatchObject({ state: 'opening', attempt: 0, problem: null, wakeAt: 0 });
    expect(await rig.store.take(DOOR, 'the next process', 1_000)).toMatchObject({ kind: 'taken' });
  });

  test('stopped in mid-effect while others are due -> they are left to the next process, without a rush of looks', async () => {
    const ids = Array.from({ length: 70 }, (_, index) => `door-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    await Promise.all(ids.map((id) => rig.ring(id)));
    const { kind, go, begun } = gated();
    const { looks, store } = counting();
    const { poller: made } = running(kind, { store });
    await until(() => begun.length === 64);
    await made.settle('door-none');
    const stopped = made.stop(60_000);
    const before = looks.due;
    for (const id of ids) made.kick(id);
    go();
    await stopped;
    expect(looks.due - before).toBeLessThanOrEqual(1);
    const { states } = await rig.store.counts('doorkeeper');
    expect(states).toEqual({ closing: 64, closed: 6 });
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 100)).toHaveLength(70);
  });

  test('someone waits for an actor to settle while the poller stops -> null', async () => {
    await rig.enroll();
    await rig.ring();
    const { kind, go, begun } = gated();
    const made = poller(kind);
    made.kick(DOOR);
    await until(() => begun.length === 1);
    const settled = made.settle(DOOR);
    const stopped = made.stop(60_000);
    go();
    await stopped;
    expect(await settled).toBeNull();
  });

  test('stopped twice -> both resolve', async () => {
    await rig.enroll();
    await rig.ring();
    const { kind, go, begun } = gated();
    const { poller: made } = running(kind);
    await until(() => begun.length === 1);
    const both = Promise.all([made.stop(60_000), made.stop(60_000)]);
    go();
    expect(await both).toEqual([undefined, undefined]);
  });

  test('the store is away at the end -> it ends all the same', async () => {
    await rig.enroll();
    await rig.ring();
    const away = () => Promise.reject(new TransientError('the database is away'));
    const { kind, go, begun } = gated();
    let gone = false;
    const store: Store = {
      ...rig.store,
      save: (hold, change) => (gone ? away() : rig.store.save(hold, change)),
      free: (id, owner) => (gone ? away() : rig.store.free(id, owner)),
    };
    const { poller: made, run } = running(kind, { store });
    await until(() => begun.length === 1);
    gone = true;
    const stopped = made.stop(60_000);
    go();
    await stopped;
    await run;
    expect(await rig.row()).toMatchObject({ state: 'opening' });
  });
});
