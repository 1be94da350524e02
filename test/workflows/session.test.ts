import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@libsql/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { getRun } from 'workflow/api';
import { takeTurn } from '../../src/workflows/turn.js';
import { FIND, WRITE } from '../e2e/stage.js';
import { CRON_SECRET, type Engine, startEngine, until } from './engine.js';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

let passes: { end(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(passes.map((pass) => pass.end()));
  passes = [];
});
const keepPassing = () => passes.push(engine.passing());

const isOver = (id: string) => async () => (await engine.stateOf(id)) === 'ended';
const serves = (id: string) => async () => (await engine.stateOf(id)) === 'serving.monitoring';
const count = (events: readonly string[], type: string) => events.filter((event) => event === type).length;

const sandboxOf = async (id: string): Promise<string> =>
  JSON.parse((await engine.row(id)).snapshot).context.sandboxName;

function expectOneRemote(id: string): void {
  const { remotes, claims } = engine.devin.session(id);
  expect(remotes).toMatchObject({ ever: 1, maxAtOnce: 1 });
  expect(new Set(claims.map(({ acceptorId }) => acceptorId)).size).toBe(1);
}

test('a session from its row to its end -> one run, few events, and no secret in any of them', async () => {
  keepPassing();
  const { id } = engine.devin.startSession({ script: [{ run: WRITE }, { end: true }] });
  await until('its end', isOver(id));
  expectOneRemote(id);
  const [runId, ...others] = await engine.runsOf(id);
  expect(others).toEqual([]);
  await until('the end of its run', async () => (await engine.holderOf(id)) === null);
  expect((await engine.eventsOf(runId ?? '')).length).toBeLessThan(40);
  const log = await engine.dump();
  expect(log).toContain(id);
  expect(engine.connectTokens.size).toBeGreaterThan(0);
  const secrets = [...engine.connectTokens, CRON_SECRET, engine.devin.token, engine.vercel.token];
  for (const secret of secrets) expect(log).not.toContain(secret);
});

test('20 runs started at once -> one drives, the others end; their rings cost it no wake-up each', async () => {
  const id = await engine.claimed({ script: [{ run: WRITE }, { end: true }] });
  const started = await Promise.all(Array.from({ length: 20 }, () => engine.startRun(id)));
  const holder = await until('a holder', () => engine.holderOf(id));
  const ends = await Promise.all(started.filter((runId) => runId !== holder).map(engine.endOf));
  expect(ends).toEqual(ends.map(() => ({ kind: 'deduplicated', holder })));
  keepPassing();
  await until('its end', isOver(id));
  expectOneRemote(id);
  await until('the end of its run', async () => (await engine.holderOf(id)) === null);
  const events = await engine.eventsOf(holder);
  expect(count(events, 'hook_received')).toBeGreaterThanOrEqual(19);
  expect(count(events, 'step_completed')).toBeLessThan(12);
});

test('the run is cancelled while the session is served -> a pass starts another, and the remote stays the same', async () => {
  keepPassing();
  const { id } = engine.devin.startSession({ script: [{ run: WRITE }] });
  await until('it serves', serves(id));
  const holder = await until('a holder', () => engine.holderOf(id));
  await getRun(holder).cancel();
  // Something is due at once; else it would be the next probe.
  await engine.store.post(id, JSON.stringify({ type: 'doorbell.rung' }));
  const next = await until('another', () => engine.holderOf(id));
  expect(next).not.toBe(holder);
  engine.devin.end(id);
  await until('its end', isOver(id));
  expectOneRemote(id);
});

test('after so many wake-ups -> a fresh run goes on where this one was, and is the only one', async () => {
  const id = await engine.claimed({ script: [{ run: WRITE }] });
  const first = await engine.startRun(id, 2);
  keepPassing();
  await until('it serves', serves(id));
  await until('it hands over', async () => {
    await engine.runs.ring(id);
    await pause(500);
    return (await engine.holderOf(id)) !== first;
  });
  expect(await engine.endOf(first)).toEqual({ kind: 'handedOver', wakeUps: 2 });
  const next = await until('the next', () => engine.holderOf(id));
  expect(next).not.toBe(first);
  engine.devin.end(id);
  await until('its end', isOver(id));
  expectOneRemote(id);
});

test('rings that come just when wake-ups end -> each is heard, and no replay disagrees', async () => {
  const id = 'devin-much-rung';
  const far = engine.base.clock.now() + 3_600_000;
  const vm = { vmId: 'sbx_1', startedAt: far - 1, expiresAt: far, limited: false, policyDigest: 'p1' };
  await engine.enroll(id, 'snapshotting.waiting', { context: { lookAt: far, extendAgainAt: far, vm } });
  const { events } = engine.world;
  const create = events.create.bind(events);
  let left = 20;
  let runId = '';
  const ring = () => {
    left -= 1;
    return engine.runs.ring(id);
  };
  events.create = (async (...args: Parameters<typeof create>) => {
    const ends = args[0] === runId && args[1].eventType === 'step_completed' && left > 0;
    if (ends && left % 3 === 0) await ring();
    const created = await create(...args);
    if (ends && left % 3 !== 0) void pause(left).then(ring);
    return created;
  }) as typeof create;
  try {
    runId = await engine.startRun(id);
    await until('the last ring', () => left <= 0);
    const seen = (await engine.eventsOf(runId)).length;
    await engine.runs.ring(id);
    await until('it is heard', async () => (await engine.eventsOf(runId)).length >= seen + 3);
  } finally {
    events.create = create;
  }
  expect(await getRun(runId).status).toBe('running');
  expect(await engine.holderOf(id)).toBe(runId);
  expect(await engine.runsOf(id)).toEqual([runId]);
  await getRun(runId).cancel();
});

