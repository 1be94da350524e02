/** What the file endpoints do on a vm's disk. */
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { badRequest, notFound } from './api-error.js';
import { resolveInVm } from './paths.js';
import { readTarGz } from './tar.js';

/** @throws ApiError 400 when it exists or its parent does not. */
export async function makeDirectory(disk: string, path: string, cwd?: string): Promise<void> {
  try {
    await mkdir(resolveInVm(disk, path, cwd));
  } catch (error) {
    throw badFile(error, path);
  }
}

/** The real path of a regular file. @throws ApiError 404 when there is none, 400 when it is no file. */
export async function findFile(disk: string, path: string, cwd?: string): Promise<string> {
  const real = resolveInVm(disk, path, cwd);
  const found = await stat(real).catch(() => null);
  if (!found) throw notFound(`File ${path}`);
  if (!found.isFile()) throw badRequest(`${path} is not a file.`);
  return real;
}

/** Unpacks a tar.gz below `directory`, making directories as needed. */
export async function unpack(disk: string, directory: string, archive: Buffer): Promise<void> {
  const entries = readTarGz(archive).map((entry) => ({
    ...entry,
    path: resolveInVm(disk, `${directory.replace(/\/+$/, '')}/${entry.path}`),
  }));
  for (const { path, kind, mode, content } of entries) {
    try {
      await mkdir(kind === 'directory' ? path : dirname(path), { recursive: true });
      if (kind === 'directory') continue;
      await writeFile(path, content);
      await chmod(path, mode & 0o777);
    } catch (error) {
      throw badFile(error, path);
    }
  }
}

function badFile(error: unknown, path: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  return code === undefined ? error : badRequest(`${path}: ${code}.`);
}
