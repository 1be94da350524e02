import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { World } from '../../src/emulator/world/index.js';
import { isIn, startChild, startOpenWorld } from './child.js';
import { FIND, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, temporaryDirectory, until, worksAt } from './support.js';

const database = async () => `file:${join(await temporaryDirectory(), 'outposts.db')}`;

/** A world where a busy machine does not make remotes late. */
const calmWorld = (speed: number) =>
  startOpenWorld({ speed, devin: { claimTtlMs: 3_600_000, giveUpMs: 3_600_000 } });

const aliveVms = (world: World) =>
  world.vercel.sandboxes().filter(({ status }) => !['stopped', 'failed', 'aborted'].includes(status));

test('two orchestrators on one database -> every session served once, never more vms than slots', async () => {
  const world = await calmWorld(5);
  const databaseUrl = await database();
  const env = { MAX_CONCURRENT: '2' };
  const both = await Promise.all([1, 2].map(() => startChild(world, databaseUrl, { env })));
  for (const child of both) await child.up();
  const ids = Array.from({ length: 6 }, (_, index) => `devin-${index}`);
  for (const id of ids) world.devin.startSession({ id, script: [{ run: WRITE }, { end: true }] });
  let most = 0;
  await until('all of them to end', () => {
    most = Math.max(most, aliveVms(world).length);
    return ids.every((id) => world.devin.session(id).status === 'terminated');
  });
  expect(most).toBe(2);
  expectServedWell(world, ids);
  for (const id of ids) {
    const { remotes, claims } = world.devin.session(id);
    expect(remotes.ever).toBe(1);
    expect(new Set(claims.map(({ acceptorId }) => acceptorId)).size).toBe(1);
  }
  await expectNothingLeft(world, ids);
  for (const child of both) child.signal('SIGINT');
  for (const child of both) expect(await child.ended()).toBe(0);
});

describe('Ctrl-C', () => {
  test('once -> ends with 0, the remote goes on working, and the next start goes on with it', async () => {
    const world = await calmWorld(5);
    const databaseUrl = await database();
    const { id } = world.devin.startSession({ script: [{ run: WRITE }] });
    const first = await startChild(world, databaseUrl);
    await world.devin.until(id, worksAt(1));
    await first.line('it served', isIn(id, 'serving.monitoring'));
    first.signal('SIGINT');
    expect(await first.ended()).toBe(0);
    expect(first.output()).toMatch(/1 sessions? keeps? running/);
    const late = world.devin.startSession({ script: [{ run: WRITE }, { end: true }] });
    expect(await world.devin.say(id, FIND)).toMatchObject({ code: 0 });

    await startChild(world, databaseUrl);
    await world.devin.until(late.id, ({ status }) => status === 'terminated');
    expect(world.devin.session(id).remotes).toMatchObject({ ever: 1, now: 1 });
    world.devin.end(id);
    await world.devin.until(id, ({ phase, status }) => status === 'terminated' && phase !== 'claimed');
    expectServedWell(world, [id, late.id]);
    await expectNothingLeft(world, [id, late.id]);
  });

  test('with --drain=snapshot -> every session is saved and released, then it ends with 0', async () => {
    const world = await calmWorld(5);
    const { id } = world.devin.startSession({ script: [{ run: WRITE }] });
    const child = await startChild(world, await database(), { args: ['--drain', 'snapshot'] });
    await child.line('it served', isIn(id, 'serving.monitoring'));
    const late = world.devin.startSession();
    await world.devin.until(id, worksAt(1));
    child.signal('SIGINT');
    expect(await child.ended()).toBe(0);
    await expectNothingLeft(world, [id]);
    expect(world.vercel.sandboxes().every(({ snapshots }) => snapshots.length === 1)).toBe(true);
    expectServedWell(world, [id, late.id]);
  });

  test('with --drain=finish -> waits for the session’s end, begins nothing new; a second one ends it with 130', async () => {
    const world = await calmWorld(5);
    const databaseUrl = await database();
    const args = ['--drain', 'finish'];
    const { id } = world.devin.startSession({ script: [{ run: WRITE }] });
    const first = await startChild(world, databaseUrl, { args });
    await first.line('it served', isIn(id, 'serving.monitoring'));
    first.signal('SIGINT');
    await first.line('the wait', ({ text }) => text?.includes('waiting for sessions') === true);
    const late = world.devin.startSession();
    expect(first.process.exitCode).toBeNull();
    world.devin.end(id);
    expect(await first.ended()).toBe(0);
    expect(world.devin.session(late.id).claims).toEqual([]);
    expectServedWell(world, [id]);

    const second = await startChild(world, databaseUrl, { args });
    await second.line('it served', isIn(late.id, 'serving.monitoring'));
    second.signal('SIGINT');
    await second.line('the wait', ({ text }) => text?.includes('waiting for sessions') === true);
    second.signal('SIGINT');
    expect(await second.ended()).toBe(130);
    expect(world.devin.session(late.id).remotes.now).toBe(1);
  });
});

