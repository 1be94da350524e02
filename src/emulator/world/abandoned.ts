/**
 * Removes what a world that was killed has left in the temporary directory:
 * its disks, and the processes of its sandboxes. One that still runs is left alone.
 */
import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeAbandoned } from '../vercel/index.js';

/** Looks at the directories in `parent` whose names begin with `prefix`. */
export async function sweepAbandonedWorlds(parent: string, prefix: string): Promise<void> {
  const root = await realpath(parent);
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const world = join(root, name);
    if (await removeAbandoned(join(world, 'vercel')).catch(() => false))
      await rm(world, { recursive: true, force: true }).catch(() => undefined);
  }
}
