import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open.js';
import { begun, EVIL, liveThrough, MINUTE, temporaryDirectory } from './filled.js';

let dir: Awaited<ReturnType<typeof temporaryDirectory>>;
let url: string;
beforeAll(async () => {
  dir = await temporaryDirectory();
  url = `file:${join(dir.path, 'outposts.db')}`;
  const store = await openStore(url);
  const now = Date.now();
  await liveThrough(store, { id: 'devin-waits', from: now - 90 * MINUTE, until: now, waits: true });
  await liveThrough(store, {
    id: 'devin-sleeps',
    from: now - 60 * MINUTE,
    until: now,
    sleepsAt: now - 55 * MINUTE,
  });
  await liveThrough(store, { id: 'devin-serves', from: now - 25 * MINUTE, until: now });
  await liveThrough(store, { id: EVIL, from: now - MINUTE / 4, until: now, refusedWith: `no ${EVIL}` });
  await store.close();
});
afterAll(() => dir.remove());

const call = (...args: string[]) => begun(dir.path, { DATABASE_URL: url }, args).ended;
const json = async (...args: string[]) => {
  const { code, stdout } = await call(...args, '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout);
};

describe('sessions', () => {
  it('a database with some -> a table, latest change first, and how many there are', async () => {
    const { code, stdout, stderr } = await call('sessions');
    expect([code, stderr]).toEqual([0, '']);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^Session +State +Since +Episode +Waits for +Sandbox$/);
    expect(lines[0]).toMatch(/^evil.* provisioning · opening +(\d min )?\d+ s +1 +! .*no evil/);
    expect(lines[1]).toMatch(
      /^devin-serves +serving · monitoring +(\d min )?\d+ s +1 +the next probe, in .* +devin-serves-[0-9a-f]{10}$/,
    );
    expect(lines[2]).toMatch(/^devin-sleeps +released · resting +5\d min .* the session to be resumed/);
    expect(lines[3]).toMatch(/^devin-waits +queued +1 h 30 min +1 +a free slot +-$/);
    expect(lines.slice(4)).toEqual([
      '',
      '4 sessions: 1 provisioning, 1 queued, 1 released, 1 serving · 2 slots held',
    ]);
  });

  it('chosen by state, by part of the id and by number -> only those, and word of the others', async () => {
    const [serving, searched, limited, none] = await Promise.all([
      json('sessions', '--state', 'serving'),
      json('sessions', '--search', 'SLEEP'),
      call('sessions', '--limit', '1'),
      call('sessions', '--search', 'nothing'),
    ]);
    expect(serving.sessions.map(({ id }: { id: string }) => id)).toEqual(['devin-serves']);
    expect(serving.sessions[0]).toMatchObject({ state: 'serving.monitoring', holdsSlot: true });
    expect(serving.sessions[0].waiting.clauses[0]).toBe('serving');
    expect(searched).toMatchObject({ hasMore: false, counts: { slots: 2, quarantined: 0 } });
    expect(searched.sessions.map(({ id }: { id: string }) => id)).toEqual(['devin-sleeps']);
    expect(limited.stdout).toContain('and more: --limit');
    expect(limited.stdout).not.toContain('devin-serves');
    expect(none.stdout).toContain('no session matches');
  });

  it('a state that is none -> 2, and which there are', async () => {
    const { code, stdout, stderr } = await call('sessions', '--state', 'served');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/no state served\. States are: queued, claiming, .*serving\.monitoring/);
  });
});

