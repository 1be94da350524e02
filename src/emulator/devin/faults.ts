/**
 * Faults that a test or a person switches on, and the count of calls.
 *
 * A fault says where it strikes (operation, session), how often, and what
 * happens. Shape faults leave the call working and bend its answer.
 */
import { z } from 'zod';

const OPERATIONS = [
  'list',
  'read',
  'claim',
  'release',
  'watch',
  'outposts',
  'exchange',
  'static',
  'gateway',
] as const;
export type Operation = (typeof OPERATIONS)[number];

const shapeSchema = z.enum([
  /** A row comes twice in a page. */
  'duplicateRow',
  /** A row is missing from one page. */
  'missingRow',
  /** A page answers the cursor that it was asked with, and says there is more. */
  'wedgedCursor',
  /** Unknown fields and enum values in every row. */
  'strangers',
]);

export const faultSchema = z.strictObject({
  on: z.enum([...OPERATIONS, 'any']),
  session: z.string().optional(),
  /** How often it strikes; null is until removed. Default 1. */
  times: z.int().positive().nullable().optional(),
  /** Matching calls that pass before it strikes. Default 0. */
  skip: z.int().nonnegative().optional(),
  kind: z.union([
    z.strictObject({ status: z.int().min(400).max(599), retryAfter: z.string().optional() }),
    /** Clock time before the call is handled as usual. */
    z.strictObject({ delayMs: z.number().nonnegative() }),
    /** The answer shows this session status. */
    z.strictObject({ flicker: z.string() }),
    /** `drop`: cut before handling; `loseAnswer`: handled, then cut; `hang`: until the caller gives up; `stall`: a watch that withholds its events. */
    z.enum(['drop', 'loseAnswer', 'garbage', 'hang', 'stall']),
    shapeSchema,
  ]),
});
type Fault = z.infer<typeof faultSchema>;
type FaultKind = Fault['kind'];
type ShapeKind = z.infer<typeof shapeSchema> | { flicker: string };

const isShape = (kind: FaultKind): kind is ShapeKind =>
  typeof kind === 'object' ? 'flicker' in kind : shapeSchema.safeParse(kind).success;

interface Armed {
  readonly id: number;
  readonly fault: Fault;
  skip: number;
  left: number;
  hits: number;
}

export interface Faults {
  /** Arms a fault; `remove` disarms it, `hits` says how often it has struck. */
  add(fault: Fault): { readonly id: number; hits(): number; remove(): void };
  clear(): void;
  list(): (Fault & { id: number; hits: number })[];
  /** The first fault that strikes this call, which counts as one stroke. */
  strike(on: Operation, session: string | null): Exclude<FaultKind, ShapeKind> | null;
  /** All shape faults of an answer with these rows; each counts as one stroke. */
  shapes(on: Operation, rows: readonly string[]): { kind: ShapeKind; session: string | null }[];
}

export function createFaults(): Faults {
  const armed: Armed[] = [];
  let nextId = 1;

  /** Uses up one stroke; false while the fault still lets calls pass. */
  const use = (entry: Armed): boolean => {
    if (entry.skip > 0) {
      entry.skip -= 1;
      return false;
    }
    entry.hits += 1;
    entry.left -= 1;
    if (entry.left <= 0) remove(entry);
    return true;
  };
  const remove = (entry: Armed) => {
    const index = armed.indexOf(entry);
    if (index >= 0) armed.splice(index, 1);
  };
  const concerns = (entry: Armed, on: Operation) => entry.fault.on === on || entry.fault.on === 'any';

  return {
    add(input) {
      const fault = faultSchema.parse(input);
      const entry: Armed = {
        id: nextId++,
        fault,
        skip: fault.skip ?? 0,
        left: fault.times === null ? Number.POSITIVE_INFINITY : (fault.times ?? 1),
        hits: 0,
      };
      armed.push(entry);
      return { id: entry.id, hits: () => entry.hits, remove: () => remove(entry) };
    },
    clear: () => {
      armed.length = 0;
    },
    list: () => armed.map(({ id, fault, hits }) => ({ ...fault, id, hits })),
    strike(on, session) {
      for (const entry of [...armed]) {
        const { kind } = entry.fault;
        if (isShape(kind) || !concerns(entry, on)) continue;
        if (entry.fault.session !== undefined && entry.fault.session !== session) continue;
        if (use(entry)) return kind;
      }
      return null;
    },
    shapes(on, rows) {
      const struck: { kind: ShapeKind; session: string | null }[] = [];
      for (const entry of [...armed]) {
        const { kind, session } = entry.fault;
        if (!isShape(kind) || !concerns(entry, on)) continue;
        if (session !== undefined && !rows.includes(session)) continue;
        if (use(entry)) struck.push({ kind, session: session ?? null });
      }
      return struck;
    },
  };
}

export interface Calls {
  /** Calls of an operation so far; of one session where the call names one. */
  count(on: Operation, session?: string): number;
  /** All counts, operations and `operation session` pairs. */
  table(): Record<string, number>;
  reset(): void;
  note(on: Operation, session: string | null): void;
}

export function createCalls(): Calls {
  const counts = new Map<string, number>();
  const bump = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  return {
    count: (on, session) => counts.get(session === undefined ? on : `${on} ${session}`) ?? 0,
    table: () => Object.fromEntries(counts),
    reset: () => counts.clear(),
    note(on, session) {
      bump(on);
      if (session !== null) bump(`${on} ${session}`);
    },
  };
}
