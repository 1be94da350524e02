/**
 * The Vercel CLI for builds on this machine.
 *
 * Has a lock file of its own in `vercel-cli/`: it is some two hundred megabytes
 * that no deployment needs. Installed beside the sources when it is first asked
 * for, and again when the lock changes; no install script runs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './lock.js';

const wanted = fileURLToPath(new URL('./vercel-cli', import.meta.url));
const home = fileURLToPath(new URL('../../.outposts/vercel-cli', import.meta.url));
/** The lock file that the installed packages are of; written last. */
const installed = join(home, 'installed-lock.json');

/** Path of the CLI's program. `log` hears of what takes long. Rejects when it cannot be installed. */
export async function vercelCli(log: (line: string) => void): Promise<string> {
  await exclusively(
    `${home}.lock`,
    async () => {
      const lock = await readFile(join(wanted, 'package-lock.json'), 'utf8');
      if ((await readFile(installed, 'utf8').catch(() => null)) === lock) return;
      log('installing the Vercel CLI, once: about 200 MB');
      await rm(home, { recursive: true, force: true });
      await cp(wanted, home, { recursive: true });
      await install();
      await writeFile(installed, lock);
    },
    (holder) => log(`waiting for process ${holder}, which installs the Vercel CLI`),
  );
  return join(home, 'node_modules/vercel/dist/vc.js');
}

async function install(): Promise<void> {
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', home], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000);
  });
  const [code] = await once(npm, 'close');
  if (code !== 0)
    throw new Error(`the Vercel CLI could not be installed: npm ci ended with ${code}\n${said}`);
}
