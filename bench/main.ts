/**
 * `npm run bench`: what the embedded world shows of latency, calls and writes.
 *
 *     npm run bench [-- --json] [-- --quick]
 *
 * Prints; asserts nothing. `bench/README.md` says what each number means.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/support/postgres.js';
import { measureEngine } from './engine.js';
import { type LatencyOptions, measureLatencies } from './latency.js';
import { describe, type Results } from './print.js';
import { measureSteady } from './steady.js';
import { benchStore } from './store.js';
import { benchTransitions } from './transitions.js';

const { values: asked } = parseArgs({ options: { json: { type: 'boolean' }, quick: { type: 'boolean' } } });
const quick = asked.quick ?? false;
const load = loadavg()[0] ?? 0;
if (load > cpus().length / 2) {
  console.error(`The load of this machine is ${load.toFixed(1)}: what follows is slower than it has to be.`);
}
const near: LatencyOptions = quick
  ? { news: 6, resumes: 3, byHand: 3, ends: 2 }
  : { news: 30, resumes: 20, byHand: 10, ends: 10 };
const far: LatencyOptions = quick
  ? { news: 2, resumes: 2, byHand: 2, ends: 0 }
  : { news: 8, resumes: 8, byHand: 4, ends: 0 };
const distance = { callMs: 40, bootMs: 500 };

const results: Results = {
  node: process.version,
  cpus: cpus().length,
  load,
  writes: { sqlite: await sqlite(), postgres: await postgres() },
  near: await measureLatencies(near),
  far: { ...(await measureLatencies(far, distance)), distance },
  steady: [await measureSteady(10, quick ? 0.25 : 1), await measureSteady(50, quick ? 0.05 : 0.25)],
  engine: await measureEngine(quick ? 0.5 : 4),
};
console.log(asked.json ? JSON.stringify(results, null, 2) : describe(results));
// The SDK keeps connections open for a while.
process.exit(0);

async function sqlite() {
  const directory = mkdtempSync(join(tmpdir(), 'outposts-bench-'));
  try {
    return await writes((name) => `file:${join(directory, name)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function postgres() {
  const server = await startPostgres({ durable: true });
  try {
    return await writes(() => server.url);
  } finally {
    await server.close();
  }
}

async function writes(urlOf: (name: string) => string): Promise<Results['writes']['sqlite']> {
  return {
    ...(await benchStore(urlOf('saves.db'))),
    transitions: await benchTransitions(urlOf('drive.db')),
  };
}
