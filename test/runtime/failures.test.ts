import { describe, expect, test, vi } from 'vitest';
import { ContractError, RefusedError, TransientError } from '../../src/errors.js';
import { type Called, type DoorEffects, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, useRig } from './rig.js';

const rig = useRig();

/** Unlocks as told: each try takes the next of the given failures, and succeeds when none is left. */
function reluctant(failures: unknown[], patience = 100) {
  const attempts: number[] = [];
  const effects: DoorEffects = {
    ...willing(0),
    async unlock(_, { attempt }) {
      attempts.push(attempt);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return { kind: 'unlocked', openUntil: rig.clock.now() + 86_400_000 };
    },
  };
  return { kind: doorkeeper(effects, { patience: () => patience }), attempts };
}
const many = (times: number, failure: unknown) => Array<unknown>(times).fill(failure);
const opening = async () => {
  await rig.enroll();
  await rig.ring();
};

describe('an effect that fails for now', () => {
  test('no event, but attempt, next try and problem on the row; the lease is free', async () => {
    await opening();
    const { kind } = reluctant([new TransientError('unlock door-1: 503 from the locksmith')]);
    const wakeAt = rig.clock.now() + 750;
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt, state: 'opening' });
    const problem = 'unlock door-1: 503 from the locksmith; try 1 of unlock failed';
    expect(await rig.row()).toMatchObject({
      state: 'opening',
      rev: 1,
      attempt: 1,
      retryAt: wakeAt,
      wakeAt,
      problem,
    });
    expect(rig.log).toEqual([`${DOOR}: ${problem}`]);
    expect(await rig.journal()).toHaveLength(1);
    expect(await rig.store.take(DOOR, 'another', 1_000)).toMatchObject({ kind: 'taken' });
  });

  test('driven before the next try is due -> waits; driven when it is -> tries again and forgets the problem', async () => {
    await opening();
    const { kind, attempts } = reluctant([new TransientError('busy')]);
    const first = await rig.drive(kind);
    rig.clock.advance(749);
    expect(await rig.drive(kind)).toEqual(first);
    expect(attempts).toEqual([1]);
    rig.clock.advance(1);
    expect(await rig.drive(kind, { owner: 'another' })).toMatchObject({ kind: 'rests', state: 'open.quiet' });
    expect(attempts).toEqual([1, 2]);
    expect(await rig.row()).toMatchObject({ attempt: 0, retryAt: null, problem: null });
  });

  test.each([
    ['least', 0, [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]],
    ['most', 1, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
  ])(
    'again and again -> pauses double up to half a minute, half of each is jitter: the %s',
    async (_, random, expected) => {
      await opening();
      const { kind } = reluctant(many(expected.length, new TransientError('busy')));
      const pauses: number[] = [];
      for (const _ of expected) {
        const { wakeAt } = (await rig.drive(kind, { random: () => random })) as { wakeAt: number };
        pauses.push(wakeAt - rig.clock.now());
        rig.clock.set(wakeAt);
      }
      expect(pauses).toEqual(expected);
    },
  );

  test('the thousandth time -> still half a minute', async () => {
    await opening();
    await rig.drive(reluctant([new TransientError('busy')]).kind);
    await rig.store.take(DOOR, 'me', 30_000);
    const note = { attempt: 5_000, retryAt: 1, wakeAt: 1, problem: null, factsRev: 0 };
    await rig.store.defer({ id: DOOR, owner: 'me', rev: 1 }, note);
    const { kind } = reluctant([new TransientError('busy')], Number.POSITIVE_INFINITY);
    const before = rig.clock.now();
    await rig.drive(kind, { random: () => 1 });
    expect(await rig.row()).toMatchObject({ attempt: 5_001, retryAt: before + 30_000 });
  });

  test('the other side says when to come back -> not before', async () => {
    await opening();
    const { kind } = reluctant([new TransientError('slow down', { retryAfterMs: 90_000 })]);
    expect(await rig.drive(kind)).toMatchObject({ wakeAt: rig.clock.now() + 90_000 });
  });

  test('the other side says sooner than the backoff -> the backoff', async () => {
    await opening();
    const { kind } = reluctant([new TransientError('slow down', { retryAfterMs: 10 })]);
    expect(await rig.drive(kind)).toMatchObject({ wakeAt: rig.clock.now() + 750 });
  });

  test.each([
    ['an answer that no schema knows', new ContractError('unlock: phase: invalid')],
    ['an error that nobody foresaw', new TypeError('x is not a function')],
    ['something that is no error', 'a text'],
  ])('%s -> tried again like any other', async (_, failure) => {
    await opening();
    const { kind, attempts } = reluctant([failure]);
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'opening' });
    expect(await rig.row()).toMatchObject({
      attempt: 1,
      problem: expect.stringContaining('try 1 of unlock'),
    });
    rig.clock.advance(1_000);
    await rig.drive(kind);
    expect(attempts).toEqual([1, 2]);
  });

  test('a very long message -> a problem of bearable length', async () => {
    await opening();
    await rig.drive(reluctant([new TransientError('x'.repeat(100_000))]).kind);
    expect((await rig.row()).problem?.length).toBeLessThan(400);
  });

  test('takes longer than one effect may -> aborted, and counted as a failure', async () => {
    await opening();
    const over = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { signal }) {
        over.abort(new DOMException('the time is over', 'TimeoutError'));
        signal.throwIfAborted();
        return { kind: 'odd' };
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'opening' });
    expect(timeout).toHaveBeenCalledWith(20_000);
    expect(await rig.row()).toMatchObject({
      attempt: 1,
      problem: expect.stringContaining('the time is over'),
    });
    timeout.mockRestore();
  });

  test('takes longer than one effect may and ignores its signal -> left behind, counted as a failure', async () => {
    await opening();
    const over = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    let late: (error: Error) => void = () => undefined;
    const kind = doorkeeper({
      ...willing(0),
      unlock: () => {
        over.abort(new DOMException('the time is over', 'TimeoutError'));
        return new Promise((_, reject) => {
          late = reject;
        });
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'opening' });
    // What it says later reaches nobody, and is no unhandled rejection.
    late(new Error('too late'));
    expect(await rig.row()).toMatchObject({
      attempt: 1,
      problem: expect.stringContaining('the time is over'),
    });
    timeout.mockRestore();
  });
});

