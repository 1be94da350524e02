import { beforeEach, expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { type MakeDatabase, useStores } from './fixtures.js';

export function secretsContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  let store: Store;
  let other: Store;
  beforeEach(async () => {
    const url = await makeDatabase();
    store = await open(url);
    other = await open(url);
  });

  test('a sealed secret -> read by any process, replaced, dropped', async () => {
    expect(await store.sealed('credentials', 0)).toBeNull();
    await store.keepSealed('credentials', 'one', null);
    expect(await other.sealed('credentials', 9e15)).toEqual({ sealed: 'one', expiresAt: null });
    await other.keepSealed('credentials', 'two', 2_000.7);
    expect(await store.sealed('credentials', 1_999)).toEqual({ sealed: 'two', expiresAt: 2_000 });
    await store.dropSealed({ name: 'credentials' });
    expect(await other.sealed('credentials', 0)).toBeNull();
  });

  test('resealed -> replaced only while it is what was read; never brought back', async () => {
    await store.keepSealed('credentials', 'one', 9_000);
    await other.reseal('credentials', 'another', 'two');
    expect(await store.sealed('credentials', 0)).toEqual({ sealed: 'one', expiresAt: 9_000 });
    await other.reseal('credentials', 'one', 'two');
    expect(await store.sealed('credentials', 0)).toEqual({ sealed: 'two', expiresAt: 9_000 });
    await store.dropSealed({ name: 'credentials' });
    await other.reseal('credentials', 'two', 'three');
    expect(await store.sealed('credentials', 0)).toBeNull();
  });

  test('kept with a setting -> both; with slots held, the same setting passes and another does not', async () => {
    expect(await store.keepSealedWith('credentials', 'one', { key: 'k', value: 'a' })).toBe(0);
    const actor = { machine: 'session', version: 1, snapshot: '{}', state: 'serving', episode: 1 };
    await store.enroll('devin-a', { ...actor, holdsSlot: true }, null, 0);
    expect(await other.keepSealedWith('credentials', 'two', { key: 'k', value: 'b' })).toBe(1);
    expect([await store.setting('k'), (await store.sealed('credentials', 0))?.sealed]).toEqual(['a', 'one']);
    expect(await other.keepSealedWith('credentials', 'three', { key: 'k', value: 'a' })).toBe(0);
    expect((await store.sealed('credentials', 0))?.sealed).toBe('three');
  });

  test('expired -> not there, and gone after housekeeping', async () => {
    await store.keepSealed('a', 'one', 1_000);
    await store.keepSealed('b', 'two', null);
    expect(await store.sealed('a', 1_000)).toBeNull();
    expect(await store.sealed('a', 999)).not.toBeNull();
    await store.dropExpiredSealed(1_000);
    expect(await store.sealed('a', 0)).toBeNull();
    expect(await store.sealed('b', 0)).not.toBeNull();
  });

  test('many keep the same name once, at the same time -> one of them did', async () => {
    const tries = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? store : other).keepSealedOnce('code', `value-${index}`, 1_000, 0),
    );
    const kept = await Promise.all(tries);
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await store.sealed('code', 0)).toMatchObject({ sealed: `value-${kept.indexOf(true)}` });
  });

  test('kept once, and expired -> may be kept again; without an expiry never', async () => {
    await store.keepSealedOnce('code', 'one', 1_000, 0);
    expect(await other.keepSealedOnce('code', 'two', 2_000, 999)).toBe(false);
    expect(await other.keepSealedOnce('code', 'two', 2_000, 1_000)).toBe(true);
    await store.keepSealed('code', 'three', null);
    expect(await store.keepSealedOnce('code', 'four', 9_000, 8_000)).toBe(false);
  });

  test('dropped by prefix -> those below it, and no other, whatever is in their names', async () => {
    for (const name of ['a/1', 'a/%', 'a/_x', 'a', 'b/1', 'A/1', 'a0'])
      await store.keepSealed(name, 'x', null);
    await other.dropSealed({ prefix: 'a/' });
    const left = [];
    for (const name of ['a/1', 'a/%', 'a/_x', 'a', 'b/1', 'A/1', 'a0'])
      if ((await store.sealed(name, 0)) !== null) left.push(name);
    expect(left).toEqual(['a', 'b/1', 'A/1', 'a0']);
  });
}
