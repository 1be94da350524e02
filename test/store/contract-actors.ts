import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JournalEntry, Store } from '../../src/ports/store.js';
import {
  actor,
  held,
  LEASE_MS,
  lapsed,
  type MakeDatabase,
  transition,
  until,
  useStores,
} from './fixtures.js';

export function actorContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    const url = await makeDatabase();
    store = await open(url);
    other = await open(url);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('enrolled -> the row reads back as given, at rev 0, due now', async () => {
    const given = actor({ machine: 'connection', version: 3, state: 'a.b', episode: 4, holdsSlot: true });
    expect(await store.enroll('devin-a', given, '{"phase":"pending"}', 1_790_000_000_123)).toBe(true);
    expect(await other.read('devin-a')).toEqual({
      ...given,
      id: 'devin-a',
      rev: 0,
      facts: '{"phase":"pending"}',
      factsRev: 0,
      attempt: 0,
      retryAt: null,
      wakeAt: 0,
      problem: null,
      quarantine: null,
      createdAt: 1_790_000_000_123,
      updatedAt: 1_790_000_000_123,
    });
  });

  test('enrolled a second time -> false, and the row stays as it was', async () => {
    await store.enroll('devin-a', actor(), null, 1);
    expect(await other.enroll('devin-a', actor({ state: 'other' }), '{}', 2)).toBe(false);
    expect(await store.read('devin-a')).toMatchObject({ state: 'queued', facts: null, createdAt: 1 });
  });

  test('a snapshot that is no JSON, with quotes and other scripts -> comes back letter by letter', async () => {
    const snapshot = `{"broken": 'é漢🦊\\ ${'x'.repeat(200_000)}`;
    await store.enroll('devin-a', actor({ snapshot }), null, 1);
    expect((await other.read('devin-a'))?.snapshot).toBe(snapshot);
  });

  test('no such actor -> reading is null, taking is absent, posting is false', async () => {
    expect(await store.read('devin-x')).toBeNull();
    expect(await store.take('devin-x', 'me', LEASE_MS)).toEqual({ kind: 'absent' });
    expect(await store.post('devin-x', '{}')).toBe(false);
  });

  test('taken -> row and news in order; another owner is told how long it lasts; the same one takes again', async () => {
    await store.enroll('devin-a', actor(), null, 1);
    await store.post('devin-a', '{"n":1}');
    await other.post('devin-a', '{"n":2}');
    const taken = await store.take('devin-a', 'me', LEASE_MS);
    expect(taken).toMatchObject({
      kind: 'taken',
      row: { id: 'devin-a', rev: 0 },
      news: [{ event: '{"n":1}' }, { event: '{"n":2}' }],
    });
    const busy = await other.take('devin-a', 'you', LEASE_MS);
    if (busy.kind !== 'busy') throw new Error(`it is ${busy.kind}`);
    expect(busy.leftMs).toBeGreaterThan(LEASE_MS - 60_000);
    expect(busy.leftMs).toBeLessThanOrEqual(LEASE_MS);
    expect(await other.take('devin-a', 'me', LEASE_MS)).toMatchObject({ kind: 'taken' });
  });

  test('many owners take one actor at once -> exactly one has it', async () => {
    await store.enroll('devin-a', actor(), null, 1);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).take('devin-a', `owner-${index}`, LEASE_MS),
      ),
    );
    expect(answers.filter((answer) => answer.kind === 'taken')).toHaveLength(1);
  });

  test('a lease that ran out -> another owner takes the actor; the first can do nothing more', async () => {
    const hold = await lapsed(store, 'devin-a');
    expect(await store.keep('devin-a', 'me', LEASE_MS)).toBe(false);
    expect(await store.save(hold, transition())).toBe(false);
    expect(await store.rest(hold, { factsRev: 0, wakeAt: null })).toBe(false);
    expect(await store.defer(hold, { attempt: 1, retryAt: 5, wakeAt: 5, problem: null, factsRev: 0 })).toBe(
      false,
    );
    expect(await store.quarantine(hold, 'unreadable')).toBe(false);
    expect(await other.take('devin-a', 'you', LEASE_MS)).toMatchObject({ kind: 'taken', row: { rev: 0 } });
    await store.free('devin-a', 'me');
    expect(await other.holds({ ...hold, owner: 'you' })).toBe(true);
  });

  test('the caller’s clock is a day ahead -> the lease still holds', async () => {
    const hold = await held(store, 'devin-a');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 });
    expect(await other.take('devin-a', 'you', LEASE_MS)).toMatchObject({ kind: 'busy' });
    expect(await store.holds(hold)).toBe(true);
    expect(await store.due('session', Date.now(), 10)).toEqual([]);
  });

  test('kept -> the lease lasts longer; nobody else can keep it', async () => {
    const hold = await held(store, 'devin-a');
    expect(await other.keep('devin-a', 'you', LEASE_MS)).toBe(false);
    expect(await store.keep('devin-a', 'me', 2 * LEASE_MS)).toBe(true);
    const busy = await other.take('devin-a', 'you', LEASE_MS);
    expect(busy.kind === 'busy' && busy.leftMs > LEASE_MS).toBe(true);
    expect(await store.holds(hold)).toBe(true);
    expect(await store.keep('devin-x', 'me', LEASE_MS)).toBe(false);
  });

  test('freed -> another owner takes it at once; freeing what is another’s changes nothing', async () => {
    const hold = await held(store, 'devin-a');
    await other.free('devin-a', 'you');
    expect(await store.holds(hold)).toBe(true);
    await store.free('devin-a', 'me');
    expect(await store.holds(hold)).toBe(false);
    expect(await other.take('devin-a', 'you', LEASE_MS)).toMatchObject({ kind: 'taken' });
  });

  test('saved -> next state at rev + 1, journalled, named news gone, failure forgotten, lease kept', async () => {
    const first = await held(store, 'devin-a');
    await store.defer(first, { attempt: 3, retryAt: 50, wakeAt: 50, problem: 'token refused', factsRev: 0 });
    await store.post('devin-a', '{"n":1}');
    const taken = await store.take('devin-a', 'me', LEASE_MS);
    await store.post('devin-a', '{"n":2}');
    if (taken.kind !== 'taken') throw new Error(taken.kind);
    const next = actor({
      version: 2,
      snapshot: '{"x":1}',
      state: 'serving.idle',
      episode: 2,
      holdsSlot: true,
    });
    const journal: JournalEntry = {
      at: 90,
      event: '{"n":1}',
      from: 'queued',
      to: 'serving.idle',
      context: '{}',
    };
    expect(
      await store.save(first, { next, journal, newsTaken: taken.news.map((news) => news.seq), at: 91 }),
    ).toBe(true);
    expect(await store.take('devin-a', 'me', LEASE_MS)).toMatchObject({
      kind: 'taken',
      row: {
        ...next,
        rev: 1,
        attempt: 0,
        retryAt: null,
        problem: null,
        wakeAt: 0,
        updatedAt: 91,
        createdAt: 1,
      },
      news: [{ event: '{"n":2}' }],
    });
    expect(await other.journal({ after: 0, limit: 10 })).toEqual([
      { ...journal, actorId: 'devin-a', rev: 1, seq: expect.any(Number) },
    ]);
    expect(await store.holds({ ...first, rev: 1 })).toBe(true);
    expect(await store.holds(first)).toBe(false);
  });

  test('saved while its effect stays in trouble -> the trouble is kept as told, and the row is due', async () => {
    const hold = await held(store, 'devin-a');
    const trouble = { attempt: 3, retryAt: 50_000.4, problem: '503 from the fleet API' };
    expect(await store.save(hold, transition({ trouble }))).toBe(true);
    expect(await other.read('devin-a')).toMatchObject({ ...trouble, retryAt: 50_000, wakeAt: 0 });
    expect(await store.save({ ...hold, rev: 1 }, transition())).toBe(true);
    expect(await other.read('devin-a')).toMatchObject({ attempt: 0, retryAt: null, problem: null });
  });

  test('an actor that slept, saved by a driver that then dies -> due again once the lease is over', async () => {
    const hold = await held(store, 'devin-a');
    await store.rest(hold, { factsRev: 0, wakeAt: 9_000_000_000_000 });
    const again = await held(store, 'devin-a');
    await store.save(again, transition());
    await store.take('devin-a', 'me', 1);
    await until(async () => (await other.due('session', 1, 10)).includes('devin-a'));
  });

  test('only news was taken note of -> rev + 1, nothing journalled', async () => {
    const hold = await held(store, 'devin-a');
    expect(await store.save(hold, transition({ journal: null }))).toBe(true);
    expect(await store.read('devin-a')).toMatchObject({ rev: 1 });
    expect(await store.journal({ after: 0, limit: 10 })).toEqual([]);
  });

  test('a save by one who is not the holder, or saw another rev -> false, and nothing changes', async () => {
    const hold = await held(store, 'devin-a');
    await store.post('devin-a', '{"n":1}');
    const taken = await store.take('devin-a', 'me', LEASE_MS);
    const newsTaken = taken.kind === 'taken' ? taken.news.map((news) => news.seq) : [];
    const before = await store.read('devin-a');
    for (const wrong of [
      { ...hold, owner: 'you' },
      { ...hold, rev: 1 },
      { ...hold, id: 'devin-x' },
    ])
      expect(await other.save(wrong, transition({ newsTaken }))).toBe(false);
    expect(await store.read('devin-a')).toEqual(before);
    expect(await store.journal({ after: 0, limit: 10 })).toEqual([]);
    expect(await store.take('devin-a', 'me', LEASE_MS)).toMatchObject({ news: [{ event: '{"n":1}' }] });
  });

  test('one hold saved many times at once -> exactly one save counts', async () => {
    const hold = await held(store, 'devin-a');
    const saved = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).save(hold, transition())),
    );
    expect(saved.filter(Boolean)).toHaveLength(1);
    expect(await store.read('devin-a')).toMatchObject({ rev: 1 });
    expect(await store.journal({ after: 0, limit: 10 })).toHaveLength(1);
  });

  test('a save that fails halfway -> it throws, and state, journal and news stay as they were', async () => {
    const hold = await held(store, 'devin-a');
    await store.post('devin-a', '{"n":1}');
    const broken = { ...transition().journal, context: null } as unknown as JournalEntry;
    await expect(store.save(hold, transition({ journal: broken }))).rejects.toThrow();
    expect(await store.take('devin-a', 'me', LEASE_MS)).toMatchObject({
      row: { rev: 0, state: 'queued' },
      news: [{ event: '{"n":1}' }],
    });
    expect(await store.save(hold, transition())).toBe(true);
  });

  test('quarantined -> set aside with its reason, all else as it was; readmitted -> due again', async () => {
    await store.enroll('devin-a', actor({ holdsSlot: true }), null, 1);
    const hold = await held(store, 'devin-a');
    expect(await store.quarantine(hold, 'snapshot does not parse')).toBe(true);
    await store.free('devin-a', 'me');
    expect(await other.read('devin-a')).toMatchObject({
      quarantine: 'snapshot does not parse',
      snapshot: actor().snapshot,
      rev: 0,
      holdsSlot: true,
    });
    expect(await store.post('devin-a', '{}')).toBe(true);
    expect(await store.due('session', Date.now(), 10)).toEqual([]);
    expect(await store.nextWakeAt('session', 0)).toBeNull();
    expect(await other.readmit('devin-a')).toBe(true);
    expect(await other.readmit('devin-a')).toBe(false);
    expect(await store.readmit('devin-x')).toBe(false);
    expect(await store.due('session', 0, 10)).toEqual(['devin-a']);
  });

  test('the slot of a quarantined actor is freed -> granted to another; readmitted -> it holds one again', async () => {
    await store.enroll('devin-a', actor({ state: 'serving', holdsSlot: true }), null, 1);
    await store.enroll('devin-b', actor(), null, 1);
    expect(await store.freeSlot('devin-a')).toBe(false);
    await store.quarantine(await held(store, 'devin-a'), 'does not parse');
    await store.free('devin-a', 'me');
    expect(await other.slotsSetAside('session')).toEqual(['devin-a']);
    expect(await other.slotsSetAside('connection')).toEqual([]);
    expect(await other.freeSlot('devin-a')).toBe(true);
    expect(await store.freeSlot('devin-a')).toBe(false);
    expect(await store.slotsSetAside('session')).toEqual([]);
    expect(await store.read('devin-a')).toMatchObject({ holdsSlot: false, rev: 0, state: 'serving' });
    expect(await store.counts('session')).toMatchObject({ slots: 0 });
    expect(await store.grantSlots(['devin-a', 'devin-b'], 1, '{}')).toEqual({
      granted: ['devin-b'],
      held: 1,
    });
    expect(await other.readmit('devin-a')).toBe(true);
    expect(await store.read('devin-a')).toMatchObject({ holdsSlot: true, quarantine: null });
    expect(await store.counts('session')).toMatchObject({ slots: 2 });
    expect(await store.freeSlot('devin-a')).toBe(false);
  });

  test('a quarantined actor that holds no slot -> nothing to free, and none when it is readmitted', async () => {
    await store.quarantine(await held(store, 'devin-a'), 'does not parse');
    expect(await store.freeSlot('devin-a')).toBe(false);
    expect(await store.freeSlot('devin-x')).toBe(false);
    await store.readmit('devin-a');
    expect(await store.read('devin-a')).toMatchObject({ holdsSlot: false });
  });

  test('all of one state removed -> those alone, with news and journal, and none that is leased', async () => {
    const row = { machine: 'm', version: 1, snapshot: '{}', state: 'ended', episode: 1, holdsSlot: false };
    for (const id of ['over-1', 'over-2', 'over-held']) {
      await store.enroll(id, row, null, 0);
      await store.post(id, '{"type":"x"}');
    }
    await store.enroll('going-on', { ...row, state: 'waiting' }, null, 0);
    await store.enroll('of-another', { ...row, machine: 'n' }, null, 0);
    await store.take('over-held', 'somebody', 60_000);
    await other.removeAll('m', 'ended');
    const left = await Promise.all(
      ['over-1', 'over-2', 'over-held', 'going-on', 'of-another'].map(
        async (id) => (await store.read(id)) !== null,
      ),
    );
    expect(left).toEqual([false, false, true, true, true]);
  });

  test('removed -> gone with news and journal; not while leased, not at another rev', async () => {
    const hold = await held(store, 'devin-a');
    await store.save(hold, transition());
    await store.post('devin-a', '{}');
    await store.enroll('devin-b', actor(), null, 1);
    await store.post('devin-b', '{"keep":true}');
    expect(await other.remove('devin-a', 1)).toBe(false);
    await store.free('devin-a', 'me');
    expect(await other.remove('devin-a', 0)).toBe(false);
    expect(await other.remove('devin-a', 1)).toBe(true);
    expect(await other.remove('devin-a', 1)).toBe(false);
    expect(await store.read('devin-a')).toBeNull();
    expect(await store.journal({ after: 0, limit: 10 })).toEqual([]);
    await store.enroll('devin-a', actor(), null, 2);
    expect(await store.take('devin-a', 'me', LEASE_MS)).toMatchObject({ row: { rev: 0 }, news: [] });
    expect(await store.take('devin-b', 'me', LEASE_MS)).toMatchObject({ news: [{ event: '{"keep":true}' }] });
  });
}
