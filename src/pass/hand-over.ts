/**
 * Hands actors that a pass has moved as far as it may to their runs.
 *
 * Rings a run only when there is something for it, since every ring makes its
 * log longer, and replaces one that was rung and does not move its actor. A
 * ring that fails is no loss: the actor stays due and is found again.
 */
import { messageOf } from '../errors.js';
import type { Runs } from '../ports/runs.js';
import type { Store } from '../ports/store.js';
import type { ActorKind } from '../runtime/actor.js';
import type { DriveAnswer } from '../runtime/drive.js';
import { isAtRest } from '../runtime/level.js';

/** A run that was rung this lately is still on its way. */
const LATELY_MS = 4_000;
/** A run that was rung and has not moved its actor for this long, by the wall, is stuck. */
const STUCK_MS = 25_000;

interface HandOverDeps {
  readonly store: Pick<Store, 'read'>;
  readonly runs: Runs;
  log(line: string): void;
  /** Milliseconds of the wall. */
  now?(): number;
}

export class HandOver {
  readonly #deps: HandOverDeps;
  readonly #now: () => number;
  readonly #moved = new Set<string>();
  /** The rev that an actor was at when its run was rung, first and last. */
  readonly #rung = new Map<string, { rev: number; firstAt: number; lastAt: number }>();
  readonly #pending = new Set<Promise<void>>();

  constructor(deps: HandOverDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** The pass took the actor to another state. */
  noteMove(id: string): void {
    this.#moved.add(id);
  }

  /** How a drive of the pass ended. */
  take(id: string, answer: DriveAnswer, kind: ActorKind): void {
    const moved = this.#moved.delete(id);
    const needsRun =
      answer.kind === 'more' || (answer.kind === 'rests' && moved && !isAtRest(kind, answer.state));
    if (!needsRun) {
      if (answer.kind === 'rests') this.#rung.delete(id);
      return;
    }
    const handing = this.#hand(id)
      .catch((error) => this.#deps.log(messageOf(error)))
      .finally(() => this.#pending.delete(handing));
    this.#pending.add(handing);
  }

  /** Resolves when every ring that is under way has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #hand(id: string): Promise<void> {
    const { store, runs, log } = this.#deps;
    const rev = (await store.read(id))?.rev ?? -1;
    const now = this.#now();
    const rung = this.#rung.get(id);
    const since = rung?.rev === rev ? rung : null;
    if (since !== null && now - since.lastAt < LATELY_MS) return;
    if (since !== null && now - since.firstAt >= STUCK_MS) {
      log(`${id}: its run does not move it: starting another`);
      this.#rung.set(id, { rev, firstAt: now, lastAt: now });
      return runs.replace(id);
    }
    this.#rung.set(id, { rev, firstAt: since?.firstAt ?? now, lastAt: now });
    await runs.ring(id);
  }
}
