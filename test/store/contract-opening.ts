import { expect, test } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import { openStore } from '../../src/store/open.js';
import { actor, execute, held, type MakeDatabase, transition, useStores } from './fixtures.js';

export function openingContract(makeDatabase: MakeDatabase): void {
  const open = useStores();

  test('an empty database opened five times at once -> one schema, all five work on it', async () => {
    const url = await makeDatabase();
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => open(url)));
    await Promise.all(stores.map((store, index) => store.enroll(`devin-${index}`, actor(), null, 1)));
    for (const store of stores) expect(await store.list({ limit: 10 })).toHaveLength(5);
  });

  test('closed and opened again -> everything is still there', async () => {
    const url = await makeDatabase();
    const before = await openStore(url);
    await before.save(await held(before, 'devin-a'), transition());
    await before.close();
    const after = await open(url);
    expect(await after.read('devin-a')).toMatchObject({ rev: 1, state: 'claiming' });
    expect(await after.journal({ after: 0, limit: 10 })).toHaveLength(1);
  });

  test('a schema newer than the program -> refused with both versions, nothing is touched', async () => {
    const url = await makeDatabase();
    const store = await openStore(url);
    await store.close();
    const table = store.dialect === 'sqlite' ? 'migrations' : 'outposts.migrations';
    await execute(url, `insert into ${table} (version, name) values (999, 'from the future')`);
    const refusal = await openStore(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RefusedError);
    expect(refusal).toMatchObject({
      setting: 'DATABASE_URL',
      message: expect.stringMatching(/999.*up to \d/),
    });
    await execute(url, `delete from ${table} where version = 999`);
    await open(url);
  });

  test('closing while calls are under way -> each is answered, and what was saved is there', async () => {
    const url = await makeDatabase();
    const store = await openStore(url);
    const ids = Array.from({ length: 30 }, (_, index) => `devin-${index}`);
    const writes = ids.map((id) => store.enroll(id, actor(), null, 1));
    const reads = ids.map((id) => store.read(id));
    await store.close();
    await Promise.all(reads);
    const outcomes = await Promise.allSettled(writes);
    const kept = ids.filter((_, index) => outcomes[index]?.status === 'fulfilled');
    const rows = await (await open(url)).list({ limit: 100 });
    expect(rows.map((row) => row.id).sort()).toEqual(kept.sort());
  });

  test('a store that is closed -> every call says so as a transient failure', async () => {
    const store = await openStore(await makeDatabase());
    await store.close();
    await expect(store.read('devin-a')).rejects.toThrow(TransientError);
    await expect(store.post('devin-a', '{}')).rejects.toThrow('post to devin-a: the store is closed');
    await expect(store.enroll('devin-a', actor(), null, 1)).rejects.toThrow(TransientError);
    await store.close();
  });

  test('a setting -> absent is null, the first to settle it wins, writing replaces it', async () => {
    const url = await makeDatabase();
    const stores = await Promise.all([open(url), open(url)]);
    const [store] = stores;
    expect(await store.setting('installation')).toBeNull();
    const proposals = Array.from({ length: 20 }, (_, index) => `id-${index}`);
    const standing = await Promise.all(
      proposals.map((value, index) => (stores[index % 2] ?? store).settleSetting('installation', value)),
    );
    expect(new Set(standing).size).toBe(1);
    expect(await store.setting('installation')).toBe(standing[0]);
    await store.writeSetting('installation', 'other');
    await store.writeSetting('remote offset', '-120');
    expect(await store.settleSetting('installation', 'late')).toBe('other');
    expect(await store.setting('remote offset')).toBe('-120');
  });
}
