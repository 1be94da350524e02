import { beforeEach, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { runChild } from './child.js';
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

export function dispatchContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  let url: string;
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    url = await makeDatabase();
    store = await open(url);
    other = await open(url);
  });
  const enroll = (...ids: string[]) => Promise.all(ids.map((id) => store.enroll(id, actor(), null, 1)));

  const newsOf = async (id: string) => {
    const taken = await store.take(id, 'reader', LEASE_MS);
    await store.free(id, 'reader');
    return taken.kind === 'taken' ? taken.news.map(({ event }) => event) : null;
  };

  test('posted once while the same text waits -> nothing is added, the actor wakes; other texts are added', async () => {
    await enroll('devin-a', 'devin-b');
    expect(await store.post('devin-x', '{"ring":1}', { once: true })).toBe(false);
    expect(await store.post('devin-a', '{"ring":1}', { once: true })).toBe(true);
    expect(await other.post('devin-a', '{"ring":1}', { once: true })).toBe(true);
    expect(await store.post('devin-a', '{"ring":2}', { once: true })).toBe(true);
    expect(await store.post('devin-b', '{"ring":1}', { once: true })).toBe(true);
    expect(await newsOf('devin-a')).toEqual(['{"ring":1}', '{"ring":2}']);
    expect(await newsOf('devin-b')).toEqual(['{"ring":1}']);
    const hold = await held(store, 'devin-a');
    await store.defer(hold, { attempt: 1, retryAt: 9_000, wakeAt: 9_000, problem: null, factsRev: 0 });
    await other.post('devin-a', '{"ring":1}', { once: true });
    expect(await store.due('session', 0, 10)).toContain('devin-a');
    await store.post('devin-a', '{"ring":1}');
    expect(await newsOf('devin-a')).toHaveLength(3);
  });

  test('posted once after the same text was consumed -> added again', async () => {
    const hold = await held(store, 'devin-a');
    await store.post('devin-a', '{}', { once: true });
    const taken = await store.take('devin-a', 'me', LEASE_MS);
    const newsTaken = taken.kind === 'taken' ? taken.news.map(({ seq }) => seq) : [];
    await store.save(hold, transition({ newsTaken }));
    await store.free('devin-a', 'me');
    expect(await newsOf('devin-a')).toEqual([]);
    await other.post('devin-a', '{}', { once: true });
    expect(await newsOf('devin-a')).toEqual(['{}']);
  });

  test('posted once by many at the same time -> one piece of news for each actor', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `devin-${index}`);
    await enroll(...ids);
    const answers = await Promise.all(
      [store, other, store, other].flatMap((one) => ids.map((id) => one.post(id, '{}', { once: true }))),
    );
    expect(answers).toEqual(Array(40).fill(true));
    for (const id of ids) expect(await newsOf(id)).toEqual(['{}']);
  });

  test('facts that differ -> written once, the actor wakes; the same again, or of strangers -> nothing', async () => {
    await enroll('devin-a', 'devin-b');
    await store.rest(await held(store, 'devin-a'), { factsRev: 0, wakeAt: null });
    await store.rest(await held(store, 'devin-b'), { factsRev: 0, wakeAt: null });
    const facts = new Map([
      ['devin-a', '{"status":"running"}'],
      ['devin-x', '{"status":"running"}'],
    ]);
    expect(await store.observe(facts)).toEqual(['devin-a']);
    expect(await other.observe(facts)).toEqual([]);
    expect(await store.read('devin-a')).toMatchObject({
      facts: '{"status":"running"}',
      factsRev: 1,
      wakeAt: 0,
    });
    expect(await store.read('devin-b')).toMatchObject({ facts: null, factsRev: 0, wakeAt: null });
    expect(await store.read('devin-x')).toBeNull();
    expect(await store.observe(new Map())).toEqual([]);
  });

  test('facts of a thousand and more sessions -> each is told its own', async () => {
    const ids = Array.from({ length: 1_201 }, (_, index) => `devin-${String(index).padStart(4, '0')}`);
    await enroll(...ids);
    const told = await store.observe(new Map(ids.map((id) => [id, `{"of":"${id}"}`])));
    expect([...told].sort()).toEqual(ids);
    expect(await store.read('devin-1200')).toMatchObject({ facts: '{"of":"devin-1200"}', factsRev: 1 });
  });

  test('two observers at once with the same facts -> factsRev grows by one', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `devin-${index}`);
    await enroll(...ids);
    const facts = new Map(ids.map((id) => [id, '{}']));
    const told = await Promise.all([store.observe(facts), other.observe(facts)]);
    expect(told.flat().sort()).toEqual([...ids].sort());
    for (const row of await store.list({ limit: 100 })) expect(row.factsRev).toBe(1);
  });

  test('slots -> the oldest candidates that wait get them, with the news, one rev on', async () => {
    await enroll('c', 'b', 'a');
    await store.enroll('d', actor({ state: 'queued.waiting' }), null, 1);
    await store.enroll('serving', actor({ state: 'serving', holdsSlot: true }), null, 1);
    await store.enroll('resting', actor({ state: 'released' }), null, 1);
    const granted = await store.grantSlots(
      ['x', 'serving', 'resting', 'd', 'c', 'c', 'b', 'a'],
      3,
      '{"granted":1}',
    );
    expect(granted).toEqual({ granted: ['d', 'c'], held: 3 });
    expect(await store.take('c', 'me', LEASE_MS)).toMatchObject({
      row: { holdsSlot: true, rev: 1, wakeAt: 0 },
      news: [{ event: '{"granted":1}' }],
    });
    expect(await store.take('b', 'me', LEASE_MS)).toMatchObject({
      row: { holdsSlot: false, rev: 0 },
      news: [],
    });
    expect(await store.grantSlots(['b', 'a'], 3, '{}')).toEqual({ granted: [], held: 3 });
    expect(await store.grantSlots([], 3, '{}')).toEqual({ granted: [], held: 3 });
    expect(await store.grantSlots(['b'], 1, '{}')).toEqual({ granted: [], held: 3 });
  });

  test('a quarantined actor -> keeps the slot it has, and gets none', async () => {
    await store.enroll('stuck', actor({ state: 'serving', holdsSlot: true }), null, 1);
    await enroll('waiting', 'unreadable');
    await store.quarantine(await held(store, 'stuck'), 'does not parse');
    await store.quarantine(await held(store, 'unreadable'), 'does not parse');
    expect(await store.grantSlots(['unreadable', 'waiting'], 2, '{}')).toEqual({
      granted: ['waiting'],
      held: 2,
    });
  });

  test('a slot given back by a save -> granted to the next', async () => {
    await enroll('a', 'b');
    await store.grantSlots(['a', 'b'], 1, '{}');
    const hold = await held(store, 'a');
    await store.save(hold, transition({ next: actor({ state: 'released', holdsSlot: false }) }));
    expect(await other.grantSlots(['b'], 1, '{}')).toEqual({ granted: ['b'], held: 1 });
  });

  test('many grants at once from two stores and two processes -> never more than the maximum, none twice', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `devin-${String(index).padStart(2, '0')}`);
    await enroll(...ids);
    const max = 13;
    const [children, here] = await Promise.all([
      Promise.all([1, 2].map(() => runChild('grant', url, String(max), ...ids))),
      Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).grantSlots(ids, max, '{}')),
      ),
    ]);
    for (const { held } of here) expect(held).toBeLessThanOrEqual(max);
    const granted = [
      ...here.flatMap((answer) => answer.granted),
      ...children.flat().flatMap((line) => line.split(' ')),
    ]
      .filter((id) => id !== '')
      .sort();
    expect(granted).toEqual(ids.slice(0, max));
    expect(await store.counts('session')).toMatchObject({ slots: max });
  });

  test('who is due -> longest overdue first, up to the limit, never who is leased or set aside', async () => {
    for (const [id, wakeAt] of [
      ['late', 100],
      ['later', 50],
      ['latest', 10],
      ['future', 1_001],
      ['asleep', null],
    ] as const)
      await store.rest(await held(store, id), { factsRev: 0, wakeAt });
    await held(store, 'leased');
    await lapsed(store, 'abandoned');
    await store.enroll('link', actor({ machine: 'connection' }), null, 1);
    expect(await other.due('connection', 1_000, 10)).toEqual(['link']);
    expect(await other.due('session', 1_000, 10)).toEqual(['abandoned', 'latest', 'later', 'late']);
    expect(await other.due('session', 1_000, 2)).toEqual(['abandoned', 'latest']);
    expect(await other.due('session', 1_001, 10)).toContain('future');
  });

  test('the next wake-up -> the earliest of all; none -> null', async () => {
    expect(await store.nextWakeAt('session', 0)).toBeNull();
    await store.rest(await held(store, 'b'), { factsRev: 0, wakeAt: 9_000 });
    await store.rest(await held(store, 'a'), { factsRev: 0, wakeAt: 1_790_000_000_000 });
    await store.rest(await held(store, 'c'), { factsRev: 0, wakeAt: null });
    await store.enroll('link', actor({ machine: 'connection' }), null, 1);
    await store.rest(await held(store, 'link'), { factsRev: 0, wakeAt: 500 });
    expect(await store.nextWakeAt('session', 0)).toBe(9_000);
    expect(await store.nextWakeAt('session', 9_000)).toBe(1_790_000_000_000);
    expect(await store.nextWakeAt('connection', 0)).toBe(500);
  });

  test('a lead -> one owner at a time, who may prolong it; another’s once it ran out', async () => {
    const led = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? store : other).lead('sweep', `p${index}`, LEASE_MS),
      ),
    );
    expect(led.filter(Boolean)).toHaveLength(1);
    const owner = `p${led.indexOf(true)}`;
    expect(await other.lead('sweep', 'late', LEASE_MS)).toBe(false);
    expect(await other.lead('prune', 'late', LEASE_MS)).toBe(true);
    expect(await store.lead('sweep', owner, 1)).toBe(true);
    await until(() => other.lead('sweep', 'late', LEASE_MS));
    expect(await store.lead('sweep', owner, LEASE_MS)).toBe(false);
  });

  test('a lead given back -> another’s at once; one that is not ours stays', async () => {
    expect(await store.lead('sweep', 'a', LEASE_MS)).toBe(true);
    await other.unlead('sweep', 'b');
    await other.unlead('nothing', 'a');
    expect(await other.lead('sweep', 'b', LEASE_MS)).toBe(false);
    await store.unlead('sweep', 'a');
    expect(await other.lead('sweep', 'b', LEASE_MS)).toBe(true);
    expect(await store.lead('sweep', 'a', LEASE_MS)).toBe(false);
  });
}
