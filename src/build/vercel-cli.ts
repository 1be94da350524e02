/**
 * The Vercel CLI for builds on this machine.
 *
 * Has a lock file of its own in `vercel-cli/`: it is some two hundred megabytes
 * that no deployment needs. Installed when it is first asked for, and again
 * when the lock changes; its packages' install scripts do not run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './lock.js';

const home = fileURLToPath(new URL('./vercel-cli', import.meta.url));
/** The lock file that the installed packages are of; written last. */
const installed = join(home, 'node_modules/.installed-lock.json');

/** Path of the CLI's program. `log` hears of what takes long. Rejects when it cannot be installed. */
export async function vercelCli(log: (line: string) => void): Promise<string> {
  await exclusively(
    join(home, '../../../.outposts/vercel-cli.lock'),
    async () => {
      const lock = await readFile(join(home, 'package-lock.json'), 'utf8');
      if ((await readFile(installed, 'utf8').catch(() => null)) === lock) return;
      log('installing the Vercel CLI, once: about 200 MB');
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
