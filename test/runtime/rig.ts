/** A store in a file of its own, a clock that the test moves, and doors in any number. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ActorRow, JournalRow, Store } from '../../src/ports/store.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import {
  type DriveAnswer,
  type DriveDeps,
  type DriveOptions,
  drive,
  type Transition,
} from '../../src/runtime/drive.js';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { openStore } from '../../src/store/open.js';
import { TestClock } from './clock.js';
import { type DoorEvent, doorkeeper, willing } from './doorkeeper.js';

export const DOOR = 'door-1';

export interface Rig {
  store: Store;
  url: string;
  clock: TestClock;
  log: string[];
  transitions: Transition[];
  /** What a driver needs; `changes` makes it another driver. */
  deps(kind: ActorKind, changes?: Partial<DriveDeps>): DriveDeps;
  drive(kind: ActorKind, changes?: Partial<DriveDeps>, options?: DriveOptions): Promise<DriveAnswer>;
  /** Adds an actor in its first state. */
  enroll(id?: string, facts?: string | null): Promise<void>;
  ring(id?: string, patienceUntil?: number): Promise<void>;
  post(event: DoorEvent | string, id?: string): Promise<void>;
  row(id?: string): Promise<ActorRow>;
  journal(id?: string): Promise<readonly JournalRow[]>;
}

/** A fresh rig for each test of the file. */
export function useRig(): Rig {
  const rig = {} as Rig;
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'runtime-'));
    const url = `file:${join(directory, 'actors.db')}`;
    Object.assign(rig, freshRig(await openStore(url), url));
  });
  afterEach(async () => {
    await rig.store.close();
    await rm(directory, { recursive: true });
  });
  return rig;
}

function freshRig(store: Store, url: string): Rig {
  const clock = new TestClock();
  const log: string[] = [];
  const transitions: Transition[] = [];
  const deps: Rig['deps'] = (kind, changes) => ({
    store,
    kind,
    clock,
    owner: 'me',
    random: () => 0.5,
    log: (line) => log.push(line),
    onTransition: (transition) => transitions.push(transition),
    ...changes,
  });
  const post = async (event: DoorEvent | string, id = DOOR) => {
    const posted = await store.post(id, typeof event === 'string' ? event : JSON.stringify(event));
    if (!posted) throw new Error(`there is no ${id}`);
  };
  return {
    store,
    url,
    clock,
    log,
    transitions,
    deps,
    drive: (kind, changes, options) => drive(deps(kind, changes), DOOR, options),
    async enroll(id = DOOR, facts = null) {
      const kind = doorkeeper(willing(0));
      await store.enroll(id, toSaved(kind, begin(kind, { door: id })), facts, clock.now());
    },
    ring: (id = DOOR, patienceUntil) => post({ type: 'bell.rung', patienceUntil: patienceUntil ?? null }, id),
    post,
    async row(id = DOOR) {
      const row = await store.read(id);
      if (row === null) throw new Error(`there is no ${id}`);
      return row;
    },
    journal: (id = DOOR) => store.journal({ after: 0, limit: 1_000, actorId: id }),
  };
}

/** Everything of a row that a save, a deferral or a quarantine changes; the bookkeeping of its lease aside. */
export const contextOf = (row: ActorRow) =>
  (JSON.parse(row.snapshot) as { context: Record<string, unknown> }).context;

/** The lease of an actor ends now: what happens when its driver is silent for too long. */
export async function endLease(store: Store, id: string, owner: string): Promise<void> {
  const { row } = (await store.take(id, owner, 1)) as { row: ActorRow };
  await until(async () => !(await store.holds({ id, owner, rev: row.rev })));
}

/** The one that is real also while a test fakes timers. */
const wait = setTimeout;

/** Asks again until the answer is yes, for at most ten seconds. */
export async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const endAt = Date.now() + 10_000;
  while (!(await check())) {
    if (Date.now() > endAt) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => wait(resolve, 2));
  }
}

/** A promise and its handles; a gate that a test opens. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

/** Rejects with the signal's reason when it aborts: an effect that never ends by itself, but heeds its signal. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
