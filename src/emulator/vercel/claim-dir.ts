/**
 * Makes sure that one directory serves one emulator.
 *
 * The second would empty the first one's disks. The claim is a file with the
 * holder's pid and start time, so it lapses by itself when the holder dies.
 */
import { readFileSync } from 'node:fs';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Claims for this process; the answer gives it back. @throws Error when a living process holds it. */
export async function claimDirectory(dir: string): Promise<() => Promise<void>> {
  const file = join(dir, 'emulator.pid');
  const holder = await readFile(file, 'utf8').catch(() => null);
  const pid = Number(holder?.split(' ')[0]);
  if (holder !== null && Number.isInteger(pid) && pid > 0 && holder === identity(pid)) {
    throw new Error(`${dir} is in use by the emulator of process ${pid}`);
  }
  await rm(file, { force: true });
  await writeFile(file, identity(process.pid) ?? '', { flag: 'wx' });
  return () => rm(file, { force: true });
}

/** Whether an emulator has claimed the directory and not given it back; it may be dead. */
export const wasClaimed = (dir: string): Promise<boolean> =>
  access(join(dir, 'emulator.pid')).then(
    () => true,
    () => false,
  );

/** Pid and start time, which together are never used twice; null when no such process lives. */
function identity(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch {
    return null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
  } catch {
    return `${pid}`;
  }
}
