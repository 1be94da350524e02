import { beforeEach, describe, expect, test } from 'vitest';
import { TransientError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, useRig } from './rig.js';

const rig = useRig();
const LATER = 60_000;
const open = (calls: Called[] = []) => doorkeeper(willing(rig.clock.now() + LATER, calls));
const visitors = async () => contextOf(await rig.row()).visitors;
const waitingNews = async () => {
  const taken = await rig.store.take(DOOR, 'me', 1_000);
  await rig.store.free(DOOR, 'me');
  return taken.kind === 'taken' ? taken.news.length : -1;
};

describe('news', () => {
  test('several pieces -> folded in the order in which they came', async () => {
    await rig.enroll();
    await rig.post({ type: 'visitor.came' });
    await rig.ring();
    await rig.post({ type: 'visitor.came' });
    await rig.drive(open());
    const journal = await rig.journal();
    expect(journal.map(({ event }) => (JSON.parse(event) as { type: string }).type)).toEqual([
      'visitor.came',
      'bell.rung',
      'visitor.came',
      'xstate.done.actor.unlock',
    ]);
    expect(await visitors()).toBe(2);
    expect(await waitingNews()).toBe(0);
  });

  test('is gone with the very transaction that saves its transition', async () => {
    await rig.enroll();
    await rig.post({ type: 'visitor.came' });
    const seen: [unknown, number][] = [];
    const store: Store = {
      ...rig.store,
      async save(hold, change) {
        seen.push([await visitors(), await waiting()]);
        const saved = await rig.store.save(hold, change);
        seen.push([await visitors(), await waiting()]);
        return saved;
      },
    };
    async function waiting() {
      const taken = await rig.store.take(DOOR, 'me', 30_000);
      return taken.kind === 'taken' ? taken.news.length : -1;
    }
    await rig.drive(open(), { store });
    expect(seen).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  test.each(['not JSON', '{"type":"of nobody"}', '{"type":"visitor.came","extra":1}', 'null', '{}'])(
    '%s -> dropped with a line in the log; the actor goes on with the rest',
    async (text) => {
      await rig.enroll();
      await rig.post(text);
      await rig.ring();
      expect(await rig.drive(open())).toMatchObject({ kind: 'rests', state: 'open.quiet' });
      expect(rig.log).toEqual([expect.stringMatching(/^door-1: dropped news that does not parse: ./)]);
      expect(await waitingNews()).toBe(0);
      expect(await rig.journal()).toHaveLength(2);
    },
  );

  test('changes nothing -> consumed without a journal entry', async () => {
    await rig.enroll();
    await rig.post({ type: 'door.mended' });
    expect(await rig.drive(open())).toMatchObject({ kind: 'rests', state: 'closed' });
    expect([await waitingNews(), await rig.journal()]).toEqual([0, []]);
    expect(rig.transitions).toEqual([]);
    expect(rig.log).toEqual([]);
  });

  test('comes during an effect -> counted in the same drive, after the effect’s answer', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        await rig.post({ type: 'visitor.came' });
        return { kind: 'unlocked', openUntil: rig.clock.now() + LATER };
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'open.greeting' });
    expect(await visitors()).toBe(1);
  });

  test('comes between the last step and the rest -> not lost: the drive goes on', async () => {
    await rig.enroll();
    let rests = 0;
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        rests += 1;
        if (rests === 1) await rig.ring();
        return rig.store.rest(hold, note);
      },
    };
    expect(await rig.drive(open(), { store })).toMatchObject({ kind: 'rests', state: 'open.quiet' });
    expect(rests).toBe(2);
  });

  test('comes right after the rest -> the actor is due', async () => {
    await rig.enroll();
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        const rested = await rig.store.rest(hold, note);
        await rig.ring();
        return rested;
      },
    };
    await rig.drive(open(), { store });
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([DOOR]);
  });

  test('comes while the effect fails -> the actor is due at once, not only when the effect is', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        await rig.post({ type: 'visitor.came' });
        throw new Error('jammed');
      },
    });
    await rig.drive(kind);
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([DOOR]);
  });

  describe('while the effect waits for its next try', () => {
    const calls: Called[] = [];
    const slow = new TransientError('slow down', { retryAfterMs: 40_000 });
    const reluctant = doorkeeper({
      ...willing(0),
      unlock(input, call) {
        calls.push({ effect: 'unlock', input, call });
        return Promise.reject(slow);
      },
    });
    let retryAt: number;
    beforeEach(async () => {
      calls.splice(0);
      await rig.enroll();
      await rig.ring(DOOR, rig.clock.now() + 90_000);
      await rig.drive(reluctant);
      retryAt = rig.clock.now() + 40_000;
    });

    test('moves the actor, the effect is the same -> not tried sooner, and its failed tries still count', async () => {
      const { problem } = await rig.row();
      for (let pieces = 1; pieces <= 4; pieces++) {
        rig.clock.advance(5_000);
        await rig.post({ type: 'visitor.came' });
        const answer = await rig.drive(reluctant);
        expect(answer).toEqual({ kind: 'rests', wakeAt: retryAt, state: 'opening' });
        expect(await rig.row()).toMatchObject({ attempt: 1, retryAt, wakeAt: retryAt, problem });
      }
      expect(await visitors()).toBe(4);
      rig.clock.set(retryAt);
      await rig.drive(reluctant);
      expect(calls.map(({ call }) => call.attempt)).toEqual([1, 2]);
    });

    test('the process ends between its save and the rest -> the next driver still waits', async () => {
      await rig.post({ type: 'visitor.came' });
      const dies = { ...rig.store, rest: () => Promise.reject(new TransientError('cut')) };
      await expect(rig.drive(reluctant, { store: dies })).rejects.toThrow('cut');
      expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([DOOR]);
      expect(await rig.drive(reluctant)).toMatchObject({ kind: 'rests', wakeAt: retryAt });
      expect(calls).toHaveLength(1);
    });

    test('a piece that does not parse -> it waits on', async () => {
      await rig.post('nonsense');
      expect(await rig.drive(reluctant)).toMatchObject({ kind: 'rests', wakeAt: retryAt });
      expect(await rig.row()).toMatchObject({ attempt: 1, retryAt });
    });

    test('a deadline before the next try -> passes at its time, and says what stood in the way', async () => {
      await rig.post({ type: 'visitor.came' });
      rig.clock.advance(90_000);
      await rig.drive(reluctant);
      expect(await rig.row()).toMatchObject({ state: 'stuck', attempt: 0, retryAt: null, problem: null });
      const [last] = (await rig.journal()).slice(-1);
      expect(last?.event).toContain('slow down');
    });

    test('leads to another effect -> that one is tried at once, with all its patience', async () => {
      await rig.post({ type: 'keeper.leaving' });
      await rig.drive(doorkeeper(willing(0, calls)));
      expect(calls.map(({ effect, call }) => [effect, call.attempt])).toEqual([
        ['unlock', 1],
        ['lock', 1],
      ]);
      expect(await rig.row()).toMatchObject({ state: 'closed', attempt: 0, retryAt: null, problem: null });
    });
  });

  test('posted twice by whoever lost the answer -> two pieces of news, each counted once', async () => {
    await rig.enroll();
    await rig.post({ type: 'visitor.came' });
    await rig.post({ type: 'visitor.came' });
    await rig.drive(open());
    await rig.drive(open());
    expect(await visitors()).toBe(2);
  });
});

