/** Sealed secrets, by name. What is in them, and under which key, is the vault's business. */
import type { SecretStore } from '../ports/store.js';
import type { Backend } from './backend.js';
import { slotsHeld } from './dispatch.js';

export function secretQueries(backend: Backend): SecretStore {
  return {
    async sealed(name, now) {
      const row = await backend.read(`read secret ${name}`, (db) =>
        db
          .selectFrom('secrets')
          .select(['sealed', 'expires_at'])
          .where('name', '=', name)
          .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', Math.floor(now))]))
          .executeTakeFirst(),
      );
      return row === undefined ? null : { sealed: row.sealed, expiresAt: row.expires_at };
    },

    async keepSealed(name, sealed, expiresAt) {
      const row = { sealed, expires_at: wholeOrNull(expiresAt) };
      await backend.change(`keep secret ${name}`, (db) =>
        db
          .insertInto('secrets')
          .values({ name, ...row })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
          .execute(),
      );
    },

    keepSealedWith: (name, sealed, { key, value }) =>
      backend.transact(`keep secret ${name}`, async (db) => {
        await backend.lockSlots(db);
        const settings = db.selectFrom('settings').select('value').where('key', '=', key);
        const before = (await settings.executeTakeFirst())?.value ?? value;
        const held = before === value ? 0 : await slotsHeld(db);
        if (held > 0) return held;
        await db
          .insertInto('settings')
          .values({ key, value })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
          .execute();
        const row = { sealed, expires_at: null };
        await db
          .insertInto('secrets')
          .values({ name, ...row })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
          .execute();
        return 0;
      }),

    keepSealedOnce: (name, sealed, expiresAt, now) =>
      backend.change(`keep secret ${name}`, async (db) => {
        const row = { sealed, expires_at: wholeOrNull(expiresAt) };
        const kept = await db
          .insertInto('secrets')
          .values({ name, ...row })
          .onConflict((conflict) =>
            conflict.column('name').doUpdateSet(row).where('secrets.expires_at', '<=', Math.floor(now)),
          )
          .returning('name')
          .executeTakeFirst();
        return kept !== undefined;
      }),

    async reseal(name, from, to) {
      await backend.change(`reseal secret ${name}`, (db) =>
        db
          .updateTable('secrets')
          .set({ sealed: to })
          .where('name', '=', name)
          .where('sealed', '=', from)
          .execute(),
      );
    },

    async dropSealed(which) {
      await backend.change('drop secrets', (db) => {
        const dropping = db.deleteFrom('secrets');
        return (
          'name' in which
            ? dropping.where('name', '=', which.name)
            : // The first text after all that begin with the prefix: a range needs no escaping.
              dropping.where('name', '>=', which.prefix).where('name', '<', `${which.prefix}\uffff`)
        ).execute();
      });
    },

    async dropExpiredSealed(now) {
      await backend.change('drop expired secrets', (db) =>
        db.deleteFrom('secrets').where('expires_at', '<=', Math.floor(now)).execute(),
      );
    },
  };
}

const wholeOrNull = (instant: number | null) => (instant === null ? null : Math.floor(instant));