test('the store is away during a wake-up -> the run sleeps, and goes on from there when it is rung', async () => {
  const id = await engine.claimed({ script: [{ run: WRITE }, { end: true }] });
  const client = createClient({ url: `file:${engine.databaseFile}` });
  const lock = await client.transaction('write');
  const runId = await engine.startRun(id);
  await until('it sleeps', async () => (await engine.eventsOf(runId)).includes('wait_created'));
  expect(engine.devin.session(id).remotes.ever).toBe(0);
  await lock.rollback();
  client.close();
  expect(await engine.runs.ring(id)).toBe('rung');
  keepPassing();
  await until('its end', isOver(id));
  expectOneRemote(id);
  expect(await engine.runsOf(id)).toEqual([runId]);
});

test('two wake-ups of one session at once, and the same again -> one vm, one remote, nothing done twice', async () => {
  const id = await engine.claimed({ script: [{ run: WRITE }] });
  const turns = await Promise.all([takeTurn(id), takeTurn(id)]);
  expect(turns.map(({ kind }) => kind)).toEqual(['sleeps', 'sleeps']);
  keepPassing();
  await until('it serves', serves(id));
  const { launches } = JSON.parse((await engine.row(id)).snapshot).context as { launches: number };
  await Promise.all([takeTurn(id), takeTurn(id)]);
  expect(JSON.parse((await engine.row(id)).snapshot).context).toMatchObject({ launches });
  expectOneRemote(id);
  expect(engine.vercel.calls.count({ operation: 'create', sandbox: await sandboxOf(id) })).toBe(1);
  engine.devin.end(id);
  await until('its end', isOver(id));
});

test('another driver is at it for a moment -> the wake-up waits for it instead of sleeping', async () => {
  const id = await engine.claimed();
  const { rev } = await engine.row(id);
  await engine.store.take(id, 'another', 30_000);
  const turn = takeTurn(id);
  await pause(100);
  await engine.store.free(id, 'another');
  await turn;
  expect((await engine.row(id)).rev).toBeGreaterThan(rev);
  keepPassing();
  engine.devin.end(id);
  await until('its end', isOver(id));
});

test('news between the last look and the end of the hook -> seen, though its ring is lost with the hook', async () => {
  const id = 'devin-at-the-last-moment';
  await engine.enroll(id, 'released.coolingOff', {
    context: { retryAt: engine.base.clock.now() + 3_600_000 },
  });
  const { events } = engine.world;
  const create = events.create.bind(events);
  let told = false;
  let started: Promise<string> | null = null;
  events.create = (async (...args: Parameters<typeof create>) => {
    if (args[1].eventType === 'hook_disposed' && !told && args[0] === (await started)) {
      told = true;
      await engine.store.post(id, JSON.stringify({ type: 'stop.requested' }));
      expect(await engine.runs.ring(id)).toBe('rung');
    }
    return create(...args);
  }) as typeof create;
  try {
    started = engine.startRun(id);
    await engine.endOf(await started);
  } finally {
    events.create = create;
  }
  expect(told).toBe(true);
  await until('the news was heard', async () => (await engine.row(id)).state !== 'released.coolingOff');
});

test('a row of a newer program -> the run ends and writes nothing', async () => {
  const id = 'devin-of-tomorrow';
  const snapshot = await engine.enroll(id, 'serving.monitoring', { version: 99 });
  expect(await engine.endOf(await engine.startRun(id))).toEqual({ kind: 'rests', wakeUps: 1 });
  expect(await engine.row(id)).toMatchObject({ rev: 0, snapshot, quarantine: null });
});

test('an actor at rest, or none at all -> the run ends and starts no other', async () => {
  const id = 'devin-asleep';
  await engine.enroll(id, 'parked');
  for (const each of [id, 'devin-nobody']) {
    expect(await engine.endOf(await engine.startRun(each))).toEqual({ kind: 'rests', wakeUps: 1 });
    expect(await engine.runsOf(each)).toHaveLength(1);
  }
});

test('an id of odd characters -> served like any other, suspended and resumed', async () => {
  keepPassing();
  const id = 'devin ü/../%2F?#&:"\\\'<🦫>';
  engine.devin.startSession({
    id,
    script: [{ run: WRITE }, { suspend: true }, { run: FIND }, { end: true }],
  });
  await until('it sleeps', () => {
    const { status, phase } = engine.devin.session(id);
    return status === 'suspended' && phase !== 'claimed';
  });
  engine.devin.resume(id);
  await until('its end', isOver(id));
  expect(engine.devin.session(id)).toMatchObject({
    remotes: { ever: 2, maxAtOnce: 1 },
    status: 'terminated',
  });
});