describe('start --sessions 3 --exit-when-idle', () => {
  test('in a world of its own -> ends with 0 and the table of three served sessions', async () => {
    const child = await startChild(null, null, {
      args: ['--sessions', '3', '--exit-when-idle', '--speed', '40'],
    });
    expect(await child.ended(), child.output().slice(-2_000)).toBe(0);
    const { rows } = await child.line('the table', ({ type }) => type === 'summary');
    expect(rows).toHaveLength(3);
    for (const row of rows ?? []) expect(row).toMatchObject({ outcome: 'ended', checks: 'passed' });
  }, 120_000);

  test('in a world whose remote is corrupted -> ends with 1 and the reason', async () => {
    const world = await startOpenWorld({ speed: 30 });
    world.devin.remotes.publish({ broken: 'bytes' });
    const child = await startChild(world, await database(), {
      args: ['--sessions', '1', '--exit-when-idle'],
    });
    expect(await child.ended(), child.output().slice(-2_000)).toBe(1);
    const reason = child.lines.find(({ text }) => text?.startsWith('failed: '));
    expect(reason?.text).toMatch(/parked.*checksum/);
    expect(world.devin.sessions()[0]?.remotes.list).toEqual([]);
  }, 120_000);
});

test('secrets -> in no output, no database file, no argument of any process, no stored command', async () => {
  const tokens = { fleet: 'cog_plantedfleettoken0123456789', vercel: 'plantedverceltoken0123456789' };
  const world = await startOpenWorld({
    speed: 5,
    devin: { token: tokens.fleet, claimTtlMs: 3_600_000, giveUpMs: 3_600_000 },
    vercel: { token: tokens.vercel },
  });
  const directory = await temporaryDirectory();
  const child = await startChild(world, `file:${join(directory, 'outposts.db')}`);
  await child.up();
  world.devin.faults.add({ on: 'claim', kind: 'garbage' });
  world.vercel.faults.add({ operation: 'create', kind: { status: 403 } });
  const { id } = world.devin.startSession({
    script: [{ run: WRITE }, { run: 'tr "\\0" "\\n" </proc/$PPID/environ' }],
  });
  await world.devin.until(id, worksAt(2));
  await child.line('it served', isIn(id, 'serving.monitoring'));

  const environment = world.devin.session(id).outputs.at(-1)?.output ?? '';
  const connectToken = /^DEVIN_OUTPOST_CONNECT_TOKEN=(.+)$/m.exec(environment)?.[1] ?? '';
  expect(connectToken).toMatch(/^ct_/);
  expect(environment).not.toContain(tokens.fleet);
  expect(environment).not.toContain(tokens.vercel);

  const places = {
    output: child.output(),
    arguments: argumentsOfAll(),
    commands: JSON.stringify(world.vercel.sandboxes()),
    database: databaseFiles(directory),
  };
  child.signal('SIGINT');
  expect(await child.ended()).toBe(0);
  const after = { output: child.output(), database: databaseFiles(directory) };
  for (const [place, text] of Object.entries({ ...places, ...after })) {
    expect(text.length, place).toBeGreaterThan(0);
    // The world's token is the only way in from outside; every ct_ is a connect token.
    for (const secret of [tokens.fleet, tokens.vercel, connectToken, world.worldToken])
      expect(text.includes(secret), `${place} has a secret`).toBe(false);
    expect(/\bct_[\w-]{20}/.test(text), `${place} has a connect token`).toBe(false);
  }
});

const databaseFiles = (directory: string) =>
  readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), 'latin1'))
    .join('\n');

/** The arguments of every process on this machine. */
function argumentsOfAll(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}
