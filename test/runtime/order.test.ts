import { describe, expect, test } from 'vitest';
import { drive } from '../../src/runtime/drive.js';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, useRig } from './rig.js';

const rig = useRig();

describe('save first, act second', () => {
  test('an effect is performed -> the row already says the state that invokes it, journal included', async () => {
    await rig.enroll();
    await rig.ring();
    const seen: unknown[] = [];
    const watching = doorkeeper({
      ...willing(rig.clock.now() + 60_000),
      async unlock() {
        const row = await rig.row();
        const journal = await rig.journal();
        seen.push({ state: row.state, rev: row.rev, journal: journal.map(({ to, rev }) => ({ to, rev })) });
        return { kind: 'unlocked', openUntil: rig.clock.now() + 60_000 };
      },
    });
    await rig.drive(watching);
    expect(seen).toEqual([{ state: 'opening', rev: 1, journal: [{ to: 'opening', rev: 1 }] }]);
  });

  test('the effect answers -> its answer is the next event, and the actor rests until its next deadline', async () => {
    await rig.enroll();
    await rig.ring();
    const openUntil = rig.clock.now() + 60_000;
    const answer = await rig.drive(doorkeeper(willing(openUntil)));
    expect(answer).toEqual({ kind: 'rests', wakeAt: openUntil, state: 'open.quiet' });
    expect(await rig.row()).toMatchObject({
      state: 'open.quiet',
      rev: 2,
      wakeAt: openUntil,
      holdsSlot: true,
    });
    expect(await rig.journal()).toMatchObject([
      { from: 'closed', to: 'opening', rev: 1, event: '{"type":"bell.rung","patienceUntil":null}' },
      { from: 'opening', to: 'open.quiet', rev: 2 },
    ]);
  });

  test('the effect is called with its input, the first try, a key of this state, and now by the clock', async () => {
    await rig.enroll();
    await rig.ring();
    const calls: Called[] = [];
    await rig.drive(doorkeeper(willing(rig.clock.now() + 60_000, calls)));
    expect(calls).toMatchObject([{ effect: 'unlock', input: { door: DOOR } }]);
    const call = calls[0]?.call;
    expect(call?.attempt).toBe(1);
    expect(call?.key).toBe(`${DOOR}:1:unlock`);
    rig.clock.advance(5);
    expect(call?.now()).toBe(rig.clock.now());
    expect(call?.signal.aborted).toBe(false);
  });

  test('an input that is no function -> the effect gets it as it stands', async () => {
    await rig.enroll();
    await rig.ring();
    const calls: Called[] = [];
    const kind = doorkeeper(willing(rig.clock.now(), calls));
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt: null, state: 'closed' });
    expect(calls.map(({ effect, input }) => [effect, input])).toEqual([
      ['unlock', { door: DOOR }],
      ['lock', { gently: true }],
    ]);
  });

  test('each transition is told once, after it was saved, and says when a slot became free', async () => {
    await rig.enroll();
    await rig.ring();
    const savedBefore: boolean[] = [];
    const deps = rig.deps(doorkeeper(willing(rig.clock.now())), {
      onTransition(transition) {
        rig.transitions.push(transition);
        void rig.row().then(({ rev }) => savedBefore.push(rev >= transition.rev));
      },
    });
    await drive(deps, DOOR);
    expect(rig.transitions.map(({ from, to, rev, freedSlot }) => [from, to, rev, freedSlot])).toEqual([
      ['closed', 'opening', 1, false],
      ['opening', 'open.quiet', 2, false],
      ['open.quiet', 'closing', 3, false],
      ['closing', 'closed', 4, true],
    ]);
    expect(rig.transitions[0]).toMatchObject({
      id: DOOR,
      at: rig.clock.now(),
      event: { type: 'bell.rung' },
      context: { door: DOOR },
    });
    await rig.row();
    expect(savedBefore).toEqual([true, true, true, true]);
  });

  test('nobody asked for a log or for transitions -> the drive needs neither', async () => {
    await rig.enroll();
    await rig.ring();
    const { log: _, onTransition: __, ...bare } = rig.deps(doorkeeper(willing(rig.clock.now())));
    expect(await drive(bare, DOOR)).toMatchObject({ kind: 'rests', state: 'closed' });
  });

  test('there is no such actor -> absent', async () => {
    expect(await rig.drive(doorkeeper(willing(0)))).toEqual({ kind: 'absent' });
  });

  test('the machine invokes what nobody implements -> set aside, naming the effect', async () => {
    await rig.enroll();
    await rig.ring();
    const answer = await rig.drive(doorkeeper(willing(0), { effects: {} }));
    expect(answer).toMatchObject({ kind: 'quarantined', reason: expect.stringContaining("'unlock'") });
    expect(await rig.row()).toMatchObject({
      state: 'opening',
      quarantine: expect.stringContaining("'unlock'"),
    });
  });

  test('an effect fails for good in a state without onError -> set aside, and no error snapshot is saved', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper(
      { ...willing(rig.clock.now()), lock: () => Promise.reject(new Error('jammed')) },
      { patience: () => 1 },
    );
    const answer = await rig.drive(kind);
    expect(answer).toMatchObject({ kind: 'quarantined', reason: expect.stringContaining('jammed') });
    const row = await rig.row();
    expect(row.state).toBe('closing');
    expect(JSON.parse(row.snapshot)).toMatchObject({ status: 'active', value: 'closing' });
  });

  test('the machine ignores an answer of its effect -> set aside instead of asked again for ever', async () => {
    await rig.enroll();
    await rig.ring();
    let tries = 0;
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        tries += 1;
        return { kind: 'odd' };
      },
    });
    expect(await rig.drive(kind)).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining('ignores xstate.done.actor.unlock in opening'),
    });
    expect(tries).toBe(1);
    expect(contextOf(await rig.row())).toMatchObject({ openUntil: null });
  });

  test('done -> events and facts are ignored, news is consumed, and nothing wakes it again', async () => {
    await rig.enroll();
    await rig.post({ type: 'house.demolished' });
    const kind = doorkeeper(willing(0));
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt: null, state: 'demolished' });
    const { snapshot } = await rig.row();
    expect(JSON.parse(snapshot)).toMatchObject({ status: 'done' });
    await rig.ring();
    await rig.post({ type: 'clock.striking' });
    await rig.store.observe(new Map([[DOOR, '{"weather":"rain"}']]));
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt: null, state: 'demolished' });
    expect(await rig.row()).toMatchObject({ snapshot, wakeAt: null });
    expect(await rig.journal()).toHaveLength(1);
    expect(await rig.drive(kind)).toEqual({ kind: 'rests', wakeAt: null, state: 'demolished' });
  });
});