test('an effect fails and then succeeds -> the next effect of the same drive starts with its first try', async () => {
  await opening();
  const { kind } = reluctant([new TransientError('busy')]);
  await rig.drive(kind);
  rig.clock.advance(1_000);
  const calls: Called[] = [];
  await rig.drive(doorkeeper(willing(rig.clock.now(), calls)));
  expect(calls.map(({ effect, call }) => [effect, call.attempt])).toEqual([
    ['unlock', 2],
    ['lock', 1],
  ]);
});

describe('an effect that fails too often', () => {
  test('its patience is spent -> the machine’s onError hears of it, exactly once, and the counter starts anew', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(9, new TransientError('jammed')), 3);
    for (let drives = 0; drives < 6; drives++) {
      await rig.drive(kind);
      rig.clock.advance(60_000);
    }
    expect(attempts).toEqual([1, 2, 3]);
    const row = await rig.row();
    expect(row).toMatchObject({ state: 'stuck', attempt: 0, retryAt: null, problem: null, wakeAt: null });
    expect(contextOf(row)).toMatchObject({ trouble: 'jammed' });
    const errors = (await rig.journal()).map(({ event }) => JSON.parse(event) as { type: string });
    expect(errors.slice(1)).toEqual([
      { type: 'xstate.error.actor.unlock', error: { message: 'jammed', at: expect.any(Number) } },
    ]);
    expect(rig.log.at(-1)).toBe(`${DOOR}: gave up on unlock after 3 tries: jammed`);
  });

  test('the driver dies before that is saved -> the effect is tried once more, and onError hears of it once', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(9, new TransientError('jammed')), 1);
    const store = { ...rig.store, save: () => Promise.reject(new Error('died')) };
    await rig.drive(kind, {}, { budgetMs: 0 });
    await expect(rig.drive(kind, { store })).rejects.toThrow('died');
    await rig.drive(kind);
    expect(attempts).toEqual([1, 1]);
    expect(await rig.row()).toMatchObject({ state: 'stuck' });
  });

  test('the state is entered again -> its effect has all its patience again', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(4, new TransientError('jammed')), 2);
    const untilStuck = async () => {
      await rig.drive(kind);
      rig.clock.advance(60_000);
      await rig.drive(kind);
    };
    await untilStuck();
    await rig.post({ type: 'door.mended' });
    await rig.ring();
    await untilStuck();
    expect(attempts).toEqual([1, 2, 1, 2]);
  });
});

