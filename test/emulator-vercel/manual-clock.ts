import type { Clock } from '../../src/ports/clock.js';

/** A clock that moves only when told to. */
export class ManualClock implements Clock {
  private at = 1_800_000_000_000;
  private readonly sleepers = new Set<{ dueAt: number; wake: () => void }>();

  now(): number {
    return this.at;
  }

  /** How many wait for a later moment. */
  get waiting(): number {
    return this.sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        this.sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const wake = () => {
        this.sleepers.delete(sleeper);
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const sleeper = { dueAt: this.at + ms, wake };
      this.sleepers.add(sleeper);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  advance(ms: number): void {
    this.at += ms;
    for (const sleeper of [...this.sleepers]) if (sleeper.dueAt <= this.at) sleeper.wake();
  }
}