describe('session', () => {
  it('one that is served -> what it waits for in words, its facts, episodes and timeline', async () => {
    const { code, stdout } = await call('session', 'devin-serves');
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe('devin-serves');
    expect(lines[1]).toMatch(/^serving · monitoring for .*, episode 1$/);
    expect(lines[2]).toMatch(
      /^serving; next probe in .*; sandbox expires .*\d\d:\d\d, will be extended at .*\d\d:\d\d; claim has no deadline$/,
    );
    expect(stdout).toMatch(/^ {2}vm +sbx_1, since .*, expires /m);
    expect(stdout).toMatch(/^ {2}claim +as vercel-1-1-1, without a deadline$/m);
    expect(stdout).toMatch(/^ {2}1 .*claimed after 1\.0 s +connected after 3\.5 s +goes on$/m);
    expect(stdout).toMatch(/^ {2}\d\d:\d\d:\d\d +queued +1\.0 s +seen in the queue$/m);
    expect(stdout).toMatch(/^ {2}\d\d:\d\d:\d\d +claiming +0 ms +slot granted$/m);
    expect(stdout).toMatch(/ \d × serving · (probing|monitoring) → .* +\d+ min .*probe due/);
    expect(stdout).toMatch(/^ {2}\d\d:\d\d:\d\d +extending +0 ms +extend due$/m);
  });

  it('one that sleeps, as JSON -> the same facts as data, the journal entry by entry', async () => {
    const details = await json('session', 'devin-sleeps');
    expect(details.session).toMatchObject({ id: 'devin-sleeps', state: 'released.resting' });
    expect(details.waiting).toMatchObject({ waitsFor: 'the session to be resumed' });
    expect(details.sandbox).toMatchObject({ vm: null, snapshotKeptUntil: expect.any(Number) });
    expect(details).toMatchObject({ claim: null, remote: null });
    expect(details.episodes).toMatchObject([{ episode: 1, outcome: 'suspended', until: expect.any(Number) }]);
    const states = details.timeline.map(({ state }: { state: string }) => state);
    expect(states.slice(0, 3)).toEqual(['queued', 'claiming', 'provisioning.opening']);
    expect(states.at(-1)).toBe('released.resting');
    const { since, ms, event } = details.timeline[1];
    expect(event).toEqual({ type: 'slot.granted' });
    expect(since + ms).toBe(details.timeline[2].since);
  });

  it('an id that is none -> 1, with those it may have meant, or how to list them', async () => {
    const [near, part, far] = await Promise.all([
      call('session', 'devin-servse'),
      call('diagram', 'sleeps'),
      call('session', 'something else'),
    ]);
    expect([near.code, part.code, far.code]).toEqual([1, 1, 1]);
    expect(near.stderr).toBe('There is no session devin-servse. Did you mean devin-serves?\n');
    expect(part.stderr).toContain('Did you mean devin-sleeps?');
    expect(far.stderr).toContain('npm run outposts -- sessions');
  });
});

describe('diagram', () => {
  it('one that is served -> its box is marked, the way it took is told, the rest is drawn as not visited', async () => {
    const { code, stdout } = await call('diagram', 'devin-serves');
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/^║ ▶ serving +║ {2}\d times, \d+ min/m);
    expect(stdout).toMatch(/^║ +monitoring +║/m);
    expect(stdout).toMatch(/^│ claiming +│ {2}once, 0 ms$/m);
    expect(stdout).toMatch(/▼ little time left {2}\[once\]$/m);
    expect(stdout).toMatch(/^╎ parked +╎/m);
    expect(stdout).toMatch(/^Path\n {2}queued 1\.0 s → claiming 0 ms → provisioning 500 ms → /m);
  });

  it('as JSON -> every state of the lifecycle, and how often each way was gone', async () => {
    const { states, edges, path } = await json('diagram', 'devin-sleeps');
    const names = states.map(({ name }: { name: string }) => name);
    expect(names.slice(0, 7)).toEqual(
      'queued claiming provisioning serving extending snapshotting released'.split(' '),
    );
    expect(states.filter(({ current }: { current: string | null }) => current !== null)).toMatchObject([
      { name: 'released', current: 'resting', visits: 1 },
    ]);
    expect(edges).toContainEqual(
      expect.objectContaining({ from: 'queued', to: 'claiming', taken: 1, causes: ['slot granted'] }),
    );
    expect(edges).toContainEqual(expect.objectContaining({ from: 'released', to: 'parked', taken: 0 }));
    expect(path.map(({ state }: { state: string }) => state)).toEqual(
      'queued claiming provisioning serving snapshotting released'.split(' '),
    );
  });
});

