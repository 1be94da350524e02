/** What pages and health checks ask: lists and counts. Changes nothing. */
import { type SqlBool, sql } from 'kysely';
import type { Store } from '../ports/store.js';
import type { ReadingBackend } from './backend.js';
import { inState, SLOT, toActorRow } from './rows.js';

type LookingMethods = 'read' | 'list' | 'foremost' | 'known' | 'slotsSetAside' | 'newerThan' | 'counts';

export function lookingQueries(backend: ReadingBackend): Pick<Store, LookingMethods> {
  return {
    async read(id) {
      const row = await backend.read(`read ${id}`, (db) =>
        db.selectFrom('actors').selectAll().where('id', '=', id).executeTakeFirst(),
      );
      return row ? toActorRow(row) : null;
    },

    list: ({ machine, state, search, limit, after, order }) =>
      backend.read('list actors', async (db) => {
        let query = db.selectFrom('actors').selectAll().limit(limit);
        if (order === 'news') query = query.orderBy('updated_at', 'desc');
        query = query.orderBy('id');
        if (machine !== undefined) query = query.where('machine', '=', machine);
        if (state !== undefined) query = query.where(inState(state));
        if (search !== undefined)
          query = query.where(sql<SqlBool>`lower(id) like ${containing(search.toLowerCase())} escape '\\'`);
        if (after !== undefined) query = query.where('id', '>', after);
        return (await query.execute()).map(toActorRow);
      }),

    foremost: (machine, resting, limit) =>
      backend.read('list the foremost actors', async (db) => {
        const rows = await db
          .selectFrom('actors')
          .selectAll()
          .where('machine', '=', machine)
          .orderBy((eb) =>
            eb
              .case()
              .when('quarantine', 'is not', null)
              .then(0)
              .when('state', 'in', resting)
              .then(2)
              .else(1)
              .end(),
          )
          .orderBy('updated_at', 'desc')
          .orderBy('id')
          .limit(limit)
          .execute();
        return rows.map(toActorRow);
      }),

    known: ({ machine, except, limit, after }) =>
      backend.read('list what is known', async (db) => {
        let query = db
          .selectFrom('actors')
          .select(['id', 'state', 'facts'])
          .where('machine', '=', machine)
          .where('state', '!=', except)
          .orderBy('id')
          .limit(limit);
        if (after !== undefined) query = query.where('id', '>', after);
        return (await query.execute()).map(({ id, state, facts }) => ({ id, state, facts }));
      }),

    slotsSetAside: (machine) =>
      backend.read('list slots set aside', async (db) => {
        const rows = await db
          .selectFrom('actors')
          .select('id')
          .where('machine', '=', machine)
          .where('holds_slot', '=', SLOT.held)
          .where('quarantine', 'is not', null)
          .orderBy('id')
          .execute();
        return rows.map(({ id }) => id);
      }),

    newerThan: (machine, version) =>
      backend.read('count newer rows', async (db) => {
        const newer = await db
          .selectFrom('actors')
          .select((eb) => [eb.fn.countAll<number>().as('rows'), eb.fn.max('version').as('needs')])
          .where('machine', '=', machine)
          .where('version', '>', version)
          .executeTakeFirstOrThrow();
        return { rows: newer.rows, needs: newer.needs ?? null };
      }),

    counts: (machine) =>
      backend.read(`count actors of ${machine}`, async (db) => {
        const rows = await db
          .selectFrom('actors')
          .select((eb) => [
            'state',
            eb.fn.countAll<number>().as('actors'),
            sql<number>`sum(case when ${eb.ref('holds_slot')} = ${sql.lit(SLOT.held)} then 1 else 0 end)`.as(
              'slots',
            ),
            eb.fn.count<number>('quarantine').as('quarantined'),
          ])
          .where('machine', '=', machine)
          .groupBy('state')
          .orderBy('state')
          .execute();
        return {
          states: Object.fromEntries(rows.map((row) => [row.state, row.actors])),
          slots: rows.reduce((sum, row) => sum + row.slots, 0),
          quarantined: rows.reduce((sum, row) => sum + row.quarantined, 0),
        };
      }),
  };
}

/** A LIKE pattern in which the text stands for itself. */
function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
