/**
 * What drivers do to one actor: take it, move it, put it down.
 *
 * Each is one transaction, and each that changes a row is conditional on the
 * lease and the rev, so it does not matter how many try or when they stop.
 */
import { sql } from 'kysely';
import type { Store, Trouble } from '../ports/store.js';
import type { Backend } from './backend.js';
import { columnsOf, heldBy, leaseEnd, parts, SLOT, toActorRow, unleased, whole } from './rows.js';
import type { Db } from './schema.js';

type ActorMethods =
  | 'enroll'
  | 'take'
  | 'keep'
  | 'holds'
  | 'save'
  | 'defer'
  | 'rest'
  | 'free'
  | 'quarantine'
  | 'readmit'
  | 'freeSlot'
  | 'remove'
  | 'removeAll';

const FREED = { lease_owner: null, lease_until: 0 } as const;

const NO_TROUBLE: Trouble = { attempt: 0, retryAt: null, problem: null };

export function actorQueries(backend: Backend): Pick<Store, ActorMethods> {
  const newsOf = (db: Db, id: string) => db.selectFrom('news').where('actor_id', '=', id);
  return {
    enroll: (id, actor, facts, at) =>
      backend.change(`enroll ${id}`, async (db) => {
        const added = await db
          .insertInto('actors')
          .values({
            id,
            ...columnsOf(actor),
            rev: 0,
            facts,
            facts_rev: 0,
            attempt: 0,
            wake_at: 0,
            ...FREED,
            created_at: whole(at),
            updated_at: whole(at),
          })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
        return added !== undefined;
      }),

    take: (id, owner, leaseMs) =>
      backend.transact(`take ${id}`, async (db) => {
        const row = await db
          .updateTable('actors')
          .set({ lease_owner: owner, lease_until: leaseEnd(backend, leaseMs) })
          .where('id', '=', id)
          .where((eb) => eb.or([eb('lease_owner', '=', owner), unleased(backend)(eb)]))
          .returningAll()
          .executeTakeFirst();
        if (row) {
          const news = await newsOf(db, id).select(['seq', 'event']).orderBy('seq').execute();
          return {
            kind: 'taken',
            row: toActorRow(row),
            news: news.map(({ seq, event }) => ({ seq, event })),
          };
        }
        const other = await db
          .selectFrom('actors')
          .select(sql<number>`${sql.ref('lease_until')} - ${backend.now}`.as('left'))
          .where('id', '=', id)
          .executeTakeFirst();
        return other ? { kind: 'busy', leftMs: Math.max(0, other.left) } : { kind: 'absent' };
      }),

    keep: (id, owner, leaseMs) =>
      backend.change(`keep ${id}`, async (db) => {
        const kept = await db
          .updateTable('actors')
          .set({ lease_until: leaseEnd(backend, leaseMs) })
          .where('id', '=', id)
          .where('lease_owner', '=', owner)
          .where('lease_until', '>', backend.now)
          .executeTakeFirst();
        return kept.numUpdatedRows > 0n;
      }),

    holds: (hold) =>
      backend.read(`check ${hold.id}`, async (db) => {
        const row = await db
          .selectFrom('actors')
          .select('id')
          .where(heldBy(backend, hold))
          .executeTakeFirst();
        return row !== undefined;
      }),

    save: (hold, { next, trouble = NO_TROUBLE, journal, newsTaken, at }) =>
      backend.transact(`save ${hold.id}`, async (db) => {
        const saved = await db
          .updateTable('actors')
          .set({
            ...columnsOf(next),
            rev: hold.rev + 1,
            attempt: trouble.attempt,
            retry_at: trouble.retryAt === null ? null : whole(trouble.retryAt),
            problem: trouble.problem,
            // Whoever saved may die before its next act; the row must then be due.
            wake_at: 0,
            updated_at: whole(at),
          })
          .where(heldBy(backend, hold))
          .returning(backend.journalTurn.as('turn'))
          .executeTakeFirst();
        if (!saved) return false;
        if (journal)
          await db
            .insertInto('journal')
            .values({
              actor_id: hold.id,
              rev: hold.rev + 1,
              at: whole(journal.at),
              event: journal.event,
              from_state: journal.from,
              to_state: journal.to,
              context: journal.context,
            })
            .execute();
        for (const seqs of parts(newsTaken))
          await db.deleteFrom('news').where('actor_id', '=', hold.id).where('seq', 'in', seqs).execute();
        return true;
      }),

    defer: (hold, note) =>
      backend.transact(`defer ${hold.id}`, async (db) => {
        await backend.lockActor(db, hold.id);
        const deferred = await db
          .updateTable('actors')
          .set((eb) => ({
            attempt: note.attempt,
            retry_at: whole(note.retryAt),
            // News or facts that came during the failed effect have woken the actor already: it stays awake.
            wake_at: eb
              .case()
              .when(
                eb.or([eb.exists(newsOf(db, hold.id).select('seq')), eb('facts_rev', '!=', note.factsRev)]),
              )
              .then(sql<number>`0`)
              .else(sql<number>`cast(${whole(note.wakeAt)} as bigint)`)
              .end(),
            problem: note.problem,
            ...FREED,
          }))
          .where(heldBy(backend, hold))
          .executeTakeFirst();
        return deferred.numUpdatedRows > 0n;
      }),

    rest: (hold, note) =>
      backend.transact(`rest ${hold.id}`, async (db) => {
        await backend.lockActor(db, hold.id);
        const rested = await db
          .updateTable('actors')
          .set({ wake_at: note.wakeAt === null ? null : whole(note.wakeAt), ...FREED })
          .where(heldBy(backend, hold))
          .where('facts_rev', '=', note.factsRev)
          .where((eb) => eb.not(eb.exists(newsOf(db, hold.id).select('seq'))))
          .executeTakeFirst();
        return rested.numUpdatedRows > 0n;
      }),

    async free(id, owner) {
      await backend.change(`free ${id}`, (db) =>
        db.updateTable('actors').set(FREED).where('id', '=', id).where('lease_owner', '=', owner).execute(),
      );
    },

    quarantine: (hold, reason) =>
      backend.change(`quarantine ${hold.id}`, async (db) => {
        const set = await db
          .updateTable('actors')
          .set({ quarantine: reason })
          .where(heldBy(backend, hold))
          .executeTakeFirst();
        return set.numUpdatedRows > 0n;
      }),

    readmit: (id) =>
      backend.change(`readmit ${id}`, async (db) => {
        const readmitted = await db
          .updateTable('actors')
          .set((eb) => ({
            quarantine: null,
            wake_at: 0,
            holds_slot: eb
              .case()
              .when('holds_slot', '=', SLOT.lent)
              .then(sql.lit(SLOT.held))
              .else(eb.ref('holds_slot'))
              .end(),
          }))
          .where('id', '=', id)
          .where('quarantine', 'is not', null)
          .executeTakeFirst();
        return readmitted.numUpdatedRows > 0n;
      }),

    freeSlot: (id) =>
      backend.change(`free the slot of ${id}`, async (db) => {
        const freed = await db
          .updateTable('actors')
          .set({ holds_slot: SLOT.lent })
          .where('id', '=', id)
          .where('holds_slot', '=', SLOT.held)
          .where('quarantine', 'is not', null)
          .executeTakeFirst();
        return freed.numUpdatedRows > 0n;
      }),

    remove: (id, rev) =>
      backend.transact(`remove ${id}`, async (db) => {
        const removed = await db
          .deleteFrom('actors')
          .where('id', '=', id)
          .where('rev', '=', rev)
          .where(unleased(backend))
          .executeTakeFirst();
        if (removed.numDeletedRows === 0n) return false;
        await db.deleteFrom('news').where('actor_id', '=', id).execute();
        await db.deleteFrom('journal').where('actor_id', '=', id).execute();
        return true;
      }),

    async removeAll(machine, state) {
      await backend.transact(`remove what is ${state}`, async (db) => {
        const removed = await db
          .deleteFrom('actors')
          .where('machine', '=', machine)
          .where('state', '=', state)
          .where(unleased(backend))
          .returning('id')
          .execute();
        for (const ids of parts(removed.map(({ id }) => id))) {
          await db.deleteFrom('news').where('actor_id', 'in', ids).execute();
          await db.deleteFrom('journal').where('actor_id', 'in', ids).execute();
        }
      });
    },
  };
}