describe('bounds of one drive', () => {
  test('the budget is spent -> more, with the effect still pending and the lease free', async () => {
    await rig.enroll();
    await rig.ring();
    const calls: Called[] = [];
    const kind = doorkeeper(willing(rig.clock.now() + 60_000, calls));
    expect(await rig.drive(kind, {}, { budgetMs: 0 })).toEqual({ kind: 'more' });
    expect(calls).toEqual([]);
    expect(await rig.row()).toMatchObject({ state: 'opening', wakeAt: 0 });
    expect(await rig.drive(kind, { owner: 'another' })).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });

  test('the budget is spent, but no effect is pending -> rests as ever', async () => {
    await rig.enroll();
    expect(await rig.drive(doorkeeper(willing(0)), {}, { budgetMs: 0 })).toMatchObject({ kind: 'rests' });
  });

  test('stopped before it begins -> more, nothing done, and the lease is free', async () => {
    await rig.enroll();
    await rig.ring();
    const kind = doorkeeper(willing(0));
    expect(await rig.drive(kind, {}, { signal: AbortSignal.abort() })).toEqual({ kind: 'more' });
    expect(await rig.row()).toMatchObject({ state: 'closed', rev: 0 });
    expect(await rig.store.take(DOOR, 'another', 1_000)).toMatchObject({ kind: 'taken', news: [{}] });
  });

  test('stopped in mid-effect -> more, the failure is not counted, and the lease is free', async () => {
    await rig.enroll();
    await rig.ring();
    const stopping = new AbortController();
    const kind = doorkeeper({
      ...willing(0),
      async unlock(_, { signal }) {
        stopping.abort(new Error('the process stops'));
        signal.throwIfAborted();
        return { kind: 'odd' };
      },
    });
    expect(await rig.drive(kind, {}, { signal: stopping.signal })).toEqual({ kind: 'more' });
    expect(await rig.row()).toMatchObject({
      state: 'opening',
      attempt: 0,
      retryAt: null,
      problem: null,
      wakeAt: 0,
    });
    expect(await rig.store.take(DOOR, 'another', 1_000)).toMatchObject({ kind: 'taken' });
  });

  test('stopped in mid-effect, which ends well all the same -> its answer is saved before the drive ends', async () => {
    await rig.enroll();
    await rig.ring();
    const stopping = new AbortController();
    const kind = doorkeeper({
      ...willing(0),
      async unlock() {
        stopping.abort();
        return { kind: 'unlocked', openUntil: rig.clock.now() + 60_000 };
      },
    });
    expect(await rig.drive(kind, {}, { signal: stopping.signal })).toEqual({ kind: 'more' });
    expect(await rig.row()).toMatchObject({ state: 'open.quiet' });
  });

  test('told to settle in mid-effect -> the effect ends in peace and is saved, and no other is begun', async () => {
    await rig.enroll();
    await rig.ring();
    const settling = new AbortController();
    const calls: Called[] = [];
    const kind = doorkeeper({
      ...willing(rig.clock.now(), calls),
      async unlock(_, { signal }) {
        settling.abort();
        signal.throwIfAborted();
        return { kind: 'unlocked', openUntil: rig.clock.now() };
      },
    });
    expect(await rig.drive(kind, {}, { settle: settling.signal })).toEqual({ kind: 'more' });
    expect(await rig.row()).toMatchObject({ state: 'closing', wakeAt: 0 });
    expect(calls).toEqual([]);
  });

  test('an effect that ignores its signal -> is left behind when its time is over, and tried again later', async () => {
    await rig.enroll();
    await rig.ring();
    const stopping = new AbortController();
    const kind = doorkeeper({
      ...willing(0),
      unlock: () => {
        stopping.abort();
        return new Promise(() => undefined);
      },
    });
    expect(await rig.drive(kind, {}, { signal: stopping.signal })).toEqual({ kind: 'more' });
    expect(await rig.row()).toMatchObject({ state: 'opening', wakeAt: 0 });
  });
});