describe('an effect that is refused', () => {
  const refused = new RefusedError('unlock door-1: 401 from the locksmith', { setting: 'LOCKSMITH_TOKEN' });

  test('tried again in a minute; the problem names the setting; the try is not counted', async () => {
    await opening();
    const { kind } = reluctant([refused]);
    const wakeAt = rig.clock.now() + 60_000;
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt, state: 'opening' });
    expect(await rig.row()).toMatchObject({
      attempt: 0,
      retryAt: wakeAt,
      problem: 'unlock door-1: 401 from the locksmith (LOCKSMITH_TOKEN)',
    });
  });

  test('refused for hours -> never given up; mended -> recovers by itself', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(200, refused), 3);
    for (let minute = 0; minute < 200; minute++) {
      await rig.drive(kind);
      rig.clock.advance(60_000);
    }
    expect(attempts).toEqual(Array(200).fill(1));
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'open.quiet' });
    expect(await rig.row()).toMatchObject({ problem: null, retryAt: null });
  });

  test('after more failures than a newer version allows -> still not given up', async () => {
    await opening();
    await rig.drive(reluctant([new TransientError('jammed')]).kind);
    rig.clock.advance(60_000);
    expect(await rig.drive(reluctant([refused], 1).kind)).toMatchObject({ kind: 'rests', state: 'opening' });
  });

  test('after failures that count -> they still count afterwards', async () => {
    await opening();
    const jammed = new TransientError('jammed');
    const { kind, attempts } = reluctant([jammed, refused, jammed, jammed], 3);
    for (let drives = 0; drives < 4; drives++) {
      await rig.drive(kind);
      rig.clock.advance(60_000);
    }
    expect(attempts).toEqual([1, 2, 2, 3]);
    expect(await rig.row()).toMatchObject({ state: 'stuck' });
  });
});

describe('an effect that is refused for what this one session is', () => {
  const refused = new RefusedError('open sandbox: 422', { setting: 'its network policy', scope: 'session' });

  test('tried again with backoff, shown with what to look at, and counted', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(2, refused));
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', wakeAt: rig.clock.now() + 750 });
    expect(await rig.row()).toMatchObject({
      attempt: 1,
      problem: 'open sandbox: 422 (its network policy); try 1 of unlock failed',
    });
    rig.clock.advance(60_000);
    await rig.drive(kind);
    expect(attempts).toEqual([1, 2]);
  });

  test('its patience is spent -> the machine’s onError hears of it', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(9, refused), 3);
    for (let drives = 0; drives < 5; drives++) {
      await rig.drive(kind);
      rig.clock.advance(60_000);
    }
    expect(attempts).toEqual([1, 2, 3]);
    expect(await rig.row()).toMatchObject({ state: 'stuck', problem: null });
    expect(contextOf(await rig.row())).toMatchObject({ trouble: 'open sandbox: 422' });
  });
});

