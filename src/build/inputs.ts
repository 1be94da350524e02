/** What a deployment is built from: a clean copy of it to build in, and a digest to tell an old build by. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Files and folders of the project. No settings, no tests, no databases: a build must not be able to see them. */
const INPUTS = [
  ...['api', 'machines', 'src', 'visualizations'],
  ...['.npmrc', '.vercelignore', 'package-lock.json', 'package.json', 'tsconfig.json', 'vercel.json'],
];

const isInput = (path: string) => !path.split(sep).includes('node_modules');

/** Copies the project's inputs and its packages into `target`, which must not exist. */
export async function copyInputs(root: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const name of INPUTS) {
    await cp(join(root, name), join(target, name), {
      recursive: true,
      filter: (from) => isInput(relative(root, from)),
    }).catch(ifThere);
  }
  await linkTree(join(root, 'node_modules'), join(target, 'node_modules'));
}

/** SHA-256 of the inputs' names and contents, packages aside: the lock names those. */
export async function digestOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const name of INPUTS) {
    for (const path of await filesOf(root, name)) {
      const content = await readFile(join(root, path));
      hash.update(`${path.split(sep).join('/')}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

async function filesOf(root: string, name: string): Promise<string[]> {
  if (!isInput(name)) return [];
  const entries = await readdir(join(root, name), { withFileTypes: true }).catch(ifThere);
  // Not a folder: a file, unless it is absent.
  if (entries === undefined) return [];
  if (entries === 'file') return [name];
  const nested = await Promise.all(
    entries.map((entry) =>
      entry.isDirectory() ? filesOf(root, join(name, entry.name)) : [join(name, entry.name)],
    ),
  );
  return nested.flat().sort();
}

function ifThere(error: NodeJS.ErrnoException): undefined | 'file' {
  if (error.code === 'ENOENT') return undefined;
  if (error.code === 'ENOTDIR') return 'file';
  throw error;
}

/** Hard links where the system has them: packages are many files, and nobody writes to them. */
async function linkTree(from: string, to: string): Promise<void> {
  const linking = spawn('cp', ['-al', from, to], { stdio: 'ignore' });
  const [code] = await once(linking, 'close').catch(() => [null]);
  if (code === 0) return;
  await rm(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
}
