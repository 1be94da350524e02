import { describe, expect, test, vi } from 'vitest';
import { TransientError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { usePollers } from './polling.js';
import { contextOf, DOOR, gate, until, useRig } from './rig.js';

const rig = useRig();
const { over, poller, running, gated, counting } = usePollers(rig);
const stateIs = (state: string, id = DOOR) => until(async () => (await rig.row(id)).state === state);
const open = (calls: Called[] = []) => doorkeeper(willing(rig.clock.now() + 60_000, calls));

describe('the poller finds work', () => {
  test('an actor is due when it starts -> driven without a kick', async () => {
    await rig.enroll();
    await rig.ring();
    running(open());
    await stateIs('open.quiet');
  });

  test('a deadline comes -> the actor is driven when it does, by the orchestrator’s clock', async () => {
    await rig.enroll();
    await rig.ring();
    running(open());
    await until(async () => (await rig.row()).wakeAt === rig.clock.now() + 60_000);
    await until(() => rig.clock.sleepingUntil.includes(rig.clock.now() + 60_000));
    rig.clock.advance(60_000);
    await stateIs('closed');
  });

  test('nothing is due and nobody kicks -> the store is asked again after five seconds all the same', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await rig.enroll();
    const { looks, store } = counting();
    running(open(), { store });
    await stateIs('closed');
    await until(() => looks.due > 0 && rig.clock.sleepingUntil.length === 1);
    await rig.ring();
    await until(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      return (await rig.row()).state === 'open.quiet';
    });
  });

  test('kicked -> driven at once, even when its time has not come', async () => {
    await rig.enroll();
    const made = poller(open());
    await made.settle(DOOR);
    await rig.ring();
    made.kick(DOOR);
    await stateIs('open.quiet');
  });

  test('more actors than can be driven at once -> each is driven', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => `door-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    await Promise.all(ids.map((id) => rig.ring(id)));
    let now = 0;
    let most = 0;
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        now += 1;
        most = Math.max(most, now);
        await rig.store.read(DOOR);
        now -= 1;
        return { kind: 'unlocked', openUntil: rig.clock.now() + 60_000 };
      },
    });
    running(kind);
    await until(async () => (await rig.store.counts('doorkeeper')).states['open.quiet'] === 150);
    expect(most).toBeLessThanOrEqual(64);
  });

  test('kicked while as many as possible are being driven -> waits for its turn', async () => {
    const ids = Array.from({ length: 66 }, (_, index) => `door-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    await Promise.all(ids.map((id) => rig.ring(id)));
    const { kind, go, begun } = gated();
    const made = poller(kind);
    for (const id of ids) made.kick(id);
    await until(() => begun.length === 64);
    go();
    await until(() => new Set(begun).size === ids.length + 1);
    expect(new Set(begun)).toEqual(new Set([...ids, 'lock']));
  });
});

