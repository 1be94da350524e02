/** Token buckets, one for each key, in this process's memory. */

/** Keys that are remembered; the longest unused is forgotten first, and starts again with a full bucket. */
const MOST_KEYS = 10_000;

export interface Limiter {
  /** Whether one more is let through now. */
  admits(key: string): boolean;
}

/** `burst`: let through at once; `perSecond`: how fast the bucket fills again. `now`: milliseconds. */
export function createLimiter(
  { burst, perSecond }: { burst: number; perSecond: number },
  now: () => number = () => performance.now(),
): Limiter {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    admits(key) {
      const at = now();
      const bucket = buckets.get(key) ?? { left: burst, at };
      const left = Math.min(burst, bucket.left + ((at - bucket.at) / 1_000) * perSecond);
      buckets.delete(key);
      buckets.set(key, { left: left >= 1 ? left - 1 : left, at });
      const [oldest] = buckets.keys();
      if (buckets.size > MOST_KEYS && oldest !== undefined) buckets.delete(oldest);
      return left >= 1;
    },
  };
}
