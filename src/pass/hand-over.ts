/**
 * Hands actors that a pass has moved as far as it may to their runs.
 *
 * Rings a run only when there is something for it, since every ring makes its
 * log longer; a few at a time, since after an outage hundreds are due at once;
 * and replaces one that was rung and does not move its actor. A ring that fails
 * is no loss: the actor stays due and is found again.
 */
import { setTimeout as pause } from 'node:timers/promises';
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
/** Rings at a time. */
const CONCURRENCY = 8;

interface HandOverDeps {
  readonly store: Pick<Store, 'read'>;
  readonly runs: Runs;
  log(line: string): void;
  /** Milliseconds of the wall. */
  now?(): number;
}

/** `due`: an effect is pending, so that whoever scans finds the actor again. `moved`: the run sleeps too long now. */
type Cause = 'due' | 'moved';

export class HandOver {
  readonly #deps: HandOverDeps;
  readonly #now: () => number;
  readonly #moved = new Set<string>();
  /** The rev that an actor was at when its run was rung, first and last. */
  readonly #rung = new Map<string, { rev: number; firstAt: number; lastAt: number }>();
  readonly #waiting = new Map<string, Cause>();
  readonly #handing = new Map<string, Promise<void>>();
  #asking: Promise<void> | null = null;
  #closed = false;
  /** What keeps runs from being rung, in words; null when the last ring got through. */
  #problem: string | null = null;

  constructor(deps: HandOverDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  get problem(): string | null {
    return this.#problem;
  }

  /**
   * Whether runs can be rung, as far as is known: while they cannot, nothing is to be claimed for them. Asks the
   * engine when the last answer was trouble, for the next time.
   */
  mayBegin(): boolean {
    if (this.#problem === null) return true;
    void this.ask();
    return false;
  }

  /** Asks the engine whether it can be reached. */
  async ask(): Promise<void> {
    this.#asking ??= this.#deps.runs.answers().then((answers) => {
      this.#asking = null;
      if (answers) this.#problem = null;
      else this.#problem ??= 'the workflow engine cannot be reached';
    });
    await this.#asking;
  }

  /** The pass took the actor to another state. */
  noteMove(id: string): void {
    this.#moved.add(id);
  }

  /** How a drive of the pass ended. */
  take(id: string, answer: DriveAnswer, kind: ActorKind): void {
    const moved = this.#moved.delete(id);
    if (this.#closed) return;
    if (answer.kind === 'more') {
      if (!this.#waiting.has(id)) this.#waiting.set(id, 'due');
    } else if (answer.kind === 'rests') {
      if (moved && !isAtRest(kind, answer.state)) this.#waiting.set(id, 'moved');
      else this.#rung.delete(id);
    }
    this.#next();
  }

  /** Lets what is to be rung be rung, for at most `ms`; nothing is begun afterwards. */
  async close(ms: number): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#idle(), pause(ms, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
    this.#closed = true;
    this.#waiting.clear();
  }

  async #idle(): Promise<void> {
    while (this.#handing.size > 0) await Promise.race(this.#handing.values());
  }

  #next(): void {
    for (const [id, cause] of this.#waiting) {
      if (this.#handing.size >= CONCURRENCY) return;
      if (this.#handing.has(id)) continue;
      this.#waiting.delete(id);
      this.#handing.set(
        id,
        this.#hand(id, cause).finally(() => {
          this.#handing.delete(id);
          this.#next();
        }),
      );
    }
  }

  async #hand(id: string, cause: Cause): Promise<void> {
    try {
      const rev = (await this.#deps.store.read(id))?.rev;
      if (rev !== undefined) await this.#ring(id, rev, cause);
      this.#problem = null;
    } catch (error) {
      this.#rung.delete(id);
      // One line for all that an engine or a store that is away lets down.
      if (this.#problem === null) this.#deps.log(messageOf(error));
      this.#problem = 'sessions cannot be handed to their runs: the workflow engine is away';
    }
  }

  async #ring(id: string, rev: number, cause: Cause): Promise<void> {
    const { runs, log } = this.#deps;
    const now = this.#now();
    const rung = this.#rung.get(id);
    if (cause === 'due' && rung !== undefined && now - rung.lastAt < LATELY_MS) return;
    const firstAt = rung?.rev === rev ? rung.firstAt : now;
    if (now - firstAt < STUCK_MS) {
      this.#rung.set(id, { rev, firstAt, lastAt: now });
      await runs.ring(id);
    } else {
      log(`${id}: its run does not move it: starting another`);
      this.#rung.set(id, { rev, firstAt: now, lastAt: now });
      await runs.replace(id);
    }
  }
}
