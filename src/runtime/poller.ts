/**
 * Drives every actor that is due, in one long-lived process.
 *
 * Finds work in the store, so a restart needs nothing else; a kick only makes
 * it sooner. One drive per actor at a time here; other processes are kept off
 * by leases. Decides nothing.
 */
import { messageOf } from '../errors.js';
import { createClock } from '../ports/clock.js';
import { type DriveAnswer, type DriveDeps, drive } from './drive.js';

/** Drives at once. */
const CONCURRENCY = 64;
/** The store is asked for due actors at least this often, by the wall clock: leases of dead processes end unheard. */
const SCAN_AT_LEAST_MS = 5_000;
/** After a drive that threw, the actor is left alone for this long. */
const PENALTY_MS = 5_000;

/** Leases and the end of the process go by this one, whatever the orchestrator's clock says. */
const wall = createClock();

export interface PollerDeps extends DriveDeps {
  /** Effects that are performed here, all unless given. */
  readonly performs?: (effect: string) => boolean;
  /** Actors are found only when they have been due for this long: somebody else drives them when all is well. */
  readonly graceMs?: number;
  /** Hears how each drive ended. */
  onAnswer?(id: string, answer: DriveAnswer): void;
}

export class Poller {
  readonly #deps: PollerDeps;
  readonly #running = new Map<string, Promise<DriveAnswer | null>>();
  readonly #waiting = new Set<string>();
  readonly #again = new Set<string>();
  readonly #penalties = new Map<string, number>();
  /** Nothing is begun any more; then, nothing may go on. */
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  #poke: () => void = () => undefined;
  #poked = false;
  #storeTrouble: string | null = null;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** What keeps the poller from its work; null when nothing does. */
  get problem(): string | null {
    return this.#storeTrouble;
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    const { store, kind, clock, graceMs = 0 } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      this.#poked = false;
      let sleepMs = SCAN_AT_LEAST_MS;
      try {
        const now = clock.now() - graceMs;
        this.#forgive();
        // Those that are left alone stay due: they must not keep the others off the page.
        const limit = CONCURRENCY * 4 + this.#penalties.size;
        const due = (await store.due(kind.name, now, limit)).filter((id) => this.#mayStart(id));
        for (const id of due) this.kick(id);
        const nextAt = await store.nextWakeAt(kind.name, now);
        // Asking took time of its own, and a fast clock does not wait for it.
        if (nextAt !== null) sleepMs = Math.max(1, nextAt + graceMs - clock.now());
        this.#storeTrouble = null;
      } catch (error) {
        this.#noteTrouble(error);
      }
      await this.#sleep(sleepMs);
    }
  }

  /** Drives the actor soon; again, when it is being driven already. */
  kick(id: string): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#running.has(id)) this.#again.add(id);
    else if (this.#running.size < CONCURRENCY) void this.#start(id);
    else this.#waiting.add(id);
  }

  /** Drives the actor and waits until it rests; null when that failed, or when the poller stops. */
  async settle(id: string): Promise<DriveAnswer | null> {
    await this.#running.get(id);
    return this.#stopping.signal.aborted ? null : (this.#running.get(id) ?? this.#start(id));
  }

  /** No new drives; running effects get `graceMs` to end, then are aborted. Resolves when none is left. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    const idle = Promise.allSettled([...this.#running.values()]);
    await firstOf(idle, (signal) => wall.sleep(graceMs, signal));
    this.#stopped.abort(new Error('the orchestrator is stopping'));
    await idle;
  }

  #mayStart(id: string): boolean {
    return !this.#penalties.has(id) && !this.#running.has(id);
  }

  #forgive(): void {
    for (const [id, until] of this.#penalties) if (performance.now() >= until) this.#penalties.delete(id);
  }

  #start(id: string): Promise<DriveAnswer | null> {
    this.#waiting.delete(id);
    const running = this.#drive(id).finally(() => {
      this.#running.delete(id);
      if (this.#again.delete(id)) this.kick(id);
      const [next] = this.#waiting;
      if (next !== undefined) this.kick(next);
      this.#wake();
    });
    this.#running.set(id, running);
    return running;
  }

  async #drive(id: string): Promise<DriveAnswer | null> {
    try {
      const { performs } = this.#deps;
      const answer = await drive(this.#deps, id, {
        settle: this.#stopping.signal,
        signal: this.#stopped.signal,
        ...(performs === undefined ? {} : { performs }),
      });
      if (answer.kind === 'superseded') this.#penalize(id, 60_000);
      if (answer.kind === 'more') this.#penalize(id, PENALTY_MS);
      this.#deps.onAnswer?.(id, answer);
      return answer;
    } catch (error) {
      this.#penalize(id, PENALTY_MS);
      this.#noteTrouble(error, id);
      return null;
    }
  }

  #penalize(id: string, ms: number): void {
    this.#penalties.set(id, performance.now() + ms);
  }

  #noteTrouble(error: unknown, id?: string): void {
    const text = id === undefined ? messageOf(error) : `${id}: ${messageOf(error)}`;
    if (this.#storeTrouble === null) this.#deps.log?.(`cannot go on for now: ${text}`);
    this.#storeTrouble = text;
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#poked) return;
    const poked = new Promise<void>((resolve) => {
      this.#poke = resolve;
    });
    await firstOf(
      poked,
      (signal) => this.#deps.clock.sleep(ms, signal),
      (signal) => wall.sleep(SCAN_AT_LEAST_MS, signal),
    );
  }

  #wake(): void {
    this.#poked = true;
    this.#poke();
  }
}

/** Resolves with the first to end; the other sleeps are broken off. */
async function firstOf(
  event: Promise<unknown>,
  ...sleeps: readonly ((signal: AbortSignal) => Promise<void>)[]
): Promise<void> {
  const over = new AbortController();
  await Promise.race([event, ...sleeps.map((sleep) => sleep(over.signal).catch(() => undefined))]);
  over.abort();
}
