/**
 * The schema's history: ordered, in code, run by whoever opens the store.
 *
 * A migration is never edited once released; a change is a new one at the end.
 * The caller holds the dialect's lock, so processes that start together run
 * each migration once.
 */
import { type RawBuilder, sql } from 'kysely';
import { RefusedError } from '../errors.js';
import type { Db } from './schema.js';

/** Where the tables live in PostgreSQL, so that a shared database has room for others. */
export const POSTGRES_SCHEMA = 'outposts';

type Dialect = 'sqlite' | 'postgres';

/**
 * Brings the schema up to date inside the caller's transaction.
 * Throws RefusedError when a newer version of this program has written the database.
 */
export async function migrate(db: Db, dialect: Dialect): Promise<void> {
  const words = WORDS[dialect];
  if (dialect === 'postgres') await run(db, `create schema if not exists ${POSTGRES_SCHEMA}`);
  await run(
    db,
    `create table if not exists ${words.at}migrations (version integer primary key, name text not null)${words.strict}`,
  );
  const present = await newestVersion(db);
  if (present > MIGRATIONS.length) throw newerSchema(present);
  for (const [index, migration] of MIGRATIONS.entries()) {
    const version = index + 1;
    if (version <= present) continue;
    for (const statement of migration.statements(words)) await run(db, statement);
    await db.insertInto('migrations').values({ version, name: migration.name }).execute();
  }
}

/**
 * Whether the schema is exactly this program's; changes nothing.
 * Throws RefusedError when it is older, newer or not there at all.
 */
export async function checkSchema(db: Db, dialect: Dialect): Promise<void> {
  const { rows } = await WORDS[dialect].ourTables.execute(db);
  const present = rows.length < OUR_TABLES.length ? null : await newestVersion(db);
  if (present === MIGRATIONS.length) return;
  if (present === null || present === 0)
    throw new RefusedError(
      'nothing of this program is in the database: it is made by the first start; point DATABASE_URL at the one that your orchestrator uses',
      { setting: 'DATABASE_URL' },
    );
  if (present > MIGRATIONS.length) throw newerSchema(present);
  throw new RefusedError(
    `the database is at schema version ${present} and this program reads ${MIGRATIONS.length}: start this version of the orchestrator once, which brings it up to date, or look with the version that serves from it`,
    { setting: 'DATABASE_URL' },
  );
}

async function newestVersion(db: Db): Promise<number> {
  const newest = await db
    .selectFrom('migrations')
    .select((eb) => eb.fn.max('version').as('version'))
    .executeTakeFirst();
  return newest?.version ?? 0;
}

const newerSchema = (present: number) =>
  new RefusedError(
    `the database is at schema version ${present}, this program knows up to ${MIGRATIONS.length}: run the newer version again, or point DATABASE_URL at another database`,
    { setting: 'DATABASE_URL' },
  );

async function run(db: Db, statement: string): Promise<void> {
  await sql.raw(statement).execute(db);
}

interface Words {
  /** Prefix of a table's name. */
  readonly at: string;
  /** Text compared byte by byte, so that both dialects order ids alike. */
  readonly key: string;
  readonly big: string;
  readonly serial: string;
  readonly strict: string;
  /** Those of `OUR_TABLES` that are there. */
  readonly ourTables: RawBuilder<unknown>;
}

/** By these a database of this program is told from another's. */
const OUR_TABLES = ['migrations', 'actors', 'journal'];

const WORDS: Record<Dialect, Words> = {
  sqlite: {
    at: '',
    key: 'text',
    big: 'integer',
    // autoincrement: a number is never used twice, even after the newest rows are deleted.
    serial: 'integer primary key autoincrement',
    strict: ' strict',
    ourTables: sql`select name from sqlite_master where type = 'table' and name in (${sql.join(OUR_TABLES)})`,
  },
  postgres: {
    at: `${POSTGRES_SCHEMA}.`,
    key: 'text collate "C"',
    big: 'bigint',
    serial: 'bigint generated always as identity primary key',
    strict: '',
    ourTables: sql`select table_name from information_schema.tables where table_schema = ${POSTGRES_SCHEMA} and table_name in (${sql.join(OUR_TABLES)})`,
  },
};

const MIGRATIONS: readonly { name: string; statements: (words: Words) => readonly string[] }[] = [
  {
    name: 'actors, news, journal, settings, leads',
    statements: ({ at, key, big, serial, strict }) => [
      `create table ${at}actors (
        id ${key} primary key,
        machine text not null,
        version integer not null,
        snapshot text not null,
        state text not null,
        episode integer not null,
        holds_slot integer not null,
        rev ${big} not null,
        facts text,
        facts_rev ${big} not null,
        attempt integer not null,
        retry_at ${big},
        wake_at ${big},
        problem text,
        quarantine text,
        lease_owner text,
        lease_until ${big} not null,
        created_at ${big} not null,
        updated_at ${big} not null
      )${strict}`,
      `create index actors_wake on ${at}actors (wake_at) where wake_at is not null and quarantine is null`,
      `create index actors_state on ${at}actors (machine, state)`,
      `create index actors_slots on ${at}actors (id) where holds_slot = 1`,
      `create table ${at}news (seq ${serial}, actor_id ${key} not null, event text not null)${strict}`,
      `create index news_actor on ${at}news (actor_id, seq)`,
      `create table ${at}journal (
        seq ${serial},
        actor_id ${key} not null,
        rev ${big} not null,
        at ${big} not null,
        event text not null,
        from_state text not null,
        to_state text not null,
        context text not null
      )${strict}`,
      `create index journal_actor on ${at}journal (actor_id, seq)`,
      `create table ${at}settings (key ${key} primary key, value text not null)${strict}`,
      `create table ${at}leads (name ${key} primary key, owner text not null, lease_until ${big} not null)${strict}`,
    ],
  },
  {
    name: 'secrets',
    statements: ({ at, key, big, strict }) => [
      `create table ${at}secrets (name ${key} primary key, sealed text not null, expires_at ${big})${strict}`,
      `create index secrets_expiry on ${at}secrets (expires_at) where expires_at is not null`,
    ],
  },
];
