/**
 * List-then-watch: keeps looking at the queue, sooner when the watch hints.
 *
 * The list runs every POLL_INTERVAL_MS whatever the watch says; a stream that
 * is open and silent delays a session by one interval and no more. Trouble is
 * shown and waited out; it never ends the loop.
 */
import { messageOf, RefusedError, TransientError } from '../errors.js';
import { type Clock, withDeadline } from '../ports/clock.js';
import type { Fleet } from '../ports/fleet.js';
import type { Looker } from './look.js';

/** Pause after a refusal, which only the operator can mend. */
const REFUSED_MS = 60_000;
/** Backoff after trouble. */
const TROUBLE_MS = { first: 1_000, most: 30_000 };
/** A look that hangs is given up after this long by the wall clock. */
const LOOK_MS = 30_000;

export interface DispatcherDeps {
  readonly fleet: Fleet;
  readonly looker: Looker;
  readonly clock: Clock;
  readonly pollIntervalMs: number;
  random(): number;
  log?(line: string): void;
  /** Whether new sessions may be begun now; always, unless given. Asked before each look. */
  mayGrant?(): boolean;
  /** Hears of each complete look. */
  onLook?(): void;
}

export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #stopped = new AbortController();
  #draining = false;
  /** The look under way; never rejects. */
  #look: Promise<unknown> = Promise.resolve();
  #hinted = false;
  /** While trouble is waited out, hints wait too. */
  #troubled = false;
  #wake: () => void = () => undefined;
  #problem: string | null = null;
  #lookedAt: number | null = null;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.looked = new Promise((resolve) => {
      this.#hasLooked = resolve;
    });
  }

  /** What keeps us from the queue, in words; null when the last look went well. */
  get problem(): string | null {
    return this.#problem;
  }

  /** When the last complete look ended; null before the first. */
  get lookedAt(): number | null {
    return this.#lookedAt;
  }

  /** Resolves when the first look is over, well or not: from then on, what is known of the queue is not an earlier process's. */
  readonly looked: Promise<void>;
  #hasLooked: () => void = () => undefined;

  /** Runs until `stop`. */
  async run(): Promise<void> {
    await Promise.all([this.#looks(), this.#watches()]);
  }

  /** Looks at once: something that only the queue can tell may have changed. */
  nudge(): void {
    this.#hinted = true;
    if (!this.#troubled) this.#wake();
  }

  /** Nothing new is begun from now on; facts still reach those that are being served. Resolves when no look can grant. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#look;
  }

  stop(): void {
    this.#stopped.abort(new Error('the orchestrator is stopping'));
    this.#wake();
  }

  async #looks(): Promise<void> {
    const { looker, clock, pollIntervalMs } = this.#deps;
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted; ) {
      this.#hinted = false;
      let pauseMs = pollIntervalMs;
      const limit = withDeadline(LOOK_MS, signal);
      try {
        const grant = !this.#draining && (this.#deps.mayGrant?.() ?? true);
        const look = looker.look(limit.signal, grant);
        this.#look = look.catch(() => undefined);
        await look;
        if (this.#problem !== null) this.#deps.log?.('the queue can be read again');
        this.#problem = null;
        this.#troubled = false;
        this.#lookedAt = clock.now();
        this.#deps.onLook?.();
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        pauseMs = this.#noteTrouble(error, failures);
        this.#troubled = true;
      } finally {
        limit.clear();
        this.#hasLooked();
      }
      await this.#pause(pauseMs);
    }
  }

  async #watches(): Promise<void> {
    const { fleet, looker, clock } = this.#deps;
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted; ) {
      let pauseMs = 0;
      try {
        for await (const hint of fleet.watch(signal)) {
          failures = 0;
          if (looker.isNews(hint.sessionId, hint.entry)) this.nudge();
        }
        // A stream that ends at once must not be reopened in a hot loop.
        pauseMs = TROUBLE_MS.first;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        pauseMs = error instanceof RefusedError ? REFUSED_MS : this.#backoff(error, failures);
      }
      await clock.sleep(pauseMs, signal).catch(() => undefined);
    }
  }

  #noteTrouble(error: unknown, failures: number): number {
    const refused = error instanceof RefusedError;
    const text = refused ? `${error.message} (check ${error.setting})` : messageOf(error);
    if (text !== this.#problem) this.#deps.log?.(`the queue cannot be read: ${text}`);
    this.#problem = text;
    return refused ? REFUSED_MS : this.#backoff(error, failures);
  }

  #backoff(error: unknown, failures: number): number {
    const pauseMs = Math.min(TROUBLE_MS.most, TROUBLE_MS.first * 2 ** Math.min(failures - 1, 20));
    const asked = error instanceof TransientError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(asked, pauseMs / 2 + (pauseMs / 2) * this.#deps.random());
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stopped.signal.aborted || (this.#hinted && !this.#troubled)) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#deps.clock.sleep(ms, woken.signal).catch(() => undefined);
  }
}
