import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { assemble } from '../../src/parts.js';
import type { Store } from '../../src/ports/store.js';
import { readGoldens, sessions } from '../runtime/golden.js';
import { claimsOf, openWorld, until } from './support.js';

const { kind } = sessions;

/** Adds the actor `devin-1` in a state that it was once found in. */
async function enroll(
  store: Store,
  state: string,
  change: { version?: number; context?: Record<string, unknown> } = {},
): Promise<string> {
  const row = readGoldens(sessions).get(kind.version)?.rows[state];
  if (row === undefined) throw new Error(`there is no record of ${state}`);
  const { effect, timers, snapshot, ...columns } = row;
  const saved = structuredClone(snapshot) as { context: Record<string, unknown> };
  Object.assign(saved.context, change.context);
  const text = JSON.stringify(saved);
  const actor = { ...columns, version: change.version ?? kind.version, state, snapshot: text };
  await store.enroll('devin-1', actor, JSON.stringify(saved.context.facts), 0);
  return text;
}

test('a pending session -> claimed by the pass itself, once, and handed to its run; the lease is given back', async () => {
  const world = await openWorld();
  const { base, runs, pass } = await world.process();
  const { id } = world.devin.startSession();
  const { report, end } = pass();
  await until('a ring', () => runs.rung.length > 0);
  end();
  expect(await report).toEqual({ kind: 'passed', problem: null });
  expect(runs.rung).toEqual([id]);
  expect(claimsOf(world, id)).toEqual(['claimed']);
  expect(world.devin.calls.count('claim')).toBe(1);
  expect(await base.store.take(id, 'a run', 1_000)).toMatchObject({
    kind: 'taken',
    row: { state: 'provisioning.opening', holdsSlot: true },
  });
  expect(world.vercel.sandboxes()).toEqual([]);
});

test('a session that comes while the pass looks -> claimed on the hint, not at the next interval', async () => {
  const world = await openWorld({ env: { POLL_INTERVAL_MS: '60000' } });
  const { runs, pass } = await world.process();
  pass();
  await until('a watch', () => world.devin.calls.count('watch') > 0 && world.devin.calls.count('list') > 0);
  const { id } = world.devin.startSession();
  await until('a ring', () => runs.rung.includes(id));
});

test('the engine is away when a session is claimed -> a later scan of the same pass hands it over', async () => {
  const world = await openWorld();
  const { runs, pass } = await world.process();
  runs.answer = () => Promise.reject(new Error('the engine is away'));
  const { id } = world.devin.startSession();
  pass();
  await until('a ring that fails', () => runs.rung.length > 0);
  runs.answer = async () => 'started';
  await until('another', () => runs.rung.length > 1);
  expect(new Set(runs.rung)).toEqual(new Set([id]));
  expect(claimsOf(world, id)).toEqual(['claimed']);
});

test('two passes at once -> one looks; the other takes over as soon as the first ends, while that still settles', async () => {
  const world = await openWorld();
  const [first, second] = [await world.process(), await world.process()];
  const held = first.pass();
  await until('the first looks', () => world.devin.calls.count('watch') > 0);
  const waiting = second.pass();
  const { id } = world.devin.startSession();
  await until('the first claims', () => first.runs.rung.includes(id));
  expect(world.devin.calls.count('watch')).toBe(1);
  expect(second.runs.rung).toEqual([]);

  first.runs.answer = () => new Promise(() => undefined);
  world.devin.startSession({ id: 'devin-last' });
  await until('a ring without an answer', () => first.runs.rung.includes('devin-last'));
  let isOver = false;
  const over = held.report.then(() => {
    isOver = true;
  });
  held.end();
  world.devin.startSession({ id: 'devin-next' });
  await until('the second claims', () => second.runs.rung.includes('devin-next'));
  expect(isOver).toBe(false);
  await over;
  waiting.end();
  expect(await waiting.report).toMatchObject({ kind: 'passed' });
});

test('the first pass goes on for longer than the second may wait -> the second ends as overlapped, without a call', async () => {
  const world = await openWorld();
  const [first, second] = [await world.process(), await world.process()];
  first.pass();
  await until('the first looks', () => world.devin.calls.count('watch') > 0);
  expect(await second.pass(1_500).report).toEqual({ kind: 'overlapped' });
  expect(world.devin.calls.count('watch')).toBe(1);
});

