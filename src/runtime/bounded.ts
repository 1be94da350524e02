/** One call of an effect within its time. */
import { withDeadline } from '../ports/clock.js';

/** One effect may take this long by the wall clock; what takes longer is split into a start and looks. */
const EFFECT_MS = 20_000;
/** How long an effect may take to heed its signal. */
const HEED_MS = 1_000;

/** The effect's result. One that goes on in spite of its signal is left behind; it is safe to repeat. */
export function bounded<T>(effect: (signal: AbortSignal) => Promise<T>, outer: AbortSignal): Promise<T> {
  const { signal, clear } = withDeadline(EFFECT_MS, outer);
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) {
      clear();
      throw signal.reason;
    }
    let leaving: NodeJS.Timeout | undefined;
    const abort = () => {
      leaving = setTimeout(() => reject(signal.reason), HEED_MS);
    };
    signal.addEventListener('abort', abort, { once: true });
    effect(signal)
      .then(resolve, reject)
      .finally(() => {
        clear();
        clearTimeout(leaving);
        signal.removeEventListener('abort', abort);
      });
  });
}
