/**
 * Which directory of this machine a path of the vm means.
 *
 * Relative paths start at the vm's cwd. `/vercel/sandbox` and `/tmp` mean the
 * vm's own; paths below the vm's disk mean themselves. The API reaches nothing
 * outside of the disk, although a command, being a plain process, can.
 */
import { isAbsolute, join, normalize, resolve } from 'node:path';
import { badRequest } from './api-error.js';

export const workingDirectory = (disk: string) => join(disk, 'sandbox');
export const homeOf = (disk: string, root: boolean) => (root ? join(disk, 'root') : workingDirectory(disk));

/** @throws ApiError 400 when the path is outside of the vm's disk. */
export function resolveInVm(disk: string, path: string, cwd?: string): string {
  if (!isAbsolute(path)) {
    const base = cwd === undefined ? workingDirectory(disk) : resolveInVm(disk, cwd);
    return within(disk, resolve(base, path));
  }
  const absolute = normalize(path);
  if (isBelow(absolute, disk)) return absolute;
  if (isBelow(absolute, '/vercel/sandbox')) {
    return join(workingDirectory(disk), absolute.slice('/vercel/sandbox'.length));
  }
  if (isBelow(absolute, '/tmp')) return join(disk, 'tmp', absolute.slice('/tmp'.length));
  throw badRequest('The path is outside of the emulated sandbox.');
}

function within(disk: string, path: string): string {
  if (!isBelow(path, disk)) throw badRequest('The path is outside of the emulated sandbox.');
  return path;
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}
