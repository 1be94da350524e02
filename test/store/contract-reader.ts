import { afterEach, describe, expect, test } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import type { StoreReader } from '../../src/ports/store.js';
import { openReader, openStore } from '../../src/store/open.js';
import { actor, execute, held, type MakeDatabase, transition, useStores } from './fixtures.js';

export function readerContract(makeDatabase: MakeDatabase): void {
  const open = useStores();
  const readers: StoreReader[] = [];
  afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())));
  const read = async (url: string) => {
    const reader = await openReader(url);
    readers.push(reader);
    return reader;
  };
  const refusal = (url: string) =>
    openReader(url).then(
      () => null,
      (error: unknown) => error,
    );

  test('beside a store that writes -> sees what is saved, as it is saved', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const reader = await read(url);
    expect(await reader.journalEnd()).toBe(0);
    await store.save(await held(store, 'devin-a'), transition());
    await store.enroll('devin-b', actor(), null, 99);
    expect(await reader.read('devin-a')).toMatchObject({ state: 'claiming', rev: 1 });
    const [entry] = await reader.journal({ after: 0, limit: 10 });
    expect(entry).toMatchObject({ actorId: 'devin-a', to: 'claiming' });
    expect(await reader.journal({ after: 0, limit: 10, actorId: 'devin-a' })).toEqual([entry]);
    expect(await reader.journalEnd()).toBe(entry?.seq);
    expect(await reader.counts('session')).toMatchObject({ states: { claiming: 1, queued: 1 } });
    expect(await reader.foremost('session', ['ended'], 1)).toMatchObject([{ id: 'devin-b' }]);
    expect(await reader.list({ limit: 10 })).toHaveLength(2);
  });

  test('lists by news -> the latest change first, then by id', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    for (const [id, at] of Object.entries({ b: 5, a: 5, old: 1, new: 9 }))
      await store.enroll(id, actor(), null, at);
    const rows = await (await read(url)).list({ limit: 3, order: 'news' });
    expect(rows.map(({ id }) => id)).toEqual(['new', 'a', 'b']);
  });

  describe('refuses, and changes nothing', () => {
    test('a database without our tables', async () => {
      const url = await makeDatabase();
      await execute(url, 'create table migrations (version integer)');
      for (let round = 0; round < 2; round++)
        expect(await refusal(url)).toMatchObject({
          setting: 'DATABASE_URL',
          message: expect.stringContaining('nothing of this program'),
        });
    });

    test.each([
      ['newer', "insert into @migrations (version, name) values (999, 'x')", /999.*newer version/],
      ['older', 'delete from @migrations where version > 1', /version 1 .*brings it up to date/],
    ])('a schema that is %s', async (_, statement, says) => {
      const url = await makeDatabase();
      const store = await openStore(url);
      await store.close();
      const at = store.dialect === 'sqlite' ? '' : 'outposts.';
      await execute(url, statement.replace('@', at));
      for (let round = 0; round < 2; round++) {
        const error = await refusal(url);
        expect(error).toBeInstanceOf(RefusedError);
        expect(error).toMatchObject({ setting: 'DATABASE_URL', message: expect.stringMatching(says) });
      }
    });
  });
}
