/**
 * The installation's sandboxes, newest status change first.
 *
 * A page is asked for when the reader gets to it: thousands of stopped
 * sandboxes cost nothing to somebody who stops reading.
 */
import { Sandbox } from '@vercel/sandbox';
import type { SandboxSight } from '../ports/sandbox.js';
import type { Workshop } from './settings.js';
import { isOurs, listedSight } from './sights.js';

const PAGE_SIZE = 100;

export async function* listSandboxes(
  { cloud, remoteClock, settings, onOddity }: Workshop,
  signal: AbortSignal,
): AsyncGenerator<SandboxSight> {
  const [[key, value] = ['', '']] = Object.entries(settings.tags);
  // The SDK takes one tag, which its type can only tell from a literal key.
  const tags = { [key]: value } as Record<'tag', string>;
  const cursors = new Set<string>();
  const names = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const page = await cloud.call('list sandboxes', signal, (access, bounded) =>
      Sandbox.list({
        ...access,
        ...from,
        tags,
        sortBy: 'statusUpdatedAt',
        sortOrder: 'desc',
        limit: PAGE_SIZE,
        signal: bounded,
      }),
    );
    // A change between two pages shows a sandbox twice.
    for (const item of page.sandboxes) {
      if (names.has(item.name) || !isOurs(item.tags, settings)) continue;
      names.add(item.name);
      yield listedSight(item, remoteClock);
    }
    cursor = page.pagination.next;
    if (cursor === null) return;
    if (cursors.has(cursor)) return onOddity('list sandboxes: a cursor came twice, stopped there');
    cursors.add(cursor);
  }
}
