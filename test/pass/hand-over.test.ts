import { beforeEach, expect, test } from 'vitest';
import { TransientError } from '../../src/errors.js';
import { HandOver } from '../../src/pass/hand-over.js';
import type { Store } from '../../src/ports/store.js';
import { openStore } from '../../src/store/open.js';
import { type Golden, readGoldens, sessions } from '../runtime/golden.js';
import { NotedRuns, onEnd, temporaryDirectory, until } from './support.js';

const { kind } = sessions;

const ID = 'devin-1';
const claiming = readGoldens(sessions).get(kind.version)?.rows.claiming as Golden['rows'][string];
const MORE = { kind: 'more' } as const;
const rests = (state: string) => ({ kind: 'rests', wakeAt: null, state }) as const;

let store: Store;
let runs: NotedRuns;
let now: number;
let lines: string[];
let handOver: HandOver;

beforeEach(async () => {
  store = await openStore(`file:${await temporaryDirectory()}/test.db`);
  onEnd(() => store.close());
  await enroll(ID);
  runs = new NotedRuns();
  now = 1_000;
  lines = [];
  handOver = new HandOver({ store, runs, log: (line) => lines.push(line), now: () => now });
});

async function enroll(id: string): Promise<void> {
  const { effect, timers, snapshot, ...columns } = claiming;
  await store.enroll(id, { ...columns, state: 'claiming', snapshot: JSON.stringify(snapshot) }, null, 0);
}

/** The actor moves on by one rev, as when some driver saves. */
async function move(id = ID): Promise<void> {
  const taken = await store.take(id, 'driver', 10_000);
  if (taken.kind !== 'taken') throw new Error(`${id} is ${taken.kind}`);
  const { machine, version, snapshot, state, episode, holdsSlot } = taken.row;
  const next = { machine, version, snapshot, state, episode, holdsSlot };
  const { rev } = taken.row;
  await store.save({ id, owner: 'driver', rev }, { next, journal: null, newsTaken: [], at: 0 });
  await store.free(id, 'driver');
}

/** A drive of the pass ended like this, `afterMs` later; what follows from it is done. */
async function take(answer: Parameters<HandOver['take']>[1], afterMs = 0, id = ID): Promise<void> {
  now += afterMs;
  handOver.take(id, answer, kind);
  await settled();
}
const settled = async () => {
  // Reads are answered in turn: when this one is, so are those before it.
  for (let turn = 0; turn < 3; turn++) await store.read(ID);
  await new Promise((resolve) => setImmediate(resolve));
};

test('claimed, an effect pending -> its run is rung once', async () => {
  handOver.noteMove(ID);
  await take(MORE);
  expect(runs.rung).toEqual([ID]);
});

test('found pending again while the run is on its way, also moved by facts meanwhile -> not rung again', async () => {
  await take(MORE);
  await take(MORE, 1_000);
  await move();
  handOver.noteMove(ID);
  await take(MORE, 2_000);
  expect(runs.rung).toEqual([ID]);
});

test('many drives end at the same moment -> one ring', async () => {
  for (let drives = 0; drives < 10; drives++) handOver.take(ID, MORE, kind);
  await settled();
  expect(runs.rung).toEqual([ID]);
});

test('still pending later -> rung again', async () => {
  await take(MORE);
  await take(MORE, 5_000);
  expect(runs.rung).toEqual([ID, ID]);
});

test('news moved a serving session, which rests again -> its run is told, each time', async () => {
  for (let news = 0; news < 2; news++) {
    await move();
    handOver.noteMove(ID);
    await take(rests('serving.monitoring'), 100);
  }
  expect(runs.rung).toEqual([ID, ID]);
});

test('rests where it was -> nobody is rung', async () => {
  await take(rests('serving.monitoring'));
  expect(runs.rung).toEqual([]);
});

test.each(['queued', 'released.resting', 'released.coolingOff', 'lost', 'parked', 'ended'])(
  'came to rest in %s -> no run is started',
  async (state) => {
    handOver.noteMove(ID);
    await take(rests(state));
    expect(runs.rung).toEqual([]);
  },
);

test.each([
  { kind: 'superseded', version: 99 },
  { kind: 'quarantined', reason: 'for the test' },
  { kind: 'absent' },
  { kind: 'busy', wakeAt: 9_999 },
  { kind: 'stale' },
] as const)('the drive answers $kind -> nobody is rung', async (answer) => {
  handOver.noteMove(ID);
  await take(answer);
  expect(runs.rung).toEqual([]);
});

test('a start that fails -> told once, tried by the next scan, and not taken for a run that is stuck', async () => {
  runs.answer = () => Promise.reject(new TransientError('start a run: the engine is away'));
  for (let scans = 0; scans < 8; scans++) await take(MORE, 5_000);
  expect(runs.rung).toHaveLength(8);
  expect(runs.replaced).toEqual([]);
  expect(lines).toEqual(['start a run: the engine is away']);
  runs.answer = async () => 'started';
  await take(MORE, 5_000);
  expect(runs.rung).toHaveLength(9);
});

test('rung, and not moved for 25 s -> the run is replaced, and gets as long again', async () => {
  for (let scans = 0; scans < 5; scans++) await take(MORE, 5_000);
  expect(runs.replaced).toEqual([]);
  await take(MORE, 5_000);
  expect(runs.replaced).toEqual([ID]);
  await take(MORE, 20_000);
  expect(runs.replaced).toEqual([ID]);
  await take(MORE, 5_000);
  expect(runs.replaced).toEqual([ID, ID]);
});

test('rung, and moved each time -> never replaced', async () => {
  for (let scans = 0; scans < 20; scans++) {
    await take(MORE, 5_000);
    await move();
  }
  expect(runs.replaced).toEqual([]);
  expect(runs.rung).toHaveLength(20);
});

test('rung, and the run put its effect off -> not stuck', async () => {
  for (let scans = 0; scans < 20; scans++) {
    await take(MORE, 4_000);
    await take(rests('provisioning.opening'), 1_000);
  }
  expect(runs.replaced).toEqual([]);
});

test('500 actors due at once -> all are rung, a few at a time', async () => {
  const ids = Array.from({ length: 500 }, (_, index) => `devin-many-${index}`);
  await Promise.all(ids.map((id) => enroll(id)));
  let atOnce = 0;
  let most = 0;
  runs.answer = async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    atOnce -= 1;
    return 'started';
  };
  for (const id of ids) handOver.take(id, MORE, kind);
  await handOver.close(15_000);
  expect([...runs.rung].sort()).toEqual([...ids].sort());
  expect(most).toBe(8);
});

test('closed while the engine does not answer -> ends all the same, and begins nothing more', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `devin-many-${index}`);
  await Promise.all(ids.map((id) => enroll(id)));
  let answer = (_: 'rung') => {};
  runs.answer = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  for (const id of ids) handOver.take(id, MORE, kind);
  await until('rings under way', () => runs.rung.length === 8);
  await handOver.close(50);
  answer('rung');
  handOver.take(ID, MORE, kind);
  await settled();
  expect(runs.rung).toHaveLength(8);
});

test('the actor is gone -> nobody is rung', async () => {
  await take(MORE, 0, 'devin-nobody');
  expect(runs.rung).toEqual([]);
});
