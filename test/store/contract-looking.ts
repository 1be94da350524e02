import { beforeEach, expect, test } from 'vitest';
import type { JournalRow, Store } from '../../src/ports/store.js';
import { actor, held, type MakeDatabase, transition, useStores } from './fixtures.js';

export function lookingContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    const url = await makeDatabase();
    store = await open(url);
    other = await open(url);
  });
  const idsOf = async (filter: Partial<Parameters<Store['list']>[0]>) =>
    (await store.list({ limit: 100, ...filter })).map((row) => row.id);

  test('lists page by page -> every actor once, by id, capitals before small letters', async () => {
    for (const id of ['devin-b', 'devin-B', 'devin_a', 'devin-a', 'Devin-z'])
      await store.enroll(id, actor(), null, 1);
    const first = await idsOf({ limit: 2 });
    const second = await idsOf({ limit: 2, after: first[1] ?? '' });
    const third = await idsOf({ limit: 2, after: second[1] ?? '' });
    expect([...first, ...second, ...third]).toEqual(['Devin-z', 'devin-B', 'devin-a', 'devin-b', 'devin_a']);
  });

  test('lists by machine, state and part of the id -> only what matches, wildcards are letters', async () => {
    await store.enroll('devin-1%a', actor({ state: 'serving' }), null, 1);
    await store.enroll('devin-1_b', actor({ state: 'serving.monitoring' }), null, 1);
    await store.enroll('devin-12\\c', actor({ state: 'servingLong' }), null, 1);
    await store.enroll('link', actor({ state: 'serving', machine: 'connection' }), null, 1);
    expect(await idsOf({ state: 'serving', machine: 'session' })).toEqual(['devin-1%a', 'devin-1_b']);
    expect(await idsOf({ state: 'serving.monitoring' })).toEqual(['devin-1_b']);
    expect(await idsOf({ search: 'DEVIN-1' })).toHaveLength(3);
    expect(await idsOf({ search: '%' })).toEqual(['devin-1%a']);
    expect(await idsOf({ search: '1_' })).toEqual(['devin-1_b']);
    expect(await idsOf({ search: '\\' })).toEqual(['devin-12\\c']);
    expect(await idsOf({ search: "' or 1=1 --" })).toEqual([]);
  });

  test('foremost -> set aside first, then at work, then at rest, the latest change before older ones', async () => {
    await store.enroll('rests', actor({ state: 'released.resting' }), null, 9);
    await store.enroll('works-old', actor({ state: 'serving.monitoring' }), null, 1);
    await store.enroll('works-new', actor({ state: 'released.releasing' }), null, 5);
    await store.enroll('aside', actor({ state: 'released.resting' }), null, 1);
    await store.enroll('link', actor({ machine: 'connection' }), null, 9);
    await store.quarantine(await held(store, 'aside'), 'unreadable');
    const ids = async (limit: number) =>
      (await other.foremost('session', ['released.resting', 'ended'], limit)).map((row) => row.id);
    expect(await ids(10)).toEqual(['aside', 'works-new', 'works-old', 'rests']);
    expect(await ids(2)).toEqual(['aside', 'works-new']);
  });

  test('counts -> of that machine: actors per state, slots, who is set aside', async () => {
    await store.enroll('a', actor({ state: 'serving.idle', holdsSlot: true }), null, 1);
    await store.enroll('b', actor({ state: 'serving.idle', holdsSlot: true }), null, 1);
    await store.enroll('c', actor(), null, 1);
    await store.enroll('x', actor({ machine: 'connection', holdsSlot: true }), null, 1);
    await store.quarantine(await held(store, 'a'), 'does not parse');
    expect(await other.counts('session')).toEqual({
      states: { 'serving.idle': 2, queued: 1 },
      slots: 2,
      quarantined: 1,
    });
    expect(await other.counts('nothing')).toEqual({ states: {}, slots: 0, quarantined: 0 });
  });

  test('what is known -> of that machine, but for the one state, page by page, without snapshots', async () => {
    for (const id of ['c', 'a', 'b']) await store.enroll(id, actor({ state: 'serving.idle' }), '{"f":1}', 1);
    await store.enroll('d', actor({ state: 'ended' }), null, 1);
    await store.enroll('e', actor({ state: 'endedLate' }), null, 1);
    await store.enroll('x', actor({ machine: 'connection' }), null, 1);
    const filter = { machine: 'session', except: 'ended', limit: 2 };
    const first = await other.known(filter);
    expect(first).toEqual([
      { id: 'a', state: 'serving.idle', facts: '{"f":1}' },
      { id: 'b', state: 'serving.idle', facts: '{"f":1}' },
    ]);
    expect(await other.known({ ...filter, after: 'b' })).toEqual([
      { id: 'c', state: 'serving.idle', facts: '{"f":1}' },
      { id: 'e', state: 'endedLate', facts: null },
    ]);
    expect(await other.known({ ...filter, after: 'e' })).toEqual([]);
  });

  test('rows of newer versions -> how many, and which version reads them all', async () => {
    for (const [id, version] of Object.entries({ a: 1, b: 2, c: 4, d: 3 }))
      await store.enroll(id, actor({ version }), null, 1);
    await store.enroll('x', actor({ machine: 'connection', version: 9 }), null, 1);
    expect(await other.newerThan('session', 2)).toEqual({ rows: 2, needs: 4 });
    expect(await other.newerThan('session', 4)).toEqual({ rows: 0, needs: null });
  });

  test('the journal -> oldest first, from where the reader was, of one actor when asked', async () => {
    await saveTimes(store, 'a', 3);
    await saveTimes(store, 'b', 2);
    const all = await other.journal({ after: 0, limit: 10 });
    expect(all.map(({ actorId, rev }) => [actorId, rev])).toEqual([
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 1],
      ['b', 2],
    ]);
    expect(await other.journal({ after: all[1]?.seq ?? 0, limit: 2 })).toEqual(all.slice(2, 4));
    expect(await other.journal({ after: 0, limit: 10, actorId: 'b' })).toEqual(all.slice(3));
    expect(await other.journal({ after: all[4]?.seq ?? 0, limit: 10 })).toEqual([]);
  });

  test('a reader that follows the journal while many save -> sees every entry once, none is overtaken', async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `devin-${index}`);
    let saving = true;
    const saves = Promise.all(ids.map((id, index) => saveTimes(index % 2 ? store : other, id, 8))).finally(
      () => {
        saving = false;
      },
    );
    const seen: JournalRow[] = [];
    for (let last = false; !last; ) {
      last = !saving;
      seen.push(...(await store.journal({ after: seen.at(-1)?.seq ?? 0, limit: 1_000 })));
    }
    await saves;
    expect(seen).toHaveLength(24 * 8);
    expect(new Set(seen.map((row) => row.seq)).size).toBe(24 * 8);
  });

  test('pruned -> the newest of each actor stay, numbers are not used again', async () => {
    await saveTimes(store, 'a', 5);
    await saveTimes(store, 'b', 1);
    expect(await other.pruneJournal(2)).toBe(3);
    const left = await store.journal({ after: 0, limit: 10 });
    expect(left.map(({ actorId, rev }) => [actorId, rev])).toEqual([
      ['a', 4],
      ['a', 5],
      ['b', 1],
    ]);
    const newest = left.at(-1)?.seq ?? 0;
    expect(await store.pruneJournal(2)).toBe(0);
    expect(await store.pruneJournal(0)).toBe(3);
    await saveTimes(store, 'c', 1);
    const [next] = await store.journal({ after: 0, limit: 10 });
    expect(next?.seq).toBeGreaterThan(newest);
  });
}

async function saveTimes(store: Store, id: string, times: number): Promise<void> {
  const hold = await held(store, id);
  for (let rev = hold.rev; rev < hold.rev + times; rev += 1)
    if (!(await store.save({ ...hold, rev }, transition()))) throw new Error(`${id} was not saved at ${rev}`);
}
