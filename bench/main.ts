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
import { type Latencies, measureLatencies } from './latency.js';
import { median, type Spread, spread } from './stats.js';
import { measureSteady, type Steady } from './steady.js';
import { benchStore, type StoreSpeed } from './store.js';
import { benchTransitions } from './transitions.js';

const { values: asked } = parseArgs({ options: { json: { type: 'boolean' }, quick: { type: 'boolean' } } });
const quick = asked.quick ?? false;
const load = loadavg()[0] ?? 0;
const say = (text: string) => {
  if (!asked.json) console.log(text);
};
if (load > cpus().length / 2) {
  console.error(`The load of this machine is ${load.toFixed(1)}: the times below are too long.`);
}

const writes = { sqlite: await sqlite(), postgres: await postgres() };
say('Saved transitions per second, fsync on\n');
say(
  `  SQLite      ${writes.sqlite.savesPerSecond} saves, ${writes.sqlite.transitions} through drive (target 2000)`,
);
say(`  PostgreSQL  ${writes.postgres.savesPerSecond} saves, ${writes.postgres.transitions} through drive\n`);

const latencies = await measureLatencies(
  quick ? { news: 6, resumes: 3, byHand: 3, ends: 2 } : { news: 30, resumes: 20, byHand: 10, ends: 10 },
);
sayLatencies(latencies);

const steady = [await measureSteady(10, quick ? 0.25 : 1), await measureSteady(50, quick ? 0.05 : 0.25)];
say('Calls per session-hour while nothing happens\n');
for (const one of steady) saySteady(one);

if (asked.json) {
  console.log(JSON.stringify({ node: process.version, load, writes, latencies, steady }, null, 2));
}
process.exit(0);

async function sqlite(): Promise<StoreSpeed & { transitions: number }> {
  const directory = mkdtempSync(join(tmpdir(), 'outposts-bench-'));
  try {
    const url = (name: string) => `file:${join(directory, name)}`;
    return { ...(await benchStore(url('saves.db'))), transitions: await benchTransitions(url('drive.db')) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function postgres(): Promise<StoreSpeed & { transitions: number }> {
  const server = await startPostgres({ durable: true });
  try {
    return { ...(await benchStore(server.url)), transitions: await benchTransitions(server.url) };
  } finally {
    await server.close();
  }
}

function sayLatencies({ news, resumes, hand, noticed, exitToStop, endToStop, ...rest }: Latencies): void {
  const byHand = (part: keyof (typeof hand)[number]) => median(hand.map((times) => times[part]));
  const start = byHand('create') + byHand('launch') + byHand('script') + byHand('remote');
  const again = byHand('resume') + byHand('launch') + byHand('scriptAgain') + byHand('remoteAgain');
  const connect = median(news.map((life) => life.connect));
  const reconnect = median(resumes.map((life) => life.connect));
  say('Times in milliseconds, real time, watch on\n');
  say(row('queue → claim, new', spread(news.map((life) => life.claim)), 'target p50 100'));
  say(row('queue → claim, resume', spread(resumes.map((life) => life.claim)), 'target p50 100'));
  say(row('queue → connected, new', spread(news.map((life) => life.claim + life.connect))));
  say(row('claim → connected, new', spread(news.map((life) => life.connect))));
  say(row('claim → connected, resume', spread(resumes.map((life) => life.connect))));
  say(row("remote's exit → noticed", spread(noticed), 'target 2000'));
  say(row("remote's exit → vm stopped", spread(exitToStop), 'target 1500'));
  say(row('terminated → vm stopped', spread(endToStop), 'target 1500'));
  say('');
  say(
    `  By hand, without an orchestrator: create ${fixed(byHand('create'))}, launch command ${fixed(byHand('launch'))},`,
  );
  say(
    `  its script ${fixed(byHand('script'))}, the remote's own start ${fixed(byHand('remote'))}: ${fixed(start)} in all.`,
  );
  say(
    `  claim → connected is ${(connect / start).toFixed(2)} times that (target 1.2); a resume ${(reconnect / again).toFixed(2)} times.`,
  );
  say(
    `  Claims of sessions that had ended: ${rest.claimsOfEnded}. Vms booted for them: ${rest.bootsOfEnded}.\n`,
  );
}

function saySteady(one: Steady): void {
  const sandbox = one.sandboxPerSessionHour + one.waitsPerSessionHour;
  const targets = one.sessions === 10 ? ' (targets 150 and 90)' : ' (target 30 fleet calls)';
  say(
    `  ${one.sessions} sessions: ${fixed(one.fleetPerSessionHour)} fleet calls, ${fixed(sandbox)} sandbox calls${targets}`,
  );
  say(
    `     fleet ${counts(one.fleet)}; sandbox ${counts(one.sandbox)}, waits ${fixed(one.waitsPerSessionHour)} a session\n`,
  );
}

function fixed(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}

function counts(all: Readonly<Record<string, number>>): string {
  return Object.entries(all)
    .map(([name, count]) => `${name} ${fixed(count)}`)
    .join(', ');
}

function row(name: string, { n, p50, p95, max }: Spread, target = ''): string {
  const numbers = [p50, p95, max].map((value) => fixed(value).padStart(6)).join(' ');
  return `  ${name.padEnd(28)} p50, p95, max ${numbers}   n ${String(n).padStart(2)}   ${target}`.trimEnd();
}
