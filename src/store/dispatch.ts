/**
 * What the dispatcher does across actors: tell them news and facts, grant slots, find who is due.
 *
 * On PostgreSQL only a grant locks several actors in one transaction, and one
 * grant runs at a time, so these cannot deadlock with each other.
 */
import type { Store } from '../ports/store.js';
import type { Backend } from './backend.js';
import { inState, parts, SLOT, unleased, whole } from './rows.js';
import type { Db } from './schema.js';

type DispatchMethods = 'post' | 'observe' | 'grantSlots' | 'due' | 'nextWakeAt';

export function dispatchQueries(backend: Backend): Pick<Store, DispatchMethods> {
  return {
    post: (id, event, { once = false } = {}) =>
      backend.transact(`post to ${id}`, async (db) => {
        // The actor first: its row's lock puts this before or after a driver's rest, never beside it.
        const woken = await db
          .updateTable('actors')
          .set({ wake_at: 0 })
          .where('id', '=', id)
          .executeTakeFirst();
        if (woken.numUpdatedRows === 0n) return false;
        if (once && (await waitsAlready(db, id, event))) return true;
        await db.insertInto('news').values({ actor_id: id, event }).execute();
        return true;
      }),

    async observe(facts) {
      const changed: Promise<string | null>[] = [];
      for (const ids of parts([...facts.keys()])) {
        const rows = await backend.read('read facts', (db) =>
          db.selectFrom('actors').select(['id', 'facts']).where('id', 'in', ids).execute(),
        );
        for (const row of rows) {
          const seen = facts.get(row.id);
          if (seen !== undefined && seen !== row.facts) changed.push(writeFacts(backend, row.id, seen));
        }
      }
      return (await Promise.all(changed)).filter((id) => id !== null);
    },

    grantSlots(candidates, max, event) {
      if (candidates.length === 0)
        return backend.read('count slots', async (db) => ({ granted: [], held: await slotsHeld(db) }));
      return backend.transact('grant slots', async (db) => {
        await backend.lockSlots(db);
        const held = await slotsHeld(db);
        const granted: string[] = [];
        for (const ids of parts(candidates)) {
          if (held + granted.length >= max) break;
          const waiting = await waitingAmong(db, ids);
          for (const id of ids) {
            if (held + granted.length >= max) break;
            if (waiting.delete(id) && (await grant(db, id, event))) granted.push(id);
          }
        }
        return { granted, held: held + granted.length };
      });
    },

    due: (machine, now, limit) =>
      backend.read('read who is due', async (db) => {
        const rows = await db
          .selectFrom('actors')
          .select('id')
          .where('machine', '=', machine)
          .where('wake_at', '<=', whole(now))
          .where('quarantine', 'is', null)
          .where(unleased(backend))
          .orderBy('wake_at')
          .orderBy('id')
          .limit(limit)
          .execute();
        return rows.map((row) => row.id);
      }),

    nextWakeAt: (machine, after) =>
      backend.read('read the next wake-up', async (db) => {
        const row = await db
          .selectFrom('actors')
          .select('wake_at')
          .where('machine', '=', machine)
          .where('wake_at', '>', whole(after))
          .where('quarantine', 'is', null)
          .orderBy('wake_at')
          .limit(1)
          .executeTakeFirst();
        return row?.wake_at ?? null;
      }),
  };
}

async function waitsAlready(db: Db, id: string, event: string): Promise<boolean> {
  const row = await db
    .selectFrom('news')
    .select('seq')
    .where('actor_id', '=', id)
    .where('event', '=', event)
    .executeTakeFirst();
  return row !== undefined;
}

async function writeFacts(backend: Backend, id: string, facts: string): Promise<string | null> {
  const written = await backend.change(`observe ${id}`, (db) =>
    db
      .updateTable('actors')
      .set((eb) => ({ facts, facts_rev: eb('facts_rev', '+', 1), wake_at: 0 }))
      .where('id', '=', id)
      .where('facts', 'is distinct from', facts)
      .executeTakeFirst(),
  );
  return written.numUpdatedRows > 0n ? id : null;
}

export async function slotsHeld(db: Db): Promise<number> {
  const row = await db
    .selectFrom('actors')
    .select((eb) => eb.fn.countAll<number>().as('held'))
    .where('holds_slot', '=', SLOT.held)
    .executeTakeFirstOrThrow();
  return row.held;
}

async function waitingAmong(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom('actors').select('id').where('id', 'in', ids).where(waiting).execute();
  return new Set(rows.map((row) => row.id));
}

/** False when a driver moved the actor on since it was found waiting. */
async function grant(db: Db, id: string, event: string): Promise<boolean> {
  const granted = await db
    .updateTable('actors')
    .set((eb) => ({ holds_slot: SLOT.held, rev: eb('rev', '+', 1), wake_at: 0 }))
    .where('id', '=', id)
    .where(waiting)
    .executeTakeFirst();
  if (granted.numUpdatedRows === 0n) return false;
  await db.insertInto('news').values({ actor_id: id, event }).execute();
  return true;
}

function waiting(eb: Parameters<ReturnType<typeof inState>>[0]) {
  return eb.and([inState('queued')(eb), eb('holds_slot', '=', SLOT.none), eb('quarantine', 'is', null)]);
}
