/**
 * The directories behind sandboxes and snapshots.
 *
 *     <dir>/live/<sandbox>/sandbox   what a running vm calls /vercel/sandbox: its cwd and HOME
 *     <dir>/live/<sandbox>/tmp       its /tmp
 *     <dir>/live/<sandbox>/root      root's home
 *     <dir>/snapshots/<snapshot>     a whole disk as it was when its vm stopped
 *
 * A sandbox has the same paths in each of its vms, so files that hold absolute
 * paths survive a restore. Taking an image is a rename, restoring a copy.
 * Touches nothing in `dir` beside `live` and `snapshots`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const COPY = process.platform === 'linux' ? ['-a', '--reflink=auto'] : ['-a'];

export class Disks {
  constructor(readonly dir: string) {}

  /** The disk of a sandbox's running vm. */
  live(name: string): string {
    return join(this.dir, 'live', name);
  }

  /** Empties what an earlier emulator left in the same place. */
  async clear(): Promise<void> {
    for (const part of ['live', 'snapshots']) {
      await rm(join(this.dir, part), { recursive: true, force: true });
      await mkdir(join(this.dir, part), { recursive: true });
    }
  }

  /** Lays out the disk of a new vm: empty, or as the snapshot has it. */
  async prepare(name: string, snapshotId: string | null): Promise<void> {
    const live = this.live(name);
    await rm(live, { recursive: true, force: true });
    if (snapshotId !== null) await copyTree(this.image(snapshotId), live);
    for (const part of ['sandbox', 'tmp', 'root']) await mkdir(join(live, part), { recursive: true });
  }

  /** Turns the disk of a stopped vm into an image. */
  async save(name: string, snapshotId: string): Promise<void> {
    await rename(this.live(name), this.image(snapshotId));
  }

  async discard(name: string): Promise<void> {
    await rm(this.live(name), { recursive: true, force: true });
  }

  async deleteImage(snapshotId: string): Promise<void> {
    await rm(this.image(snapshotId), { recursive: true, force: true });
  }

  private image(snapshotId: string): string {
    return join(this.dir, 'snapshots', snapshotId);
  }
}

async function copyTree(from: string, to: string): Promise<void> {
  const copier = spawn('cp', [...COPY, '--', from, to], { stdio: 'ignore' });
  const [code] = await once(copier, 'exit');
  if (code !== 0) throw new Error(`cp of a snapshot ended with ${code}`);
}
