/** Actors, saves and waiting, as the store's tests use them. */
import { createClient } from '@libsql/client';
import pg from 'pg';
import { afterEach } from 'vitest';
import type { Hold, SaveChange, SavedActor, Store } from '../../src/ports/store.js';
import { openStore, type StoreOptions } from '../../src/store/open.js';

/** Makes an empty database and answers its URL. */
export type MakeDatabase = () => Promise<string>;

/** Long enough never to end within a test. */
export const LEASE_MS = 600_000;

export function actor(changes: Partial<SavedActor> = {}): SavedActor {
  return {
    machine: 'session',
    version: 1,
    snapshot: '{"status":"active"}',
    state: 'queued',
    episode: 1,
    holdsSlot: false,
    ...changes,
  };
}

export function transition(changes: Partial<SaveChange> = {}): SaveChange {
  return {
    next: actor({ state: 'claiming' }),
    journal: { at: 7, event: '{"type":"slot.granted"}', from: 'queued', to: 'claiming', context: '{}' },
    newsTaken: [],
    at: 7,
    ...changes,
  };
}

/** Opens stores and closes them after each test. */
export function useStores(): (url: string, options?: StoreOptions) => Promise<Store> {
  const opened: Store[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  return async (url, options) => {
    const store = await openStore(url, options);
    opened.push(store);
    return store;
  };
}

/** Enrols an actor and takes it. */
export async function held(store: Store, id: string, owner = 'me'): Promise<Hold> {
  await store.enroll(id, actor(), null, 1);
  const answer = await store.take(id, owner, LEASE_MS);
  if (answer.kind !== 'taken') throw new Error(`${id} is ${answer.kind}`);
  return { id, owner, rev: answer.row.rev };
}

/** Takes with the shortest lease and waits until it is over. */
export async function lapsed(store: Store, id: string, owner = 'me'): Promise<Hold> {
  const hold = await held(store, id, owner);
  await store.take(id, owner, 1);
  await until(async () => !(await store.holds(hold)));
  return hold;
}

/** Asks again until the answer is yes, for at most ten seconds. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const endAt = performance.now() + 10_000;
  while (!(await check())) {
    if (performance.now() > endAt) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Runs one statement past the store, as an administrator could. */
export async function execute(url: string, statement: string): Promise<void> {
  if (url.startsWith('file:')) {
    const client = createClient({ url, timeout: 5_000 });
    await client.execute(statement);
    return client.close();
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