describe('facts', () => {
  const observe = (weather: string) => rig.store.observe(new Map([[DOOR, JSON.stringify({ weather })]]));
  const told = async () => (await rig.journal()).map(({ event }) => JSON.parse(event) as object);

  test('differ from what the actor knows -> it is told once; the same again says nothing', async () => {
    await rig.enroll();
    await observe('rain');
    await rig.drive(open());
    await rig.drive(open());
    await observe('rain');
    await rig.drive(open());
    expect(await told()).toEqual([{ type: 'weather.changed', weather: 'rain' }]);
    await observe('sun');
    await rig.drive(open());
    expect(await told()).toHaveLength(2);
  });

  test('are there from the beginning -> told by the first drive', async () => {
    await rig.enroll(DOOR, '{"weather":"snow"}');
    await rig.drive(open());
    expect(contextOf(await rig.row())).toMatchObject({ weather: 'snow' });
  });

  test('change and change back before anyone looks -> nothing to tell', async () => {
    await rig.enroll(DOOR, '{"weather":"rain"}');
    await rig.drive(open());
    await observe('sun');
    await observe('rain');
    await rig.drive(open());
    expect(await told()).toHaveLength(1);
  });

  test('come between the last step and the rest -> not lost: the drive goes on', async () => {
    await rig.enroll();
    let rests = 0;
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        rests += 1;
        if (rests === 1) await observe('hail');
        return rig.store.rest(hold, note);
      },
    };
    await rig.drive(open(), { store });
    expect([rests, contextOf(await rig.row()).weather]).toEqual([2, 'hail']);
  });

  test('come together with news -> the news first', async () => {
    await rig.enroll();
    await observe('rain');
    await rig.ring();
    const calls: Called[] = [];
    await rig.drive(open(calls));
    expect(await told()).toMatchObject([
      { type: 'bell.rung' },
      { type: 'weather.changed' },
      { type: 'xstate.done.actor.unlock' },
    ]);
    expect(calls).toHaveLength(1);
  });

  test('are never taken in by the chart -> set aside instead of being told for ever', async () => {
    await rig.enroll(DOOR, '{"weather":"rain"}');
    const deaf = doorkeeper(willing(0), { factsEvent: () => ({ type: 'visitor.came' }) });
    expect(await rig.drive(deaf)).toMatchObject({ kind: 'quarantined' });
  });

  test('do not parse -> set aside with the reason', async () => {
    await rig.enroll(DOOR, 'nonsense');
    expect(await rig.drive(open())).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining('facts do not parse'),
    });
  });

  test('come while the effect fails -> the actor is due at once, not only when the effect is', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        await observe('storm');
        throw new Error('jammed');
      },
    });
    await rig.drive(kind);
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([DOOR]);
  });
});
