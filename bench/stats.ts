/** What a row of measurements comes down to. */
export interface Spread {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Nearest-rank percentiles. @throws Error when there is nothing to measure. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    if (value === undefined) throw new Error('nothing was measured');
    return value;
  };
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), max: at(1) };
}

export const median = (values: readonly number[]): number => spread(values).p50;

/** How often something was done, and how much of one core this process got meanwhile (1 = all of it). */
export interface Rate {
  readonly perSecond: number;
  readonly core: number;
}

/** `work` answers how often it did it. */
export async function rateOf(work: () => Promise<number>): Promise<Rate> {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const count = await work();
  const { user, system } = process.cpuUsage(before);
  const wallMs = performance.now() - startedAt;
  return { perSecond: Math.round(count / (wallMs / 1_000)), core: (user + system) / 1_000 / wallMs };
}
