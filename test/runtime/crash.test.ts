import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { drive } from '../../src/runtime/drive.js';
import { type Called, type DoorEffects, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, endLease, useRig } from './rig.js';

const rig = useRig();

/** What the driver was about to do, or had just done, when it died. */
type Moment = (step: string) => void;

/** A driver that dies at the `nth` moment: from then on nothing of it reaches the store. Counts moments when `nth` is 0. */
function mortal(nth: number) {
  const moments: string[] = [];
  let dead = false;
  const moment: Moment = (step) => {
    if (dead) throw new Error('it is dead');
    moments.push(step);
    if (moments.length !== nth) return;
    dead = true;
    throw new Error(`died at ${step}`);
  };
  const around =
    <A extends unknown[], R>(name: string, act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      moment(`before ${name}`);
      const result = await act(...args);
      moment(`after ${name}`);
      return result;
    };
  const store = { ...rig.store };
  for (const name of ['take', 'keep', 'save', 'defer', 'rest', 'free', 'quarantine'] as const) {
    Object.assign(store, { [name]: around(name, rig.store[name] as () => Promise<unknown>) });
  }
  const effects = (calls: Called[]): DoorEffects => {
    const { unlock, lock } = willing(rig.clock.now(), calls);
    return { unlock: around('unlock', unlock), lock: around('lock', lock) };
  };
  return { moments, store, effects, diedAt: () => (dead ? moments.at(-1) : null) };
}

/** The door opens, two visitors come, it closes: in one drive, unless the driver dies. */
async function serve(nth: number) {
  await rig.enroll();
  await rig.ring();
  await rig.post({ type: 'visitor.came' });
  await rig.post({ type: 'visitor.came' });
  const calls: Called[] = [];
  const driver = mortal(nth);
  const deps = rig.deps(doorkeeper(driver.effects(calls)), { store: driver.store, owner: 'mortal' });
  await drive(deps, DOOR).catch((error: unknown) => {
    if (driver.diedAt() === null) throw error;
  });
  return { driver, calls };
}

const done = (calls: Called[]) => calls.map(({ effect, call }) => [effect, call.key]);

describe('a driver dies', () => {
  test('at any moment -> the next one ends up where one that lives would have, with the same keys', async () => {
    const { driver, calls } = await serve(0);
    const moments = driver.moments;
    const expected = await outcome();
    const keys = done(calls);
    expect(keys).toEqual([
      ['unlock', `${DOOR}:3:unlock`],
      ['lock', `${DOOR}:5:lock`],
    ]);
    expect(moments).toContain('before save');
    expect(moments).toContain('after unlock');
    for (let nth = 1; nth <= moments.length; nth++) {
      const at = moments[nth - 1];
      await rig.store.remove(DOOR, (await rig.row()).rev);
      const first = await serve(nth);
      expect(first.driver.diedAt()).toBe(at);
      await endLease(rig.store, DOOR, 'mortal');
      const again: Called[] = [];
      const heir = rig.deps(doorkeeper(willing(rig.clock.now(), again)), { owner: 'heir' });
      expect(await drive(heir, DOOR), at).toEqual({ kind: 'rests', wakeAt: null, state: 'closed' });
      expect(await outcome(), at).toEqual(expected);
      expect(new Set([...done(first.calls), ...done(again)].map(String)), at).toEqual(
        new Set(keys.map(String)),
      );
    }
  });

  async function outcome() {
    const { state, rev, snapshot } = await rig.row();
    const journal = await rig.journal();
    return { state, rev, snapshot, journal: journal.map(({ event, from, to }) => [event, from, to]) };
  }

  test('between save and effect -> the effect is performed once, by the next', async () => {
    // Taken, then three pieces of news saved.
    const { driver, calls } = await serve(8);
    expect([driver.diedAt(), calls]).toEqual(['after save', []]);
    expect(await rig.row()).toMatchObject({ state: 'opening', wakeAt: 0 });
    await endLease(rig.store, DOOR, 'mortal');
    const again: Called[] = [];
    await rig.drive(doorkeeper(willing(rig.clock.now() + 60_000, again)), { owner: 'heir' });
    expect(done(again)).toEqual([['unlock', `${DOOR}:3:unlock`]]);
  });

  test('between effect and save -> the effect is performed again under the same key', async () => {
    const driver = mortal(0);
    await rig.enroll();
    await rig.ring();
    const calls: Called[] = [];
    let saves = 0;
    const store: Store = {
      ...driver.store,
      save: (hold, change) => {
        saves += 1;
        return saves === 2 ? Promise.reject(new Error('died')) : rig.store.save(hold, change);
      },
      free: async () => undefined,
    };
    const deps = rig.deps(doorkeeper(willing(rig.clock.now() + 60_000, calls)), { store, owner: 'mortal' });
    await expect(drive(deps, DOOR)).rejects.toThrow('died');
    await endLease(rig.store, DOOR, 'mortal');
    await rig.drive(deps.kind, { owner: 'heir' });
    expect(done(calls)).toEqual([
      ['unlock', `${DOOR}:1:unlock`],
      ['unlock', `${DOOR}:1:unlock`],
    ]);
    expect(calls.map(({ call }) => call.attempt)).toEqual([1, 1]);
  });

  test('right after news was saved -> it is not counted twice', async () => {
    await rig.enroll();
    await rig.post({ type: 'visitor.came' });
    const store: Store = {
      ...rig.store,
      async save(hold, change) {
        await rig.store.save(hold, change);
        throw new Error('died');
      },
    };
    await expect(rig.drive(doorkeeper(willing(0)), { store })).rejects.toThrow('died');
    await rig.drive(doorkeeper(willing(0)), { owner: 'heir' });
    expect(contextOf(await rig.row())).toMatchObject({ visitors: 1 });
  });

  test('right before news was saved -> it is not lost', async () => {
    await rig.enroll();
    await rig.post({ type: 'visitor.came' });
    const store: Store = { ...rig.store, save: () => Promise.reject(new Error('died')) };
    await expect(rig.drive(doorkeeper(willing(0)), { store })).rejects.toThrow('died');
    await rig.drive(doorkeeper(willing(0)), { owner: 'heir' });
    expect(contextOf(await rig.row())).toMatchObject({ visitors: 1 });
  });

  test('with a timer armed -> the next derives it from the saved context alone', async () => {
    await rig.enroll();
    await rig.ring();
    const openUntil = rig.clock.now() + 60_000;
    const store: Store = { ...rig.store, rest: () => Promise.reject(new Error('died')) };
    await expect(rig.drive(doorkeeper(willing(openUntil)), { store, owner: 'mortal' })).rejects.toThrow(
      'died',
    );
    expect(await rig.row()).toMatchObject({ state: 'open.quiet', wakeAt: 0 });
    const heir = doorkeeper(willing(openUntil));
    expect(await rig.drive(heir)).toEqual({ kind: 'rests', wakeAt: openUntil, state: 'open.quiet' });
    rig.clock.set(openUntil);
    expect(await rig.drive(heir)).toMatchObject({ kind: 'rests', state: 'closed' });
  });
});
