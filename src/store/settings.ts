/** Settings of the installation, and the named leases of work that one process at a time does. */
import type { Store } from '../ports/store.js';
import type { Backend } from './backend.js';
import { leaseEnd } from './rows.js';
import type { Db } from './schema.js';

export function settingQueries(
  backend: Backend,
): Pick<Store, 'setting' | 'settleSetting' | 'writeSetting' | 'lead' | 'unlead'> {
  const select = (db: Db, key: string) => db.selectFrom('settings').select('value').where('key', '=', key);
  return {
    async setting(key) {
      const row = await backend.read(`read setting ${key}`, (db) => select(db, key).executeTakeFirst());
      return row?.value ?? null;
    },

    settleSetting: (key, value) =>
      backend.transact(`settle setting ${key}`, async (db) => {
        await db
          .insertInto('settings')
          .values({ key, value })
          .onConflict((conflict) => conflict.column('key').doNothing())
          .execute();
        return (await select(db, key).executeTakeFirstOrThrow()).value;
      }),

    async writeSetting(key, value) {
      await backend.change(`write setting ${key}`, (db) =>
        db
          .insertInto('settings')
          .values({ key, value })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
          .execute(),
      );
    },

    lead: (name, owner, leaseMs) =>
      backend.change(`lead ${name}`, async (db) => {
        const lease = { owner, lease_until: leaseEnd(backend, leaseMs) };
        const led = await db
          .insertInto('leads')
          .values({ name, ...lease })
          .onConflict((conflict) =>
            conflict
              .column('name')
              .doUpdateSet(lease)
              .where((eb) =>
                eb.or([eb('leads.owner', '=', owner), eb('leads.lease_until', '<=', backend.now)]),
              ),
          )
          .returning('name')
          .executeTakeFirst();
        return led !== undefined;
      }),

    async unlead(name, owner) {
      await backend.change(`unlead ${name}`, (db) =>
        db.deleteFrom('leads').where('name', '=', name).where('owner', '=', owner).execute(),
      );
    },
  };
}
