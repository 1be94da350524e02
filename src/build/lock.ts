/**
 * One process at a time does a piece of work, on this machine.
 *
 * The lock is a file with its holder's process id; a holder that is gone no
 * longer counts. It keeps builds from treading on each other, and is no
 * protection for data.
 */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const ASK_AGAIN_MS = 250;

/** Waits for its turn as long as it takes; `onWait` hears once that it has to. */
export async function exclusively<T>(
  path: string,
  work: () => Promise<T>,
  onWait: (holder: number) => void = () => undefined,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let told = false; ; ) {
    const holder = await take(path);
    if (holder === null) break;
    if (!told) onWait(holder);
    told = true;
    await pause(ASK_AGAIN_MS);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Null when taken, else who has it. */
async function take(path: string): Promise<number | null> {
  const mine = `${path}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  try {
    await link(mine, path);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    if (!isRunning(holder)) await rm(path, { force: true });
    return holder;
  } finally {
    await rm(mine, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
