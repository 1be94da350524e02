/** What every call to a backend passes: refused once closed, waited for by close, errors translated. */
import { TransientError } from '../errors.js';
import { toStoreError } from './failure.js';

export class Gate {
  readonly #underWay = new Set<Promise<unknown>>();
  #closed = false;

  async pass<T>(label: string, act: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new TransientError(`${label}: the store is closed`);
    const acting = act();
    this.#underWay.add(acting);
    try {
      return await acting;
    } catch (error) {
      throw toStoreError(label, error);
    } finally {
      this.#underWay.delete(acting);
    }
  }

  /** Resolves when nothing is under way any more; false when it was closed before. */
  async close(): Promise<boolean> {
    const first = !this.#closed;
    this.#closed = true;
    await Promise.allSettled(this.#underWay);
    return first;
  }
}
