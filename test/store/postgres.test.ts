import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import { openStore } from '../../src/store/open.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { runChildWithoutSqlite } from './child.js';
import { storeContract } from './contract.js';
import { actor, execute, held, transition, until, useStores } from './fixtures.js';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());
const makeDatabase = () => server.createDatabase();

describe('the store on PostgreSQL', () => storeContract(makeDatabase));

describe('the PostgreSQL server', () => {
  const open = useStores();
  const observers: pg.Client[] = [];
  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    observers.push(client);
    return client;
  };
  afterEach(() => Promise.all(observers.splice(0).map((client) => client.end().catch(() => {}))));

  /** Resolves when that many of the store's connections wait for a lock. */
  const waiting = (observer: pg.Client, count: number) =>
    until(async () => {
      const found = await observer.query(
        `select 1 from pg_stat_activity where application_name = 'outposts'
          and datname = current_database() and wait_event_type = 'Lock'`,
      );
      return found.rowCount === count;
    });
  const KILL = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'outposts' and datname = current_database()`;

  test('all connections are terminated while idle -> the next calls simply work', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const observer = await connect(url);
    await Promise.all([1, 2, 3, 4].map((n) => store.enroll(`devin-${n}`, actor(), null, 1)));
    await observer.query(KILL);
    await until(async () => {
      const left = await observer.query(KILL);
      return left.rowCount === 0;
    });
    await until(() =>
      store.read('devin-1').then(
        (row) => row !== null,
        (error: unknown) => {
          expect(error).toBeInstanceOf(TransientError);
          return false;
        },
      ),
    );
    expect(await store.save(await held(store, 'devin-1'), transition())).toBe(true);
  });

  test('the connection ends in the middle of a save -> transient, nothing half saved, then it works', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const hold = await held(store, 'devin-a');
    const observer = await connect(url);
    const blocker = await connect(url);
    await blocker.query('begin');
    await blocker.query(`select 1 from outposts.actors where id = 'devin-a' for update`);
    const failure = store.save(hold, transition()).catch((error: unknown) => error);
    await waiting(observer, 1);
    await observer.query(KILL);
    expect(await failure).toBeInstanceOf(TransientError);
    expect(await failure).toMatchObject({ message: expect.stringMatching(/^save devin-a: /) });
    await blocker.query('rollback');
    await until(() => store.save(hold, transition()).catch(() => false));
    expect(await store.read('devin-a')).toMatchObject({ rev: 1 });
    expect(await store.journal({ after: 0, limit: 10 })).toHaveLength(1);
  });

  test('a driver rests or gives up its try while news is not yet committed -> it waits, and the actor stays awake', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const observer = await connect(url);
    const blocker = await connect(url);
    const far = 9_000_000_000_000;
    const resting = await held(store, 'devin-a');
    const failing = await held(store, 'devin-b');
    await blocker.query('begin');
    await blocker.query('lock table outposts.news in share mode');
    const told = [store.post('devin-a', '{}'), store.post('devin-b', '{}')];
    await waiting(observer, 2);
    const rested = store.rest(resting, { factsRev: 0, wakeAt: far });
    const deferred = store.defer(failing, {
      attempt: 1,
      retryAt: far,
      wakeAt: far,
      problem: null,
      factsRev: 0,
    });
    await waiting(observer, 4);
    await blocker.query('commit');
    expect(await Promise.all(told)).toEqual([true, true]);
    expect(await rested).toBe(false);
    expect(await deferred).toBe(true);
    expect(await store.due('session', 0, 10)).toEqual(['devin-b']);
    expect(await store.read('devin-a')).toMatchObject({ wakeAt: 0 });
  });

  test('an entry has its number but is not committed, a later one is -> the reader waits and sees both', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const observer = await connect(url);
    const blocker = await connect(url);
    const slow = await held(store, 'slow');
    const quick = await held(store, 'quick');
    await store.post('slow', '{}');
    const taken = await store.take('slow', 'me', 600_000);
    const newsTaken = taken.kind === 'taken' ? taken.news.map((news) => news.seq) : [];
    await blocker.query('begin');
    await blocker.query('select 1 from outposts.news for update');
    const saving = store.save(slow, transition({ newsTaken }));
    await waiting(observer, 1);
    expect(await store.save(quick, transition())).toBe(true);
    const seen = store.journal({ after: 0, limit: 10 });
    await waiting(observer, 2);
    await blocker.query('commit');
    expect(await saving).toBe(true);
    expect((await seen).map((entry) => entry.actorId)).toEqual(['slow', 'quick']);
  });

  test('the server stops -> transient without the password; it comes back -> calls work again', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    await store.enroll('devin-a', actor(), null, 1);
    await server.stopServer();
    try {
      for (const call of [
        () => store.read('devin-a'),
        () => store.take('devin-a', 'me', 1_000),
        () => store.grantSlots(['devin-a'], 1, '{}'),
        () => store.journal({ after: 0, limit: 1 }),
        () => openStore(url),
      ]) {
        const failure = await call().catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(TransientError);
        expect(String(failure)).not.toContain(new URL(url).password);
      }
    } finally {
      await server.restart();
    }
    expect(await store.read('devin-a')).toMatchObject({ id: 'devin-a' });
    expect(await store.save(await held(store, 'devin-a'), transition())).toBe(true);
  });

  test('wrong password or no such database -> refused, the password is not in the message', async () => {
    const url = new URL(await makeDatabase());
    const elsewhere = new URL(url);
    elsewhere.pathname = '/nowhere';
    url.password = 'hunter2';
    for (const wrong of [url.href, elsewhere.href]) {
      const refusal = await openStore(wrong).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(RefusedError);
      expect(refusal).toMatchObject({ setting: 'DATABASE_URL' });
      expect(String(refusal)).not.toMatch(/hunter2|only-for-tests/);
    }
  });

  test('fifty calls at once with two connections -> all are answered, never more than two are open', async () => {
    const url = await makeDatabase();
    const store = await open(url, { maxConnections: 2 });
    const observer = await connect(url);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => store.enroll(`devin-${index}`, actor(), null, 1)),
    );
    const { rows } = await observer.query(
      `select count(*)::int as open from pg_stat_activity where application_name = 'outposts' and datname = current_database()`,
    );
    expect(rows[0].open).toBe(2);
    expect(await store.list({ limit: 100 })).toHaveLength(50);
  });

  test('a URL as providers of pooled connections write it -> opened', async () => {
    const query = 'pgbouncer=true&channel_binding=require&connect_timeout=15&sslmode=disable&schema=public';
    const store = await open(`${await makeDatabase()}?${query}`);
    expect(await store.setting('x')).toBeNull();
  });

  test('whoever looks after the pool -> is given it before its first use, with the time that connections may idle', async () => {
    const seen: [number, unknown][] = [];
    const onPool = (pool: pg.Pool) => seen.push([pool.totalCount, pool.options.idleTimeoutMillis]);
    await open(await makeDatabase(), { onPool, idleTimeoutMs: 1_234 });
    expect(seen).toEqual([[0, 1_234]]);
  });

  test('SQLite’s package is not there -> the store opens all the same; a file is refused', async () => {
    expect(await runChildWithoutSqlite('open', await makeDatabase())).toEqual(['postgres']);
    expect(await runChildWithoutSqlite('open', 'file:/tmp/not-made.db')).toEqual(['refused: DATABASE_URL']);
  });

  test('a database with somebody else’s tables of the same names -> left alone', async () => {
    const url = await makeDatabase();
    await execute(url, 'create table actors (name text)');
    const store = await open(url);
    await store.enroll('devin-a', actor(), null, 1);
    expect(await store.read('devin-a')).toMatchObject({ id: 'devin-a' });
  });

  test('other code in this process -> still reads bigints as PostgreSQL’s driver gives them', async () => {
    const url = await makeDatabase();
    await open(url);
    const { rows } = await (await connect(url)).query('select 1::bigint as n');
    expect(rows[0].n).toBe('1');
  });
});