describe('texts from outside', () => {
  it.each([
    [['sessions']],
    [['sessions', '--json']],
    [['session', EVIL]],
    [['session', EVIL, '--json']],
    [['diagram', EVIL]],
    [['diagram', EVIL, '--json']],
    [['session', `${EVIL}?`]],
    [['sessions', '--state', EVIL]],
  ])('%j -> nothing in it steers the terminal', async (args) => {
    const { stdout, stderr } = await call(...args);
    const said = `${stdout}${stderr}`;
    expect(said).toContain('owned');
    expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(said).not.toMatch(/^id/m);
  });
});

describe('the database', () => {
  const inside = async (path: string) => (await readdir(path)).sort();

  it('is read -> neither it nor its directory is changed', async () => {
    const before = await readFile(join(dir.path, 'outposts.db'));
    const files = await inside(dir.path);
    await Promise.all([call('sessions'), call('session', 'devin-serves')]);
    expect((await readFile(join(dir.path, 'outposts.db'))).equals(before)).toBe(true);
    expect(await inside(dir.path)).toEqual(files);
  });

  it('is named by --database -> that one is read, whatever DATABASE_URL says', async () => {
    const args = ['sessions', '--database', 'file:outposts.db'];
    const { code, stdout } = await begun(dir.path, { DATABASE_URL: 'file:other.db' }, args).ended;
    expect(code).toBe(0);
    expect(stdout).toContain('devin-serves');
  });

  it('is not there -> 1, with its path, the setting, and the one that is; nothing is made', async () => {
    const empty = await temporaryDirectory();
    const store = await openStore(`file:${join(empty.path, '.outposts/embedded.db')}`);
    await store.close();
    const files = await inside(join(empty.path, '.outposts'));
    const { code, stdout, stderr } = await begun(empty.path, {}, ['sessions']).ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(join(empty.path, '.outposts/local.db'));
    expect(stderr).toContain('--database file:.outposts/embedded.db');
    expect(stderr).toContain('(see DATABASE_URL)');
    expect(await inside(join(empty.path, '.outposts'))).toEqual(files);
    await empty.remove();
  });

  it('has an older or a newer schema, or is not ours -> 1, and what to do; it stays as it is', async () => {
    const there = await temporaryDirectory();
    const path = join(there.path, 'schema.db');
    const store = await openStore(`file:${path}`);
    await store.close();
    const look = () => begun(there.path, {}, ['watch', '--database', `file:${path}`]).ended;
    const change = async (statement: string) => {
      const client = createClient({ url: `file:${path}` });
      await client.execute(statement);
      client.close();
    };
    await change("insert into migrations (version, name) values (999, 'from the future')");
    const newer = await look();
    await change('delete from migrations where version > 1');
    const older = await look();
    const versions = createClient({ url: `file:${path}` });
    expect((await versions.execute('select version from migrations')).rows).toMatchObject([{ version: 1 }]);
    versions.close();
    await writeFile(path, '');
    const other = await look();
    expect([newer.code, older.code, other.code]).toEqual([1, 1, 1]);
    expect(newer.stderr).toMatch(/schema version 999.*newer version.*\(see --database\)/);
    expect(older.stderr).toMatch(/schema version 1 .*start this version of the orchestrator once/);
    expect(other.stderr).toMatch(/nothing of this program is in the database/);
    await there.remove();
  });

  it('is PostgreSQL, as an argument -> 2, and the address with its password is not repeated', async () => {
    const { code, stderr } = await call('sessions', '--database', 'postgres://me:hunter2@127.0.0.1/x');
    expect(code).toBe(2);
    expect(stderr).toContain('DATABASE_URL');
    expect(stderr).not.toContain('hunter2');
  });

  it('settings that are wrong -> 2, naming the variable', async () => {
    const env = { DATABASE_URL: url, SANDBOX_TIMEOUT_MS: 'long' };
    const { code, stderr } = await begun(dir.path, env, ['sessions']).ended;
    expect(code).toBe(2);
    expect(stderr).toContain('SANDBOX_TIMEOUT_MS');
  });
});
