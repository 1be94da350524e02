/** The measurements as a text that a person reads, with the targets beside them. */
import type { DayReport } from '../test/deployed/day.js';
import type { HandTimes } from './hand.js';
import type { Latencies, Start } from './latency.js';
import type { Distance } from './rig.js';
import { median, type Rate, type Spread, spread } from './stats.js';
import type { Steady } from './steady.js';
import type { StoreSpeed } from './store.js';

export interface Results {
  readonly node: string;
  readonly cpus: number;
  /** Of the machine when the bench began. */
  readonly load: number;
  readonly writes: Readonly<Record<'sqlite' | 'postgres', StoreSpeed & { readonly transitions: Rate }>>;
  readonly near: Latencies;
  readonly far: Latencies & { readonly distance: Distance };
  readonly steady: readonly Steady[];
  readonly engine: DayReport;
}

export function describe({ node, cpus, load, writes, near, far, steady, engine }: Results): string {
  const { callMs, bootMs } = far.distance;
  return [
    `Node.js ${node}, ${cpus} cores, load ${load.toFixed(1)} at the start`,
    '',
    'Saved transitions per second, fsync on (share of a core that this process got)',
    ...Object.entries(writes).map(([name, speed]) => writesOf(name, speed)),
    '',
    'Milliseconds, real time, watch on                     p50    p95    max    n',
    row('queue -> claim, new (target p50 100)', near.news.map(claim)),
    row('queue -> claim, resume (target p50 100)', near.resumes.map(claim)),
    row('queue -> remote connected, new', near.news.map(connected)),
    row('queue -> remote connected, resume', near.resumes.map(connected)),
    row("remote's exit -> noticed (target 2000)", near.noticed),
    row("remote's exit -> vm stopped (target 1500)", near.exitToStop),
    row('terminated -> vm stopped (target 1500)', near.endToStop),
    '',
    'Claim -> remote connected',
    ...startOf('clouds on this machine', near),
    ...startOf(`Vercel ${callMs} ms away, ${bootMs} ms to boot`, far),
    '',
    `Claims of sessions that had ended: ${near.claimsOfEnded + far.claimsOfEnded}; vms booted for them: ${near.bootsOfEnded + far.bootsOfEnded} (target 0)`,
    '',
    'Calls per session-hour while nothing happens',
    ...steady.flatMap(callsOf),
    '',
    ...engineOf(engine),
  ].join('\n');
}

/** A loop that sleeps three seconds between its steps. */
const LOOP_EVENTS_PER_HOUR = 6_000;

function engineOf({ hours, steps, events, runs, mostEventsPerRun, workedMs, replayMs }: DayReport): string[] {
  const perHour = (count: number) => fixed(count / hours);
  const times = (LOOP_EVENTS_PER_HOUR / (events / hours)).toFixed(1);
  return [
    `Workflow engine, one session served for ${hours} hours in ${runs} runs`,
    `  an hour: ${perHour(steps)} steps, ${perHour(events)} events, 1/${times} of a loop that sleeps 3 s (target 1/15)`,
    `  events of the longest run: ${mostEventsPerRun} (limit of the engine 25000)`,
    `  function-seconds an hour: ${((workedMs.flow + workedMs.step) / 1_000 / hours).toFixed(1)}` +
      ` (steps ${(workedMs.step / 1_000 / hours).toFixed(1)}), beside the cron's 3420, which serve every session`,
    `  one replay: ${replayMs.early.toFixed(1)} ms in a run's first tenth, ${replayMs.late.toFixed(1)} ms in its last`,
  ];
}

const claim = (start: Start): number => start.claim;
const connected = (start: Start): number => start.claim + start.connect;

function writesOf(name: string, { saves, takes, transitions }: StoreSpeed & { transitions: Rate }): string {
  const of = ({ perSecond, core }: Rate) => `${perSecond} (${core.toFixed(2)})`;
  const target = name === 'sqlite' ? '   target 2000' : '';
  return `  ${name.padEnd(10)} saved ${of(saves)}   driven ${of(transitions)}   leases ${of(takes)}${target}`;
}

function startOf(where: string, { news, resumes, hand }: Latencies): string[] {
  const byHand = (part: keyof HandTimes) => median(hand.map((times) => times[part]));
  const compare = (
    name: string,
    starts: readonly Start[],
    boot: 'create' | 'resume',
    script: 'script' | 'scriptAgain',
    remote: 'remote' | 'remoteAgain',
  ) => {
    const took = median(starts.map((start) => start.connect));
    const own = byHand(script) + byHand(remote);
    const least = byHand(boot) + byHand('command');
    return [
      `    ${name}: ${fixed(took)} ms, of which the remote's own start ${fixed(own)}` +
        ` (script ${fixed(byHand(script))}, Node.js ${fixed(byHand(remote))})`,
      `      the rest is ${((took - own) / least).toFixed(2)} times one ${boot} (${fixed(byHand(boot))})` +
        ` and one command (${fixed(byHand('command'))}) (target 1.2);` +
        ` the whole is ${(took / (least + own)).toFixed(2)} times the same by hand`,
    ];
  };
  return [
    `  ${where}`,
    ...compare('new', news, 'create', 'script', 'remote'),
    ...compare('resume', resumes, 'resume', 'scriptAgain', 'remoteAgain'),
  ];
}

function callsOf(one: Steady): string[] {
  const sandbox = one.sandboxPerSessionHour + one.waitsPerSessionHour;
  const targets = one.sessions === 10 ? 'targets 150 and 90' : 'target 30 fleet calls';
  const counts = (all: Readonly<Record<string, number>>) =>
    Object.entries(all)
      .map(([name, count]) => `${name} ${fixed(count)}`)
      .join(', ');
  return [
    `  ${one.sessions} sessions: ${fixed(one.fleetPerSessionHour)} fleet calls, ${fixed(sandbox)} sandbox calls (${targets})`,
    `    an hour of all: ${counts(one.fleet)}; ${counts(one.sandbox)}; and ${fixed(one.waitsPerSessionHour)} waits a session`,
  ];
}

const fixed = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 1 : 0);

function row(name: string, values: readonly number[]): string {
  const { n, p50, p95, max }: Spread = spread(values);
  const numbers = [p50, p95, max].map((value) => fixed(value).padStart(6)).join(' ');
  return `  ${name.padEnd(48)} ${numbers} ${String(n).padStart(4)}`;
}