describe('a chart that fails', () => {
  test.each([
    ['guard', 'closed'],
    ['assign', 'closed'],
    ['input', 'closed'],
    ['deadline', 'miscounting'],
  ] as const)(
    'its %s throws -> set aside with the reason, where it was; not tried again',
    async (by, state) => {
      await rig.enroll();
      await rig.post({ type: 'keeper.confused', by });
      const answer = await rig.drive(doorkeeper(willing(0)));
      expect(answer).toMatchObject({
        kind: 'quarantined',
        reason: expect.stringMatching(/^this program has a defect: (.|\n)*the keeper is confused/),
      });
      const row = await rig.row();
      expect(row).toMatchObject({ state, quarantine: (answer as { reason: string }).reason });
      expect(JSON.parse(row.snapshot)).toMatchObject({ status: 'active' });
      expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([]);
    },
  );

  test('its input throws for a row that was saved before -> set aside', async () => {
    const kind = doorkeeper(willing(0));
    await rig.enroll();
    const { snapshot, ...row } = await rig.row();
    const misreading = { ...(JSON.parse(snapshot) as object), value: 'misreading' };
    await rig.store.remove(DOOR, 0);
    await rig.store.enroll(DOOR, { ...row, snapshot: JSON.stringify(misreading) }, null, 1);
    expect(await rig.drive(kind)).toMatchObject({
      kind: 'quarantined',
      reason: 'this program has a defect: the keeper is confused',
    });
  });

  test('what tells whether it holds a slot throws -> set aside', async () => {
    await opening();
    const kind = doorkeeper(willing(0), {
      holdsSlot: () => {
        throw new Error('cannot count');
      },
    });
    expect(await rig.drive(kind)).toMatchObject({ kind: 'quarantined' });
    expect(await rig.row()).toMatchObject({ state: 'closed', rev: 0 });
  });

  test('the store fails while the actor is set aside -> the drive fails, and the next one sets it aside', async () => {
    await rig.enroll();
    await rig.post({ type: 'keeper.confused', by: 'guard' });
    const away = new TransientError('the database is away');
    const store = { ...rig.store, quarantine: () => Promise.reject(away) };
    await expect(rig.drive(doorkeeper(willing(0)), { store })).rejects.toBe(away);
    expect(await rig.drive(doorkeeper(willing(0)))).toMatchObject({ kind: 'quarantined' });
  });
});

describe('a store that fails', () => {
  const away = new TransientError('the database is away');
  test.each(['take', 'save', 'rest'] as const)(
    'in %s -> the drive fails with it, and the next one goes on',
    async (call) => {
      await opening();
      const store = { ...rig.store, [call]: () => Promise.reject(away) };
      const kind = doorkeeper(willing(rig.clock.now() + 60_000));
      await expect(rig.drive(kind, { store })).rejects.toBe(away);
      expect(await rig.drive(kind, { owner: 'another' })).toMatchObject({
        kind: 'rests',
        state: 'open.quiet',
      });
      expect(await rig.row()).toMatchObject({ quarantine: null });
    },
  );

  test('in defer -> the drive fails, and the failed try is not counted', async () => {
    await opening();
    const { kind, attempts } = reluctant(many(2, new TransientError('busy')));
    const store = { ...rig.store, defer: () => Promise.reject(away) };
    await expect(rig.drive(kind, { store })).rejects.toBe(away);
    await rig.drive(kind);
    expect(attempts).toEqual([1, 1]);
  });

  test('in the fence -> a failure of the effect like any other', async () => {
    await opening();
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { fence }) {
        await fence();
        return { kind: 'odd' };
      },
    });
    const store = { ...rig.store, holds: () => Promise.reject(away) };
    expect(await rig.drive(kind, { store })).toMatchObject({ kind: 'rests', state: 'opening' });
    expect(await rig.row()).toMatchObject({ attempt: 1, problem: expect.stringContaining('is away') });
  });
});
