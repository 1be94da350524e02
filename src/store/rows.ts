/** Between the port's words and the tables' columns, and the conditions that queries share. */
import {
  type Expression,
  type ExpressionBuilder,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely';
import type { ActorRow, Hold, SavedActor } from '../ports/store.js';
import type { Backend } from './backend.js';
import type { Tables } from './schema.js';

type ActorExpressions = ExpressionBuilder<Tables, 'actors'>;

/** `lent`: held until it was freed in quarantine, and held again once readmitted. */
export const SLOT = { none: 0, held: 1, lent: 2 } as const;

export function toActorRow(row: Selectable<Tables['actors']>): ActorRow {
  return {
    id: row.id,
    machine: row.machine,
    version: row.version,
    snapshot: row.snapshot,
    state: row.state,
    episode: row.episode,
    holdsSlot: row.holds_slot === SLOT.held,
    rev: row.rev,
    facts: row.facts,
    factsRev: row.facts_rev,
    attempt: row.attempt,
    retryAt: row.retry_at,
    wakeAt: row.wake_at,
    problem: row.problem,
    quarantine: row.quarantine,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function columnsOf(actor: SavedActor) {
  return {
    machine: actor.machine,
    version: actor.version,
    snapshot: actor.snapshot,
    state: actor.state,
    episode: actor.episode,
    holds_slot: actor.holdsSlot ? SLOT.held : SLOT.none,
  };
}

/** The row is at the holder's rev and its lease has not run out. */
export function heldBy(backend: Backend, hold: Hold) {
  return (eb: ActorExpressions): Expression<SqlBool> =>
    eb.and([
      eb('id', '=', hold.id),
      eb('rev', '=', hold.rev),
      eb('lease_owner', '=', hold.owner),
      eb('lease_until', '>', backend.now),
    ]);
}

export function unleased(backend: Backend) {
  return (eb: ActorExpressions): Expression<SqlBool> =>
    eb.or([eb('lease_owner', 'is', null), eb('lease_until', '<=', backend.now)]);
}

/** The state itself and everything below it. */
export function inState(state: string) {
  return (eb: ActorExpressions): Expression<SqlBool> =>
    eb.or([
      eb('state', '=', state),
      sql<SqlBool>`substr(${eb.ref('state')}, 1, ${sql.lit(state.length + 1)}) = ${`${state}.`}`,
    ]);
}

export function leaseEnd(backend: Backend, leaseMs: number): RawBuilder<number> {
  return sql<number>`${backend.now} + ${whole(leaseMs)}`;
}

/** Instants are whole milliseconds; a jitter's fraction must not decide whether a write succeeds. */
export function whole(ms: number): number {
  return Math.round(ms);
}

/** Parts small enough for one statement's parameters. */
export function* parts<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += 500) yield all.slice(start, start + 500);
}
