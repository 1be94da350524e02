import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import type { Backend } from '../../src/store/backend.js';
import { openStore } from '../../src/store/open.js';
import { openSqlite } from '../../src/store/sqlite.js';
import { runChild, startChild } from './child.js';
import { storeContract } from './contract.js';
import { actor, held, transition, until, useStores } from './fixtures.js';

let directory = '';
let files = 0;
const makeDatabase = async () => {
  files += 1;
  return `file:${join(directory, `store-${files}.db`)}`;
};
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outposts-store-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the store on SQLite', () => storeContract(makeDatabase));

describe('the SQLite file', () => {
  const open = useStores();
  const backends: Backend[] = [];
  const openBackend = async () => {
    const backend = await openSqlite(await makeDatabase());
    backends.push(backend);
    return backend;
  };
  afterEach(() => Promise.all(backends.splice(0).map((backend) => backend.close())));

  test('directories that do not exist, blanks and percent signs in the name -> made and found again', async () => {
    const url = `file:${join(directory, 'not yet', '100%25 here', 'a b.db')}`;
    const store = await openStore(url);
    await store.enroll('devin-a', actor(), null, 1);
    await store.close();
    expect(await (await open(url)).read('devin-a')).toMatchObject({ id: 'devin-a' });
  });

  test('what is no file of ours -> refused, and the operator is told to look at DATABASE_URL', async () => {
    const text = join(directory, 'text.db');
    await writeFile(text, 'this is not a database, however long it may be '.repeat(100));
    for (const url of [
      `file:${text}`,
      `file:${directory}`,
      `file:${text}/below.db`,
      'file:',
      'file::memory:',
      'file:x.db?mode=memory',
      'file://elsewhere/x.db',
      'file:%zz',
    ]) {
      const refusal = await openStore(url).catch((error: unknown) => error);
      expect(refusal, url).toBeInstanceOf(RefusedError);
      expect(refusal, url).toMatchObject({ setting: 'DATABASE_URL' });
    }
  });

  test('every writing transaction, a failed one before it or not -> log, full sync and a busy timeout', async () => {
    const backend = await openBackend();
    const pragma = (name: string) =>
      backend.transact('look', async (db) => {
        const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db);
        return Object.values(rows[0] ?? {})[0];
      });
    for (let round = 0; round < 3; round += 1) {
      expect(await pragma('journal_mode')).toBe('wal');
      expect(await pragma('synchronous')).toBe(2);
      expect(await pragma('busy_timeout')).toBeGreaterThan(0);
      await expect(backend.transact('fail', (db) => sql`rollback`.execute(db))).rejects.toThrow();
    }
  });

  test('one of many writes of a group fails -> it alone is undone', async () => {
    const backend = await openBackend();
    const write = (key: string, broken: boolean) =>
      backend.transact(`write ${key}`, async (db) => {
        await db.insertInto('settings').values({ key, value: '1' }).execute();
        if (broken) throw new Error('broken on purpose');
      });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => write(`k${index}`, index % 3 === 0)),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    const rows = await backend.read('look', (db) => db.selectFrom('settings').select('key').execute());
    expect(rows.map(({ key }) => Number(key.slice(1)) % 3)).not.toContain(0);
    expect(rows).toHaveLength(20);
  });

  test('a read while a write has not committed -> sees the state before it', async () => {
    const backend = await openBackend();
    const keys = () => backend.read('look', (db) => db.selectFrom('settings').select('key').execute());
    const during = await backend.transact('write', async (db) => {
      await db.insertInto('settings').values({ key: 'k', value: 'v' }).execute();
      return keys();
    });
    expect(during).toEqual([]);
    expect(await keys()).toEqual([{ key: 'k' }]);
  });

  test('a reader -> cannot write', async () => {
    const backend = await openBackend();
    const write = backend.read('look', (db) =>
      db.insertInto('settings').values({ key: 'k', value: 'v' }).execute(),
    );
    await expect(write).rejects.toThrow();
  });

  test('somebody else holds the file for a moment -> the write waits and is saved', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const other = createClient({ url });
    const transaction = await other.transaction('write');
    let saved = false;
    const write = store.enroll('devin-a', actor(), null, 1).then((added) => {
      saved = added;
    });
    await until(async () => (await store.read('devin-a')) === null);
    expect(saved).toBe(false);
    await transaction.commit();
    await write;
    expect(saved).toBe(true);
    other.close();
  });

  test('somebody else keeps the file -> transient, naming operation and actor; reads go on', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const hold = await held(store, 'devin-a');
    const other = createClient({ url });
    const transaction = await other.transaction('write');
    const failure = store.save(hold, transition()).catch((error: unknown) => error);
    expect(await store.read('devin-a')).toMatchObject({ rev: 0 });
    expect(await failure).toBeInstanceOf(TransientError);
    expect(await failure).toMatchObject({
      message: expect.stringMatching(/^save devin-a: .*database is locked/),
    });
    await transaction.rollback();
    other.close();
    expect(await store.save(hold, transition())).toBe(true);
  });

  test('two processes save into one file -> every transition of both is there', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const here = async () => {
      const hold = await held(store, 'here');
      for (let rev = 0; rev < 60; rev += 1)
        expect(await store.save({ ...hold, rev }, transition())).toBe(true);
    };
    await Promise.all([here(), runChild('save', url, 'there', '60')]);
    expect(await store.journal({ after: 0, limit: 500, actorId: 'here' })).toHaveLength(60);
    expect(await store.journal({ after: 0, limit: 500, actorId: 'there' })).toHaveLength(60);
  });

  test('a process is killed while it saves -> all that it was told is saved is there, and whole', async () => {
    const url = await makeDatabase();
    const child = startChild('save', url, 'devin-a', '1000000');
    let told = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      told += chunk;
    });
    await until(async () => told.split('\n').length > 40);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    const lastTold = Number(told.slice(0, told.lastIndexOf('\n')).split('\n').at(-1));
    const store = await open(url);
    const rev = (await store.read('devin-a'))?.rev ?? 0;
    expect(rev).toBeGreaterThanOrEqual(lastTold);
    const entries = await store.journal({ after: 0, limit: 1_000_000, actorId: 'devin-a' });
    expect(entries.map((entry) => entry.rev)).toEqual(Array.from({ length: rev }, (_, index) => index + 1));
  });
});

test('a URL of neither kind -> refused with what it should be, without repeating it', async () => {
  for (const url of [
    '',
    'mysql://u:hunter2@h/d',
    'postgres://u:hunter2@[/d',
    '/path/only.db',
    'libsql://h',
  ]) {
    const refusal = await openStore(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RefusedError);
    expect(refusal).toMatchObject({
      setting: 'DATABASE_URL',
      message: expect.stringMatching(/file:.*postgres:\/\//),
    });
    expect(String(refusal)).not.toContain('hunter2');
  }
});
