/** Reading and thinning the journal. Its entries are appended by `save` alone (actors.ts). */
import type { JournalRow, Store } from '../ports/store.js';
import type { Backend, ReadingBackend } from './backend.js';
import type { Db } from './schema.js';

/** What reads it alone. */
export function journalReading(backend: ReadingBackend): Pick<Store, 'journal' | 'journalEnd'> {
  return {
    journal({ after, limit, actorId }) {
      const entries = (db: Db) =>
        db.selectFrom('journal').selectAll().where('seq', '>', after).orderBy('seq').limit(limit);
      // One actor's entries are in order anyway: each save holds its row.
      if (actorId !== undefined)
        return backend.read(`read the journal of ${actorId}`, async (db) =>
          (await entries(db).where('actor_id', '=', actorId).execute()).map(toJournalRow),
        );
      return backend.readSettledJournal('read the journal', async (db) =>
        (await entries(db).execute()).map(toJournalRow),
      );
    },

    journalEnd: () =>
      backend.readSettledJournal('find the end of the journal', async (db) => {
        const newest = await db
          .selectFrom('journal')
          .select((eb) => eb.fn.max('seq').as('seq'))
          .executeTakeFirst();
        return newest?.seq ?? 0;
      }),
  };
}

export function journalQueries(backend: Backend): Pick<Store, 'journal' | 'journalEnd' | 'pruneJournal'> {
  return {
    ...journalReading(backend),

    async pruneJournal(keep) {
      const long = await backend.read('measure the journal', (db) =>
        db
          .selectFrom('journal')
          .select('actor_id')
          .groupBy('actor_id')
          .having((eb) => eb(eb.fn.countAll(), '>', keep))
          .execute(),
      );
      // An actor at a time, so that nothing else waits long for a lock.
      let pruned = 0;
      for (const { actor_id } of long)
        pruned += await backend.change(`prune the journal of ${actor_id}`, (db) => prune(db, actor_id, keep));
      return pruned;
    },
  };
}

async function prune(db: Db, actorId: string, keep: number): Promise<number> {
  const deleted = await db
    .deleteFrom('journal')
    .where('actor_id', '=', actorId)
    .where('seq', '<=', (eb) =>
      eb
        .selectFrom('journal')
        .select('seq')
        .where('actor_id', '=', actorId)
        .orderBy('seq', 'desc')
        .limit(1)
        .offset(keep),
    )
    .executeTakeFirst();
  return Number(deleted.numDeletedRows);
}

function toJournalRow(row: {
  seq: number;
  actor_id: string;
  rev: number;
  at: number;
  event: string;
  from_state: string;
  to_state: string;
  context: string;
}): JournalRow {
  return {
    seq: row.seq,
    actorId: row.actor_id,
    rev: row.rev,
    at: row.at,
    event: row.event,
    from: row.from_state,
    to: row.to_state,
    context: row.context,
  };
}
