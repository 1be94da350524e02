import { describe, expect, test } from 'vitest';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, useRig } from './rig.js';

const rig = useRig();

describe('timers', () => {
  test('not due yet -> the actor rests until then, and nothing happens before', async () => {
    await rig.enroll();
    await rig.ring();
    const openUntil = rig.clock.now() + 60_000;
    const kind = doorkeeper(willing(openUntil));
    await rig.drive(kind);
    rig.clock.set(openUntil - 1);
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([]);
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt: openUntil, state: 'open.quiet' });
    rig.clock.set(openUntil);
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([DOOR]);
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'closed' });
  });

  test('long overdue -> fires all the same', async () => {
    await rig.enroll();
    await rig.ring();
    await rig.drive(doorkeeper(willing(rig.clock.now() + 1)));
    rig.clock.advance(30 * 86_400_000);
    expect(await rig.drive(doorkeeper(willing(0)))).toMatchObject({ state: 'closed' });
  });

  test('due while an effect runs -> beats the effect’s late answer', async () => {
    await rig.enroll();
    const patienceUntil = rig.clock.now() + 5_000;
    await rig.ring(DOOR, patienceUntil);
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        rig.clock.set(patienceUntil);
        return { kind: 'unlocked', openUntil: patienceUntil + 60_000 };
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'stuck' });
    expect(contextOf(await rig.row())).toMatchObject({ trouble: 'out of patience', openUntil: null });
  });

  test('due while an effect fails for the last time -> beats the failure', async () => {
    await rig.enroll();
    const patienceUntil = rig.clock.now() + 5_000;
    await rig.ring(DOOR, patienceUntil);
    const kind = doorkeeper(
      {
        ...willing(0),
        async unlock() {
          rig.clock.set(patienceUntil);
          throw new Error('jammed');
        },
      },
      { patience: () => 1 },
    );
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'stuck' });
    expect(contextOf(await rig.row())).toMatchObject({ trouble: 'out of patience' });
  });

  test('due before the effect is begun -> the effect is not begun', async () => {
    await rig.enroll();
    await rig.ring(DOOR, rig.clock.now());
    const calls: Called[] = [];
    expect(await rig.drive(doorkeeper(willing(0, calls)))).toMatchObject({ state: 'stuck' });
    expect(calls).toEqual([]);
  });

  test('earlier than the next try of a failed effect -> bounds when the actor wakes', async () => {
    await rig.enroll();
    const patienceUntil = rig.clock.now() + 100;
    await rig.ring(DOOR, patienceUntil);
    const failing = doorkeeper({ ...willing(0), unlock: () => Promise.reject(new Error('jammed')) });
    expect(await rig.drive(failing)).toEqual({ kind: 'rests', wakeAt: patienceUntil, state: 'opening' });
    expect(await rig.row()).toMatchObject({ wakeAt: patienceUntil, retryAt: rig.clock.now() + 750 });
    rig.clock.set(patienceUntil);
    expect(await rig.drive(failing)).toMatchObject({ kind: 'rests', state: 'stuck' });
  });

  test('passes while an effect fails -> its event says what stood in the way; one that just passes says nothing', async () => {
    await rig.enroll();
    await rig.ring();
    const unlock = () => Promise.reject(new Error('jammed'));
    await rig.drive(doorkeeper({ ...willing(0), unlock }));
    rig.clock.advance(1_000);
    await rig.drive(doorkeeper(willing(rig.clock.now())));
    await rig.ring(DOOR, rig.clock.now() + 100);
    await rig.drive(doorkeeper({ ...willing(0), unlock }));
    rig.clock.advance(100);
    await rig.drive(doorkeeper(willing(0)));
    const events = (await rig.journal()).map(({ event }) => JSON.parse(event) as { type: string });
    expect(events.filter(({ type }) => type.startsWith('xstate.after'))).toEqual([
      { type: 'xstate.after.closeDue.doorkeeper.open' },
      { type: 'xstate.after.patienceOver.doorkeeper.opening', cause: 'jammed; try 1 of unlock failed' },
    ]);
  });

  test('between two milliseconds -> the actor wakes when it is due, not just before', async () => {
    await rig.enroll();
    await rig.ring();
    const openUntil = rig.clock.now() + 60_000.25;
    const kind = doorkeeper(willing(openUntil));
    const answer = await rig.drive(kind);
    expect(answer).toMatchObject({ kind: 'rests', wakeAt: Math.ceil(openUntil) });
    rig.clock.set((await rig.row()).wakeAt ?? 0);
    expect(await rig.drive(kind)).toMatchObject({ state: 'closed' });
  });

  test('at the beginning of time -> a wake-up like any other, not "now"', async () => {
    await rig.enroll();
    await rig.ring();
    rig.clock.set(-10);
    expect(await rig.drive(doorkeeper(willing(0)))).toMatchObject({ kind: 'rests', wakeAt: 1 });
  });

  test('due again as soon as it has fired -> set aside instead of turning for ever', async () => {
    await rig.enroll();
    await rig.post({ type: 'clock.striking' });
    expect(await rig.drive(doorkeeper(willing(0)))).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining('turns in circles'),
    });
    expect((await rig.row()).rev).toBeLessThan(200);
  });

  test('fires together with many pieces of news -> the news is no circle', async () => {
    await rig.enroll();
    for (let count = 0; count < 150; count++) await rig.post({ type: 'visitor.came' });
    await rig.ring(DOOR, rig.clock.now());
    expect(await rig.drive(doorkeeper(willing(0)))).toMatchObject({ kind: 'rests', state: 'stuck' });
    expect(contextOf(await rig.row())).toMatchObject({ visitors: 150 });
  });

  test('named in the chart, but without a deadline -> set aside instead of never firing', async () => {
    await rig.enroll();
    await rig.ring();
    expect(await rig.drive(doorkeeper(willing(0), { deadlines: {} }))).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining("no deadline 'patienceOver'"),
    });
  });
});
