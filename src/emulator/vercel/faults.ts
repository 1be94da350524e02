/**
 * Faults that the cloud plays on demand.
 *
 * The first fault in the list that fits a call is used, and gone after `times`
 * uses. What each kind does:
 * - `{ status, code?, message?, retryAfter? }`: that error, the call not handled;
 * - `drop`: the connection is cut, the call not handled;
 * - `hang`: no answer until the client gives up, the call not handled;
 * - `{ delayMs }`: handled after that much of the clock's time;
 * - `loseAnswer`: handled, then the connection is cut;
 * - `garbage`: handled, then answered with 200 and a body that is no JSON;
 * - `cut`: handled, and the connection cut in the middle of the answer (of a stream: within its second line).
 */
import { z } from 'zod';
import { OPERATIONS, type Operation } from './calls.js';

export const faultSchema = z.strictObject({
  operation: z.enum([...OPERATIONS, 'any']),
  /** Only calls for this sandbox. */
  sandbox: z.string().optional(),
  /** How often it is used; 1 when absent. */
  times: z.number().int().min(1).optional(),
  kind: z.union([
    z.enum(['drop', 'hang', 'loseAnswer', 'garbage', 'cut']),
    z.strictObject({ delayMs: z.number().min(0) }),
    z.strictObject({
      status: z.number().int().min(400).max(599),
      code: z.string().optional(),
      message: z.string().optional(),
      /** Seconds, sent as the Retry-After header. */
      retryAfter: z.number().min(0).optional(),
    }),
  ]),
});
export type Fault = z.infer<typeof faultSchema>;
export type FaultKind = Fault['kind'];

export class Faults {
  private pending: { readonly fault: Fault; left: number }[] = [];

  add(...faults: readonly Fault[]): void {
    for (const fault of faults) this.pending.push({ fault, left: fault.times ?? 1 });
  }

  /** Faults that are still to come, with the uses left. */
  list(): readonly Fault[] {
    return this.pending.map(({ fault, left }) => ({ ...fault, times: left }));
  }

  clear(): void {
    this.pending = [];
  }

  /** Uses up the first fault that fits the call; null when none does. */
  take(operation: Operation, sandbox: string | null): FaultKind | null {
    const entry = this.pending.find(
      ({ fault }) =>
        (fault.operation === 'any' || fault.operation === operation) &&
        (fault.sandbox === undefined || fault.sandbox === sandbox),
    );
    if (!entry) return null;
    entry.left -= 1;
    if (entry.left === 0) this.pending = this.pending.filter((each) => each !== entry);
    return entry.fault.kind;
  }
}
