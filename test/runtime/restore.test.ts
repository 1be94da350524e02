import { describe, expect, test } from 'vitest';
import type { SavedActor } from '../../src/ports/store.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import { timers } from '../../src/runtime/level.js';
import { begin, restore, toSaved } from '../../src/runtime/saved.js';
import { type Called, doorkeeper, willing } from './doorkeeper.js';
import { contextOf, DOOR, useRig } from './rig.js';

const rig = useRig();
const kind = doorkeeper(willing(2_000_000));
const context = {
  door: DOOR,
  visitors: 0,
  weather: null,
  openUntil: 2_000_000,
  patienceUntil: null,
  trouble: null,
};
const saved = (snapshot: unknown, changes: Partial<SavedActor> = {}): SavedActor => ({
  ...toSaved(kind, begin(kind, { door: DOOR })),
  snapshot: typeof snapshot === 'string' ? snapshot : JSON.stringify(snapshot),
  ...changes,
});
const enroll = (actor: SavedActor) => rig.store.enroll(DOOR, actor, null, rig.clock.now());

describe('a row that cannot be read', () => {
  const active = { status: 'active', value: 'closed', context };
  const cases: Record<string, SavedActor> = {
    'no JSON': saved('{"status":"active",'),
    'an empty text': saved(''),
    null: saved('null'),
    'a list': saved([active]),
    'another machine': saved(active, { machine: 'porter' }),
    'no status': saved({ value: 'closed', context }),
    'a status of error': saved({ ...active, status: 'error' }),
    'a status of stopped': saved({ ...active, status: 'stopped' }),
    'a status that its state does not have': saved({ ...active, status: 'done' }),
    'a final state that is active': saved({ ...active, value: 'demolished' }),
    'no state': saved({ status: 'active', context }),
    'an unknown state': saved({ ...active, value: 'ajar' }),
    'an unknown inner state': saved({ ...active, value: { open: 'ajar' } }),
    'a state inside one that has none': saved({ ...active, value: { closed: 'quiet' } }),
    'an outer state without its inner one': saved({ ...active, value: 'open' }),
    'an empty state': saved({ ...active, value: {} }),
    'two states at once': saved({ ...active, value: { open: 'quiet', closed: {} } }),
    'a state that every object has': saved({ ...active, value: 'constructor' }),
    'a state named __proto__': saved('{"status":"active","value":{"__proto__":"closed"},"context":{}}'),
    'a state that is a number': saved({ ...active, value: 7 }),
    'a history of nonsense': saved({ ...active, historyValue: { 'doorkeeper.open': ['nonsense'] } }),
    'children of a live actor': saved({ ...active, children: { unlock: {} } }),
    'no context': saved({ status: 'active', value: 'closed' }),
    'a context that lacks a field': saved({ ...active, context: { ...context, visitors: undefined } }),
    'a context with a field too many': saved({ ...active, context: { ...context, token: 'x' } }),
    'a context of wrong types': saved({ ...active, context: { ...context, visitors: 'many' } }),
    'an old version without a migration': saved(active, { version: 0 }),
  };
  test.each(Object.entries(cases))('%s -> set aside with a reason, its bytes unchanged', async (_, actor) => {
    await enroll(actor);
    await rig.ring();
    const before = await rig.row();
    const calls: Called[] = [];
    const answer = await rig.drive(doorkeeper(willing(0, calls)));
    expect(answer).toMatchObject({ kind: 'quarantined' });
    const { reason } = answer as { reason: string };
    expect(reason).toMatch(/^the saved state does not parse: ./);
    expect(reason.length).toBeLessThanOrEqual(500);
    expect(await rig.row()).toEqual({ ...before, quarantine: reason });
    expect(calls).toEqual([]);
    expect(rig.log).toEqual([`${DOOR}: set aside: ${reason}`]);
  });

  test('set aside already -> the same answer without another look, and the lease is free', async () => {
    await enroll(saved('nonsense'));
    const first = await rig.drive(kind);
    expect(await rig.drive(kind)).toEqual(first);
    expect(rig.log).toHaveLength(1);
    expect(await rig.store.take(DOOR, 'another', 1_000)).toMatchObject({ kind: 'taken' });
    expect(await rig.store.due('doorkeeper', rig.clock.now(), 10)).toEqual([]);
  });

  test('readmitted after its row was mended -> goes on where it was', async () => {
    await rig.enroll();
    await rig.ring();
    const mistaken = doorkeeper(willing(2_000_000), { effects: {} });
    await rig.drive(mistaken);
    await rig.store.readmit(DOOR);
    expect(await rig.drive(kind)).toMatchObject({ kind: 'rests', state: 'open.quiet' });
  });
});