test('the first pass was killed -> the second takes over when its lead has lapsed', async () => {
  const world = await openWorld();
  const { base, runs, pass } = await world.process();
  await base.store.lead('pass', 'one that was killed', 1_500);
  const { id } = world.devin.startSession();
  pass();
  await until('a ring', () => runs.rung.includes(id));
});

test('POLL_INTERVAL_MS as long as a pass -> the pass still looks twice, and so knows a row that is missing', async () => {
  const speed = 20;
  const world = await openWorld({ speed, env: { POLL_INTERVAL_MS: '60000' } });
  const { base, pass } = await world.process();
  await enroll(base.store, 'queued');
  await pass(57_000 / speed).report;
  const facts = (await base.store.read('devin-1'))?.facts ?? '{}';
  expect(JSON.parse(facts)).toMatchObject({ presence: 'missing' });
});

test('a session at rest whose pause is over -> the pass itself lets it queue again, claims and hands over', async () => {
  const world = await openWorld();
  const { base, runs, pass } = await world.process();
  world.devin.startSession({ id: 'devin-1' });
  await enroll(base.store, 'released.coolingOff', { context: { retryAt: world.clock.now() + 1_000 } });
  pass();
  await until('a ring', () => runs.rung.includes('devin-1'));
  expect(claimsOf(world, 'devin-1')).toEqual(['claimed']);
  expect(await base.store.read('devin-1')).toMatchObject({ episode: 2, holdsSlot: true });
});

test('a row of a newer program -> neither written nor rung', async () => {
  const world = await openWorld();
  const { base, runs, pass } = await world.process();
  const snapshot = await enroll(base.store, 'serving.monitoring', { version: kind.version + 1 });
  const { id } = world.devin.startSession();
  const { report, end } = pass();
  await until('the other is served', () => runs.rung.includes(id));
  end();
  await report;
  expect(runs.rung).toEqual([id]);
  expect(await base.store.read('devin-1')).toMatchObject({ rev: 0, snapshot });
});

/** Sweeps are due again after 700 ms. */
const hurried = (store: Store): Store => ({
  ...store,
  lead: (name, owner, ms) => store.lead(name, owner, name === 'sweep' ? 700 : ms),
});

test('passes one after the other -> one sweep in each minute', async () => {
  const world = await openWorld();
  for (let passes = 0; passes < 3; passes++) await (await world.process()).pass(700).report;
  expect(world.vercel.calls.count({ operation: 'list' })).toBe(1);
});

test('a claim of ours that no record holds -> released by the second sweep, which another process does', async () => {
  const world = await openWorld();
  const { id } = world.devin.startSession();
  const { base } = await world.process();
  const { installation, fleet } = await assemble(base);
  const stray = `${installation.acceptorPrefixOf(id)}-77`;
  await fleet.claim(id, stray, AbortSignal.timeout(5_000));
  await (await world.process(hurried)).pass(1_000).report;
  expect(world.devin.session(id).acceptor).toBe(stray);
  const { runs, pass } = await world.process(hurried);
  pass();
  await until('it is claimed anew', () => runs.rung.includes(id));
  expect(world.devin.calls.count('release', id)).toBe(1);
});

test('an engine that never answers -> the pass ends all the same', async () => {
  const world = await openWorld();
  const { runs, pass } = await world.process();
  runs.answer = () => new Promise(() => undefined);
  world.devin.startSession();
  expect(await pass(1_000).report).toMatchObject({ kind: 'passed' });
  expect(runs.rung).toHaveLength(1);
});

test('a queue that never answers -> the pass ends all the same', async () => {
  const world = await openWorld();
  const { pass } = await world.process();
  world.devin.faults.add({ on: 'list', times: null, kind: 'hang' });
  expect(await pass(1_000).report).toMatchObject({ kind: 'passed' });
});

test('garbage is collected while it looks -> the pass ends at its window all the same', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const world = await openWorld();
  const { pass } = await world.process();
  const collecting = setInterval(collect, 50);
  try {
    expect(await pass(1_000).report).toEqual({ kind: 'passed', problem: null });
  } finally {
    clearInterval(collecting);
  }
});
