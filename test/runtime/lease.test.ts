import { afterEach, describe, expect, test, vi } from 'vitest';
import { StaleDriverError, TransientError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { drive } from '../../src/runtime/drive.js';
import { LEASE_MS } from '../../src/runtime/lease.js';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { DOOR, endLease, gate, until, untilAborted, useRig } from './rig.js';

const rig = useRig();
afterEach(() => {
  vi.useRealTimers();
});
/** Time of the driver's own timers, which the test advances; the store's stays real. */
const ownLeaseTime = () =>
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'],
  });

/** A drive that hangs in its effect until told, or until its signal aborts. */
function hanging(changes: { store?: Store } = {}) {
  const begun = gate<AbortSignal>();
  const go = gate();
  const kind = doorkeeper({
    ...willing(0),
    async unlock(_, { signal }) {
      begun.open(signal);
      await Promise.race([go.opened, untilAborted(signal)]);
      return { kind: 'unlocked', openUntil: rig.clock.now() + 60_000 };
    },
  });
  const answer = drive(rig.deps(kind, { owner: 'first', ...changes }), DOOR);
  return { answer, begun: begun.opened, go: () => go.open() };
}

describe('the lease of an actor', () => {
  test('another driver has it -> busy, with when to come back, and nothing is touched', async () => {
    await rig.enroll();
    await rig.ring();
    const first = hanging();
    await first.begun;
    const before = await rig.row();
    const calls: Called[] = [];
    const answer = await rig.drive(doorkeeper(willing(0, calls)), { owner: 'second' });
    expect(answer.kind).toBe('busy');
    const { wakeAt } = answer as { wakeAt: number };
    expect(wakeAt).toBeGreaterThan(rig.clock.now());
    expect(wakeAt).toBeLessThanOrEqual(rig.clock.now() + LEASE_MS);
    expect([calls, await rig.row()]).toEqual([[], before]);
    first.go();
    expect(await first.answer).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });

  test('its driver died and the lease is over -> the next driver takes the actor up', async () => {
    await rig.enroll();
    await rig.ring();
    await rig.store.take(DOOR, 'dead', LEASE_MS);
    const kind = doorkeeper(willing(rig.clock.now() + 60_000));
    expect(await rig.drive(kind)).toMatchObject({ kind: 'busy' });
    await endLease(rig.store, DOOR, 'dead');
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });

  test('an effect outlives the first lease -> the lease is prolonged as long as it runs', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    const [asked, kept]: [number[], number[]] = [[], []];
    const store: Store = {
      ...rig.store,
      async keep(id, owner, leaseMs) {
        asked.push(leaseMs);
        const answer = await rig.store.keep(id, owner, leaseMs);
        kept.push(leaseMs);
        return answer;
      },
    };
    const first = hanging({ store });
    await first.begun;
    for (let tens = 1; tens <= 4; tens++) {
      vi.advanceTimersByTime(10_000);
      await until(() => kept.length === tens);
    }
    first.go();
    expect(await first.answer).toMatchObject({ kind: 'rests' });
    vi.advanceTimersByTime(60_000);
    expect(asked).toEqual(Array(4).fill(LEASE_MS));
  });

  test('lost in mid-effect -> the effect is aborted, nothing is written, and the answer is stale', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    const first = hanging();
    const signal = await first.begun;
    await endLease(rig.store, DOOR, 'first');
    const second = rig.deps(doorkeeper(willing(rig.clock.now() + 60_000)), { owner: 'second' });
    await drive(second, DOOR);
    const row = await rig.row();
    vi.advanceTimersByTime(10_000);
    expect(await first.answer).toEqual({ kind: 'stale' });
    expect(signal.reason).toBeInstanceOf(StaleDriverError);
    expect(await rig.row()).toEqual(row);
    expect(await rig.journal()).toHaveLength(2);
  });

  test('lost in mid-effect, which ends well all the same -> its answer is not saved', async () => {
    await rig.enroll();
    await rig.ring();
    const first = hanging();
    await first.begun;
    await endLease(rig.store, DOOR, 'first');
    await rig.store.take(DOOR, 'second', LEASE_MS);
    first.go();
    expect(await first.answer).toEqual({ kind: 'stale' });
    expect(await rig.row()).toMatchObject({ state: 'opening', rev: 1 });
    expect(await rig.store.holds({ id: DOOR, owner: 'second', rev: 1 })).toBe(true);
  });

  test('lost in mid-effect, which fails -> the failure is not noted', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        await endLease(rig.store, DOOR, 'first');
        throw new TransientError('jammed');
      },
    });
    expect(await drive(rig.deps(kind, { owner: 'first' }), DOOR)).toEqual({ kind: 'stale' });
    expect(await rig.row()).toMatchObject({ attempt: 0, problem: null, retryAt: null });
  });

  test('lost while an actor is being set aside -> stale, and it is not set aside', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        await endLease(rig.store, DOOR, 'first');
        return { kind: 'odd' };
      },
    });
    expect(await drive(rig.deps(kind, { owner: 'first' }), DOOR)).toEqual({ kind: 'stale' });
    expect(await rig.row()).toMatchObject({ quarantine: null });
  });

  test('lost between two steps -> stale, and no effect is begun', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    const calls: Called[] = [];
    const refused = gate();
    const store: Store = {
      ...rig.store,
      async keep() {
        refused.open();
        return false;
      },
      async save(hold, change) {
        const saved = await rig.store.save(hold, change);
        vi.advanceTimersByTime(10_000);
        await refused.opened;
        return saved;
      },
    };
    expect(await rig.drive(doorkeeper(willing(0, calls)), { store })).toEqual({ kind: 'stale' });
    expect(calls).toEqual([]);
  });

  test('lost to another driver just before the rest -> stale', async () => {
    await rig.enroll();
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        await endLease(rig.store, DOOR, 'me');
        await rig.store.take(DOOR, 'second', LEASE_MS);
        return rig.store.rest(hold, note);
      },
    };
    expect(await rig.drive(doorkeeper(willing(0)), { store })).toEqual({ kind: 'stale' });
    expect(await rig.store.holds({ id: DOOR, owner: 'second', rev: 0 })).toBe(true);
  });

  test('over just before the rest, but nobody wants it -> taken again, and the drive goes on', async () => {
    await rig.enroll();
    let rests = 0;
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        rests += 1;
        if (rests === 1) await endLease(rig.store, DOOR, 'me');
        return rig.store.rest(hold, note);
      },
    };
    expect(await rig.drive(doorkeeper(willing(0)), { store })).toMatchObject({
      kind: 'rests',
      state: 'closed',
    });
    expect(rests).toBe(2);
  });

  test('over just before the rest, and set aside by another driver meanwhile -> left as it is', async () => {
    await rig.enroll();
    const store: Store = {
      ...rig.store,
      async rest(hold, note) {
        await endLease(rig.store, DOOR, 'me');
        const second = { id: DOOR, owner: 'second', rev: hold.rev };
        await rig.store.take(DOOR, 'second', LEASE_MS);
        await rig.store.quarantine(second, 'by the second');
        await rig.store.free(DOOR, 'second');
        return rig.store.rest(hold, note);
      },
    };
    expect(await rig.drive(doorkeeper(willing(0)), { store })).toEqual({
      kind: 'quarantined',
      reason: 'by the second',
    });
  });

  test('cannot be confirmed any more -> given up before it ends', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    let asked = 0;
    const keep = async () => {
      asked += 1;
      throw new TransientError('the database is away');
    };
    const first = hanging({ store: { ...rig.store, keep } });
    const signal = await first.begun;
    vi.advanceTimersByTime(24_000);
    await until(() => asked === 2);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(signal.aborted).toBe(true);
    expect(await first.answer).toEqual({ kind: 'stale' });
    expect(signal.reason).toMatchObject({ message: expect.stringContaining('could not be confirmed') });
  });

  test('the store does not even answer -> given up before it ends', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    const first = hanging({ store: { ...rig.store, keep: () => new Promise(() => undefined) } });
    const signal = await first.begun;
    vi.advanceTimersByTime(25_000);
    expect(signal.aborted).toBe(true);
    expect(await first.answer).toEqual({ kind: 'stale' });
  });

  test('cannot be confirmed once, but then it can -> the effect goes on', async () => {
    ownLeaseTime();
    await rig.enroll();
    await rig.ring();
    let answered = 0;
    const store: Store = {
      ...rig.store,
      async keep(id, owner, leaseMs) {
        const kept = await rig.store.keep(id, owner, leaseMs);
        answered += 1;
        if (answered === 2) throw new TransientError('away');
        return kept;
      },
    };
    const first = hanging({ store });
    const signal = await first.begun;
    for (let tens = 1; tens <= 4; tens++) {
      vi.advanceTimersByTime(10_000);
      await until(() => answered === tens);
    }
    expect(signal.aborted).toBe(false);
    first.go();
    expect(await first.answer).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });

  test('the store fails when the lease is given back -> the answer stands all the same', async () => {
    await rig.enroll();
    const store: Store = { ...rig.store, free: () => Promise.reject(new TransientError('away')) };
    expect(await rig.drive(doorkeeper(willing(0)), { store })).toMatchObject({ kind: 'rests' });
  });
});

