/** What to say when there is no session of that id: those that it may have meant, or how to list them. */

import type { Look } from './look.js';
import { clean } from './text.js';

const SHOWN = 3;
/** As many ids as are compared; beyond them only a part of an id finds. */
const COMPARED = 1_000;

/** Says it on stderr; answers the exit code. */
export async function sayUnknown({ store, kind }: Look, id: string): Promise<number> {
  const list = async (filter: object, limit: number) =>
    (await store.list({ machine: kind.name, order: 'news', limit, ...filter })).map((row) => row.id);
  const containing = id === '' ? [] : await list({ search: id }, SHOWN);
  const near = containing.length > 0 ? containing : nearest(id, await list({}, COMPARED));
  const hint =
    near.length > 0
      ? `Did you mean ${near.map(clean).join(' or ')}?`
      : 'npm run outposts -- sessions lists those that there are.';
  process.stderr.write(`There is no session ${clean(id)}. ${hint}\n`);
  return 1;
}

/** Those that differ in less than a third of their letters, nearest first. */
function nearest(id: string, ids: readonly string[]): string[] {
  return ids
    .map((known) => ({ known, far: distance(id, known) }))
    .filter(({ known, far }) => far * 3 < Math.max(known.length, id.length))
    .sort((a, b) => a.far - b.far)
    .slice(0, SHOWN)
    .map(({ known }) => known);
}

/** Letters to put in, take out or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= b.length; at++) {
      const changed = (row[at - 1] ?? 0) + (letter === b[at - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
