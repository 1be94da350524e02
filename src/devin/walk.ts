/**
 * One walk over all pages of the outpost's queue.
 *
 * Pages may repeat rows at their borders, and rows with equal timestamps can
 * make the cursor stand still; so the walk knows which cursors it has used and
 * how far it goes. Whatever was not seen completely is reported as incomplete:
 * then the absence of a row means nothing.
 */
import type { QueueEntry } from '../ports/fleet.js';
import { pageSchema, readAnswer } from './answer.js';
import { type Row, readIdentity, readRow } from './entry.js';
import { nameOf, printable } from './paths.js';
import type { Transport } from './transport.js';

export interface WalkOptions {
  readonly transport: Transport;
  readonly outpostId: string;
  /** Rows per page, 1–200. */
  readonly pageSize: number;
  readonly maxPages: number;
  readonly onOddity: (text: string) => void;
  /** Told each row of this outpost. */
  readonly onRow: (row: Row) => void;
}

export async function walkQueue(
  options: WalkOptions,
  signal: AbortSignal,
): Promise<{ entries: readonly QueueEntry[]; complete: boolean }> {
  const { outpostId, onOddity } = options;
  const entries = new Map<string, QueueEntry>();
  const usedCursors = new Set<string>();
  let everyRowRead = true;
  const answer = (complete: boolean) => ({ entries: [...entries.values()], complete });

  const take = (value: unknown) => {
    const reading = readRow(value);
    if (reading.kind === 'unreadable') {
      const identity = readIdentity(value);
      onOddity(`list: skipped the row ${nameOf(identity)}: unreadable at ${reading.path}`);
      everyRowRead = false;
      return;
    }
    const { entry, unreadableAllowItems } = reading.row;
    const name = printable(entry.sessionId);
    if (entry.outpostId !== outpostId) {
      onOddity(`list: dropped the row ${name}: it belongs to the outpost ${printable(entry.outpostId)}`);
      return;
    }
    if (unreadableAllowItems > 0) onOddity(narrowedPolicy(`list: the row ${name}`, unreadableAllowItems));
    options.onRow(reading.row);
    // The last one wins, and keeps the order of the queue.
    entries.delete(entry.sessionId);
    entries.set(entry.sessionId, entry);
  };

  let cursor: string | null = null;
  for (let page = 1; page <= options.maxPages; page += 1) {
    const query = { outpost: outpostId, first: String(options.pageSize), ...(cursor ? { cursor } : {}) };
    const request = { label: 'list', method: 'GET', path: '/opbeta/outposts/devins', query } as const;
    const { text } = await options.transport.call(request, [], signal);
    const { items, cursor: next, has_next_page: more } = readAnswer(pageSchema, text, 'list');
    items.forEach(take);
    if (!more) return answer(everyRowRead);
    if (!next || usedCursors.has(next)) {
      onOddity(
        `list: stopped at page ${page}: ${next ? 'its cursor was used before' : 'no cursor for the next'}`,
      );
      return answer(false);
    }
    usedCursors.add(next);
    cursor = next;
  }
  onOddity(`list: stopped at the cap of ${options.maxPages} pages`);
  return answer(false);
}

export function narrowedPolicy(label: string, count: number): string {
  return `${label}: left out ${count} unreadable item(s) of its network policy`;
}
