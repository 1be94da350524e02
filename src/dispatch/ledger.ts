/**
 * The capacity ledger: who waits, how many slots are held, whom a free slot goes to.
 *
 * A pure reducer. It proposes; one SQL transaction over the rows makes a
 * reservation true, and its answer is what the ledger then shows.
 */
import { createStore } from '@xstate/store';

export interface Ledger {
  readonly max: number;
  readonly held: number;
  /** Claimable sessions of the latest look, oldest first. */
  readonly waiting: readonly string[];
}

export function createLedger(max: number) {
  return createStore({
    context: { max, held: 0, waiting: [] } as Ledger,
    on: {
      /** A look at the queue: the rows that may be claimed, oldest first. */
      looked: (ledger, event: { claimable: readonly string[] }) => ({ ...ledger, waiting: event.claimable }),
      /** What the reservation made true. */
      reserved: (ledger, event: { granted: readonly string[]; held: number }) => ({
        ...ledger,
        held: event.held,
        waiting: ledger.waiting.filter((id) => !event.granted.includes(id)),
      }),
      counted: (ledger, event: { held: number }) => ({ ...ledger, held: event.held }),
    },
  });
}

/** Whether a reservation is worth asking for. */
export const worthReserving = (ledger: Ledger): boolean => ledger.waiting.length > 0;
