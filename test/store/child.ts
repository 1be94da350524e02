/** Runs child-main.ts: another process that uses the same database. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('child-main.ts', import.meta.url));
const WITHOUT_LIBSQL = new URL('without-libsql.mjs', import.meta.url).href;

/** What the child printed, in lines, once it has ended well. */
export async function runChild(...args: string[]): Promise<string[]> {
  return linesOf(startChild(...args));
}

/** The same where SQLite's package cannot be found. */
export function runChildWithoutSqlite(...args: string[]): Promise<string[]> {
  return linesOf(spawnChild(['--import', WITHOUT_LIBSQL], args));
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the child ended with ${code}`);
  return text.split('\n').filter((line) => line !== '');
}

export function startChild(...args: string[]): ChildProcess {
  return spawnChild([], args);
}

function spawnChild(flags: readonly string[], args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', ...flags, MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
