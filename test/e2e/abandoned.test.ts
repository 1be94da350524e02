import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startChild } from './child.js';
import { temporaryDirectory } from './support.js';

/** Processes whose environment names the directory. */
function processesOf(dir: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`VERCEL_EMULATOR_DIR=${dir}`);
    } catch {
      return false;
    }
  });
}

test('an embedded world is killed -> the next start ends its processes and removes its files, and a living one keeps both', async () => {
  const TMPDIR = await temporaryDirectory();
  const worlds = () => readdirSync(TMPDIR).filter((name) => name.startsWith('outposts-world-'));
  const start = () => startChild(null, null, { args: ['--sessions', '2', '--speed', '1'], env: { TMPDIR } });

  const killed = await start();
  await killed.up();
  await killed.line('a session is served', ({ session }) => session?.state.startsWith('serving') === true);
  const [left = ''] = worlds();
  killed.signal('SIGKILL');
  await killed.ended();
  expect(processesOf(`${TMPDIR}/${left}`)).not.toEqual([]);

  const second = await start();
  await second.up();
  expect(processesOf(`${TMPDIR}/${left}`)).toEqual([]);
  expect(worlds()).toHaveLength(1);
  expect(worlds()).not.toContain(left);

  const third = await start();
  await third.up();
  expect(worlds()).toHaveLength(2);
  for (const child of [second, third]) {
    child.signal('SIGINT');
    expect(await child.ended()).toBe(0);
  }
  expect(worlds()).toEqual([]);
});
