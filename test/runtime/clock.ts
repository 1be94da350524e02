import type { Clock } from '../../src/ports/clock.js';

/** When a test's time begins. */
export const START = 1_000_000;

/** Time that stands still until a test moves it. */
export class TestClock implements Clock {
  #now = START;
  readonly #sleepers = new Set<{ readonly dueAt: number; wake(): void }>();

  now(): number {
    return this.#now;
  }

  /** The instants that someone sleeps until, soonest first. */
  get sleepingUntil(): readonly number[] {
    return [...this.#sleepers].map(({ dueAt }) => dueAt).sort((a, b) => a - b);
  }

  set(now: number): void {
    this.#now = now;
    for (const sleeper of [...this.#sleepers]) if (sleeper.dueAt <= now) sleeper.wake();
  }

  advance(ms: number): void {
    this.set(this.#now + ms);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const end = (settle: () => void) => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
        settle();
      };
      const abort = () => end(() => reject(signal?.reason));
      const sleeper = { dueAt: this.#now + ms, wake: () => end(resolve) };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
