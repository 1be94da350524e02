/** Counts the API's calls, per operation and per sandbox; faulty ones count too. */
export const OPERATIONS = [
  'create',
  'get',
  'list',
  'update',
  'delete',
  'runCommand',
  'getCommand',
  'commandWait',
  'logs',
  'kill',
  'stop',
  'extend',
  'policy',
  'snapshot',
  'mkdir',
  'read',
  'write',
  'getSession',
  'listSessions',
  'listSnapshots',
  'getSnapshot',
  'deleteSnapshot',
  'unknown',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface CallRecord {
  readonly operation: Operation;
  readonly sandbox: string | null;
}

export class Calls {
  private readonly records: CallRecord[] = [];

  add(operation: Operation, sandbox: string | null): void {
    this.records.push({ operation, sandbox });
  }

  /** How many calls there were; of one operation, of one sandbox, or both when given. */
  count(filter: { operation?: Operation; sandbox?: string } = {}): number {
    return this.records.filter(
      (each) =>
        (filter.operation === undefined || each.operation === filter.operation) &&
        (filter.sandbox === undefined || each.sandbox === filter.sandbox),
    ).length;
  }

  /** Calls per operation; operations that were not called are absent. */
  byOperation(sandbox?: string): Partial<Record<Operation, number>> {
    const counts: Partial<Record<Operation, number>> = {};
    for (const each of this.records) {
      if (sandbox !== undefined && each.sandbox !== sandbox) continue;
      counts[each.operation] = (counts[each.operation] ?? 0) + 1;
    }
    return counts;
  }

  /** Every call in its order. */
  all(): readonly CallRecord[] {
    return this.records;
  }

  reset(): void {
    this.records.length = 0;
  }
}