describe('one drive per actor', () => {
  test('kicked during its drive -> driven once more afterwards, never twice at once', async () => {
    await rig.enroll();
    const begun = gate();
    const go = gate();
    let takes = 0;
    let rests = 0;
    const store: Store = {
      ...rig.store,
      async take(id, owner, leaseMs) {
        takes += 1;
        expect(takes - rests).toBe(1);
        return rig.store.take(id, owner, leaseMs);
      },
      async rest(hold, note) {
        begun.open();
        await go.opened;
        const rested = await rig.store.rest(hold, note);
        rests += 1;
        return rested;
      },
    };
    const made = poller(open(), { store });
    made.kick(DOOR);
    await begun.opened;
    made.kick(DOOR);
    made.kick(DOOR);
    go.open();
    await until(() => rests === 2);
    await made.stop(1_000);
    expect(takes).toBe(2);
  });

  test('settled -> its answer; settled while it is being driven -> the answer of a drive that began later', async () => {
    await rig.enroll();
    await rig.ring();
    const { kind, go, begun } = gated();
    const made = poller(kind);
    const first = made.settle(DOOR);
    const second = made.settle(DOOR);
    await until(() => begun.length > 0);
    await rig.post({ type: 'visitor.came' });
    go();
    expect(await first).toMatchObject({ kind: 'rests', state: 'closed' });
    expect(await second).toMatchObject({ kind: 'rests', state: 'closed' });
    expect(contextOf(await rig.row())).toMatchObject({ visitors: 1 });
    expect(begun).toEqual([DOOR, 'lock']);
  });

  test('two wait for the drive that is under way -> they share the next one', async () => {
    await rig.enroll();
    const { kind } = gated();
    const made = poller(kind);
    const answers = await Promise.all([made.settle(DOOR), made.settle(DOOR), made.settle(DOOR)]);
    expect(answers).toEqual(Array(3).fill({ kind: 'rests', wakeAt: null, state: 'closed' }));
  });

  test('two pollers on one store -> each effect is performed once', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `door-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    await Promise.all(ids.map((id) => rig.ring(id)));
    const calls: Called[] = [];
    running(open(calls), { owner: 'one' });
    running(open(calls), { owner: 'two' });
    await until(async () => (await rig.store.counts('doorkeeper')).states['open.quiet'] === 20);
    expect(calls).toHaveLength(20);
  });
});

describe('trouble', () => {
  test('a drive throws -> told once, the actor is left alone for a while, the others go on', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    await rig.enroll();
    await rig.enroll('door-2');
    await rig.ring();
    await rig.ring('door-2');
    let tries = 0;
    const store: Store = {
      ...rig.store,
      async save(hold, change) {
        if (hold.id !== DOOR) return rig.store.save(hold, change);
        tries += 1;
        if (tries < 3) throw new TransientError('this page of the file is broken');
        return rig.store.save(hold, change);
      },
    };
    running(open(), { store });
    await stateIs('open.quiet', 'door-2');
    await until(() => tries === 1);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(tries).toBe(1);
    await until(async () => {
      await vi.advanceTimersByTimeAsync(500);
      return tries === 2;
    });
    await until(async () => {
      await vi.advanceTimersByTimeAsync(500);
      return (await rig.row()).state === 'open.quiet';
    });
    expect(rig.log).toContain('cannot go on for now: door-1: this page of the file is broken');
  });

  test('the store is away for a while -> told once, shown as a problem; back again -> goes on and forgets it', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    await rig.enroll();
    await rig.ring();
    let away = true;
    let asked = 0;
    const { store } = counting({
      async due(machine, now, limit) {
        asked += 1;
        if (away) throw new TransientError('the database is away');
        return rig.store.due(machine, now, limit);
      },
    });
    const { poller: made } = running(open(), { store });
    expect(made.problem).toBeNull();
    await until(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      return asked === 3;
    });
    expect(made.problem).toBe('the database is away');
    expect(rig.log).toEqual(['cannot go on for now: the database is away']);
    away = false;
    await until(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      return (await rig.row()).state === 'open.quiet';
    });
    await until(() => made.problem === null);
  });

  test('nobody asked for a log -> trouble is still shown', async () => {
    const { log: _, ...deps } = rig.deps(open());
    const away = () => Promise.reject(new TransientError('the database is away'));
    const made = over({ ...deps, store: { ...rig.store, due: away } });
    void made.run();
    await until(() => made.problem === 'the database is away');
  });

  test('settled, but the drive throws -> null', async () => {
    await rig.enroll();
    const store = { ...rig.store, take: () => Promise.reject(new TransientError('the database is away')) };
    expect(await poller(open(), { store }).settle(DOOR)).toBeNull();
  });

  test('a row of a newer version -> left alone for a minute, not taken again and again', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const row = { ...toSaved(open(), begin(open(), { door: DOOR })), version: 9 };
    await rig.store.enroll(DOOR, row, null, 1);
    let takes = 0;
    const { looks, store } = counting({
      take(id, owner, leaseMs) {
        takes += 1;
        return rig.store.take(id, owner, leaseMs);
      },
    });
    running(open(), { store });
    await until(() => takes === 1 && looks.due >= 2);
    for (let seconds = 0; seconds < 55; seconds += 5) await vi.advanceTimersByTimeAsync(5_000);
    expect(takes).toBe(1);
    await until(async () => {
      await vi.advanceTimersByTimeAsync(5_000);
      return takes === 2;
    });
  });

  test('a row that cannot be read -> set aside once, and never due again', async () => {
    const row = { ...toSaved(open(), begin(open(), { door: DOOR })), snapshot: 'nonsense' };
    await rig.store.enroll(DOOR, row, null, 1);
    await rig.enroll('door-2');
    await rig.ring('door-2');
    running(open());
    await stateIs('open.quiet', 'door-2');
    await until(async () => (await rig.row()).quarantine !== null);
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([]);
  });

  test('another process drives the actor -> it is found again when the other’s lease is over', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    await rig.enroll();
    await rig.ring();
    await rig.store.take(DOOR, 'another', 300);
    const { poller: made } = running(open());
    expect(await made.settle(DOOR)).toMatchObject({ kind: 'busy' });
    await until(async () => {
      await vi.advanceTimersByTimeAsync(1_000);
      return (await rig.row()).state === 'open.quiet';
    });
  });
});