describe('the fence before a bold act', () => {
  test('lease and rev are held -> it lets the effect through', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { fence }) {
        await fence();
        return { kind: 'unlocked', openUntil: rig.clock.now() + 60_000 };
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });

  test('another driver has moved the actor -> it throws, the act is not done, and the answer is stale', async () => {
    await rig.enroll();
    await rig.ring();
    let acted = false;
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { fence }) {
        await endLease(rig.store, DOOR, 'first');
        const second = rig.deps(doorkeeper(willing(rig.clock.now() + 60_000)), { owner: 'second' });
        await drive(second, DOOR);
        await fence();
        acted = true;
        return { kind: 'odd' };
      },
    });
    expect(await drive(rig.deps(kind, { owner: 'first' }), DOOR)).toEqual({ kind: 'stale' });
    expect([acted, rig.log]).toEqual([false, []]);
    expect(await rig.row()).toMatchObject({ state: 'open.quiet', rev: 2, attempt: 0 });
  });

  test('the lease is over, although nobody took it -> it throws', async () => {
    await rig.enroll();
    await rig.ring();
    let refusal: unknown = null;
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { fence }) {
        await endLease(rig.store, DOOR, 'first');
        refusal = await fence().catch((error: unknown) => error);
        throw refusal;
      },
    });
    expect(await drive(rig.deps(kind, { owner: 'first' }), DOOR)).toEqual({ kind: 'stale' });
    expect(refusal).toBeInstanceOf(StaleDriverError);
  });
});
