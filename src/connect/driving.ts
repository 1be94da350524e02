/**
 * Drives connections: one in the request of whoever waits for it, and what is
 * due, by the cron. Decides nothing: see machines/connection.ts.
 */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import { CONNECTION_IDS, type Store } from '../ports/store.js';
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
const MOST = 200;

/** The actor of this deployment's own connection. */
export const OWN = `${CONNECTION_IDS}own`;

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
  const due = await store.due(kind.name, clock.now(), MOST);
  // Anybody may begin to set a project up: that must not keep the deployment's own waiting.
  for (const id of [...due].sort((a, b) => Number(b === OWN) - Number(a === OWN))) {
    const leftMs = endAt - performance.now();
    if (leftMs <= 0) break;
    await driveOne(deps, id, leftMs).catch((error) => log(`${id}: ${messageOf(error)}`));
  }
  await store.removeAll(kind.name, 'ended');
  await vault.dropExpired();
}
