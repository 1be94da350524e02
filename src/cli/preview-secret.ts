/** The secret of a preview's cron route: the one that is set, else one that is kept in a file. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

export interface CronSecret {
  readonly value: string;
  /** Null when it was given. */
  readonly path: string | null;
}

/** Doorbells are made from it, so it outlives the process. The file is for its owner only. */
export async function settleCronSecret(given: string | undefined, home: string): Promise<CronSecret> {
  if (given) return { value: given, path: null };
  const path = resolve(home, 'preview-cron-secret');
  await mkdir(home, { recursive: true });
  await writeFile(path, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' }).catch(keepOld);
  return { value: (await readFile(path, 'utf8')).trim(), path };
}

function keepOld(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
