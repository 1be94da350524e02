import { beforeEach, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { held, LEASE_MS, type MakeDatabase, transition, useStores } from './fixtures.js';

const FAR = 9_000_000_000_000;

export function restContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    const url = await makeDatabase();
    store = await open(url);
    other = await open(url);
  });

  test('nothing new -> at rest until its time, lease free', async () => {
    const hold = await held(store, 'devin-a');
    expect(await store.rest(hold, { factsRev: 0, wakeAt: 5_000.4 })).toBe(true);
    expect(await store.read('devin-a')).toMatchObject({ wakeAt: 5_000, rev: 0 });
    expect(await store.due('session', 4_999, 10)).toEqual([]);
    expect(await store.due('session', 5_000, 10)).toEqual(['devin-a']);
    expect(await other.take('devin-a', 'you', LEASE_MS)).toMatchObject({ kind: 'taken' });
  });

  test('at rest without a time -> only news wakes it', async () => {
    await store.rest(await held(store, 'devin-a'), { factsRev: 0, wakeAt: null });
    expect(await store.due('session', FAR, 10)).toEqual([]);
    expect(await store.nextWakeAt('session', 0)).toBeNull();
    await other.post('devin-a', '{}');
    expect(await store.due('session', 0, 10)).toEqual(['devin-a']);
  });

  test('news arrived between take and rest -> false, the lease is kept, the actor stays awake', async () => {
    const hold = await held(store, 'devin-a');
    await other.post('devin-a', '{"n":1}');
    expect(await store.rest(hold, { factsRev: 0, wakeAt: FAR })).toBe(false);
    expect(await store.read('devin-a')).toMatchObject({ wakeAt: 0 });
    expect(await store.holds(hold)).toBe(true);
    expect(await store.take('devin-a', 'me', LEASE_MS)).toMatchObject({ news: [{ event: '{"n":1}' }] });
  });

  test('facts changed between take and rest -> false; told the new factsRev it rests', async () => {
    const hold = await held(store, 'devin-a');
    await other.observe(new Map([['devin-a', '{"status":"suspended"}']]));
    expect(await store.rest(hold, { factsRev: 0, wakeAt: FAR })).toBe(false);
    expect(await store.holds(hold)).toBe(true);
    expect(await store.rest(hold, { factsRev: 1, wakeAt: FAR })).toBe(true);
  });

  test('a slot was granted between take and rest -> false, as the row has moved', async () => {
    const hold = await held(store, 'devin-a');
    await other.grantSlots(['devin-a'], 1, '{}');
    expect(await store.rest(hold, { factsRev: 0, wakeAt: FAR })).toBe(false);
    expect(await store.read('devin-a')).toMatchObject({ wakeAt: 0, holdsSlot: true });
  });

  test('another owner or another rev -> false, nothing changes', async () => {
    const hold = await held(store, 'devin-a');
    expect(await other.rest({ ...hold, owner: 'you' }, { factsRev: 0, wakeAt: FAR })).toBe(false);
    expect(await other.rest({ ...hold, rev: 7 }, { factsRev: 0, wakeAt: FAR })).toBe(false);
    expect(await store.read('devin-a')).toMatchObject({ wakeAt: 0 });
    expect(await store.holds(hold)).toBe(true);
  });

  test('news and facts racing with rest, many times -> no wake-up is ever lost', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `devin-${index}`);
    const holds = await Promise.all(ids.map((id) => held(store, id)));
    await Promise.all(
      holds.flatMap((hold, index) => {
        const rest = () => store.rest(hold, { factsRev: 0, wakeAt: FAR });
        const tell = () =>
          index % 2 ? other.post(hold.id, '{}') : other.observe(new Map([[hold.id, '{"seen":true}']]));
        return index % 4 < 2 ? [rest(), tell()] : [tell(), rest()];
      }),
    );
    const rows = await store.list({ limit: 100 });
    expect(rows.filter((row) => row.wakeAt !== 0)).toEqual([]);
  });

  test('deferred -> attempt, time and problem noted, rev as it was, lease free', async () => {
    const hold = await held(store, 'devin-a');
    const note = { attempt: 2, retryAt: 700, wakeAt: 650, problem: 'DEVIN_OUTPOSTS_TOKEN was refused' };
    expect(await store.defer(hold, { ...note, factsRev: 0 })).toBe(true);
    expect(await other.read('devin-a')).toMatchObject({ ...note, rev: 0 });
    expect(await store.holds(hold)).toBe(false);
    expect(await store.due('session', 649, 10)).toEqual([]);
    expect(await store.due('session', 650, 10)).toEqual(['devin-a']);
    expect(await store.journal({ after: 0, limit: 10 })).toEqual([]);
  });

  test('news arrived while the effect failed -> deferred, and due at once', async () => {
    const hold = await held(store, 'devin-a');
    await other.post('devin-a', '{"type":"operator.stop"}');
    expect(
      await store.defer(hold, { attempt: 1, retryAt: FAR, wakeAt: FAR, problem: null, factsRev: 0 }),
    ).toBe(true);
    expect(await store.read('devin-a')).toMatchObject({ retryAt: FAR, wakeAt: 0 });
    expect(await store.due('session', 0, 10)).toEqual(['devin-a']);
  });

  test('facts changed while the effect failed -> deferred, and due at once', async () => {
    const hold = await held(store, 'devin-a');
    await other.observe(new Map([['devin-a', '{"seen":true}']]));
    expect(
      await store.defer(hold, { attempt: 1, retryAt: FAR, wakeAt: FAR, problem: null, factsRev: 0 }),
    ).toBe(true);
    expect(await store.due('session', 0, 10)).toEqual(['devin-a']);
  });

  test('deferring with another rev -> false, nothing changes', async () => {
    const hold = await held(store, 'devin-a');
    await store.save(hold, transition());
    expect(
      await store.defer(hold, { attempt: 1, retryAt: FAR, wakeAt: FAR, problem: null, factsRev: 0 }),
    ).toBe(false);
    expect(await store.read('devin-a')).toMatchObject({ attempt: 0, retryAt: null, wakeAt: 0 });
    expect(await store.holds({ ...hold, rev: 1 })).toBe(true);
  });
}
