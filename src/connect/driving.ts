/**
 * Drives connections: one in the request of whoever waits for it, and what is
 * due, by the cron. Decides nothing: see machines/connection.ts.
 */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/store.js';
import type { Vault } from '../ports/vault.js';
import type { ActorKind } from '../runtime/actor.js';
import { type DriveAnswer, drive } from '../runtime/drive.js';

export interface DrivingDeps {
  readonly store: Store;
  readonly kind: ActorKind;
  readonly clock: Clock;
  /** The account may have changed. */
  onChange(): void;
  log(line: string): void;
}

/** No effect is begun later, by the wall; the last one may take twenty seconds. */
const BUDGET_MS = 5_000;
/** Rows of one call; the next one takes the others. */
const MOST = 50;

export function driveOne(
  { store, kind, clock, log, onChange }: DrivingDeps,
  id: string,
  budgetMs = BUDGET_MS,
): Promise<DriveAnswer> {
  // A name of its own: the lease lets the same owner in twice.
  const owner = `connect-${randomUUID()}`;
  const deps = { store, kind, clock, log, owner, random: Math.random, onTransition: onChange };
  return drive(deps, id, { budgetMs });
}

/**
 * For the cron: drives what is due, and forgets what is over. Sessions wait for it, so it takes no longer than one
 * request would, and one connection's trouble is nobody else's. Rejects with TransientError while the store is away.
 */
export async function driveConnections(deps: DrivingDeps & { readonly vault: Vault }): Promise<void> {
  const { store, vault, kind, clock, log } = deps;
  const endAt = performance.now() + BUDGET_MS;
  for (const id of await store.due(kind.name, clock.now(), MOST)) {
    const leftMs = endAt - performance.now();
    if (leftMs <= 0) break;
    await driveOne(deps, id, leftMs).catch((error) => log(`${id}: ${messageOf(error)}`));
  }
  for (const { id, rev } of await store.list({ machine: kind.name, state: 'ended', limit: MOST }))
    await store.remove(id, rev);
  await vault.dropExpired();
}
