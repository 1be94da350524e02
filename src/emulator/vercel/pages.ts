/** Pages of a sorted list. A cursor names the last item shown, so rows that come and go between pages shift nothing. */
import { z } from 'zod';
import { badRequest } from './api-error.js';

interface Position {
  readonly key: number | string;
  /** Breaks ties of `key`. */
  readonly id: string;
}

const cursorSchema = z.tuple([z.union([z.number(), z.string()]), z.string()]);

export function paginate<T>(
  items: readonly T[],
  query: { limit: number; sortOrder: 'asc' | 'desc'; cursor?: string | undefined },
  position: (item: T) => Position,
): { items: T[]; pagination: { count: number; next: string | null } } {
  const sign = query.sortOrder === 'asc' ? 1 : -1;
  const order = (a: Position, b: Position) => sign * (compare(a.key, b.key) || compare(a.id, b.id));
  const after = query.cursor === undefined ? null : parseCursor(query.cursor);
  const rest = items
    .map((item) => ({ item, at: position(item) }))
    .filter(({ at }) => after === null || order(at, after) > 0)
    .sort((a, b) => order(a.at, b.at));
  const page = rest.slice(0, query.limit);
  const last = page.at(-1);
  const next = rest.length > page.length && last ? makeCursor(last.at) : null;
  return { items: page.map(({ item }) => item), pagination: { count: page.length, next } };
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function makeCursor({ key, id }: Position): string {
  return Buffer.from(JSON.stringify([key, id])).toString('base64url');
}

function parseCursor(cursor: string): Position {
  try {
    const [key, id] = cursorSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { key, id };
  } catch {
    throw badRequest('`cursor` is not one of ours.');
  }
}