describe('a row of another version', () => {
  const versioned = (version: number, migrations: ActorKind['migrations']) =>
    doorkeeper(willing(2_000_000), { version, migrations });
  const withContext = (changes: object): ActorKind['migrations'][number] => {
    return (old) => ({ ...old, context: { ...(old.context as object), ...changes } });
  };

  test('newer -> superseded; neither the row nor its news nor the lease is touched', async () => {
    await enroll(saved({ shape: 'of the future' }, { version: 9 }));
    await rig.post('{"type":"of the future"}');
    const before = await rig.row();
    expect(await rig.drive(kind)).toEqual({ kind: 'superseded', version: 9 });
    expect(await rig.row()).toEqual(before);
    expect(await rig.store.take(DOOR, 'another', 1_000)).toMatchObject({ kind: 'taken', news: [{}] });
  });

  test('moved to a newer version in the middle of a drive -> superseded', async () => {
    await rig.enroll();
    const store = {
      ...rig.store,
      async rest() {
        const taken = await rig.store.take(DOOR, 'me', 30_000);
        const rev = taken.kind === 'taken' ? taken.row.rev : 0;
        const next = saved({ shape: 'of the future' }, { version: 9 });
        await rig.store.save({ id: DOOR, owner: 'me', rev }, { next, journal: null, newsTaken: [], at: 1 });
        return false;
      },
    };
    expect(await rig.drive(kind, { store })).toEqual({ kind: 'superseded', version: 9 });
  });

  test('older -> migrated step by step in order, and saved in the new version by the next transition', async () => {
    await enroll(saved({ status: 'active', value: 'closed', context: { door: DOOR } }, { version: 1 }));
    const applied: number[] = [];
    const noting = (version: number, changes: object): ActorKind['migrations'][number] => {
      return (old) => {
        applied.push(version);
        return withContext(changes)(old);
      };
    };
    const third = versioned(3, {
      2: noting(2, { trouble: null, patienceUntil: null }),
      1: noting(1, { visitors: 5, weather: null, openUntil: null }),
      0: noting(0, { never: true }),
    });
    expect(await rig.drive(third)).toMatchObject({ kind: 'rests', state: 'closed' });
    expect(applied).toEqual([1, 2]);
    expect(await rig.row()).toMatchObject({ version: 1, rev: 0 });
    await rig.post({ type: 'visitor.came' });
    await rig.drive(third);
    expect(await rig.row()).toMatchObject({ version: 3 });
    expect(contextOf(await rig.row())).toMatchObject({ visitors: 6, trouble: null });
  });

  test('older, in a state that has another name now -> its migration moves it', async () => {
    await enroll(saved({ status: 'active', value: 'shut', context }, { version: 1 }));
    const renamed = versioned(2, { 1: (old) => ({ ...old, value: 'closed' }) });
    expect(await rig.drive(renamed)).toMatchObject({ kind: 'rests', state: 'closed' });
  });

  test('one migration is missing in between -> set aside, naming the version it is missing from', async () => {
    await enroll(saved({ status: 'active', value: 'closed', context }, { version: 1 }));
    const answer = await rig.drive(versioned(4, { 1: withContext({}), 3: withContext({}) }));
    expect(answer).toMatchObject({ kind: 'quarantined', reason: expect.stringMatching(/from version 2$/) });
    expect(await rig.row()).toMatchObject({ version: 1, rev: 0 });
  });

  test('a migration throws -> set aside with its reason', async () => {
    await enroll(saved({ status: 'active', value: 'closed', context }, { version: 1 }));
    const broken = versioned(2, {
      1: () => {
        throw new Error('cannot tell what it was');
      },
    });
    expect(await rig.drive(broken)).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining('cannot tell what it was'),
    });
  });
});

describe('the first state of an actor', () => {
  test('is saved as it comes back', () => {
    const row = { ...toSaved(kind, begin(kind, { door: DOOR })) };
    const restored = restore(kind, { ...row } as never);
    expect(restored).toMatchObject({ kind: 'restored', snapshot: { value: 'closed', status: 'active' } });
    expect(row).toMatchObject({ state: 'closed', version: 1, machine: 'doorkeeper', holdsSlot: false });
  });

  test('cannot be computed -> a bug that says whose', () => {
    const poisonous = {
      get door(): string {
        throw new Error('no such house');
      },
    };
    expect(() => begin(kind, poisonous)).toThrow("'doorkeeper' does not start: no such house");
  });
});

describe('what an actor waits for', () => {
  test('a nested state -> the timers of its ancestors, each once', async () => {
    await enroll(saved({ status: 'active', value: { open: 'greeting' }, context }));
    const restored = restore(kind, await rig.row());
    if (restored.kind !== 'restored') throw new Error(restored.kind);
    expect(timers(kind, restored.snapshot)).toEqual([
      { at: 2_000_000, event: { type: 'xstate.after.closeDue.doorkeeper.open' } },
    ]);
  });
});
