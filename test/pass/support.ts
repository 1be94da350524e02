/** A pass's surroundings: both clouds over HTTP, a real SQLite file, any number of processes on it, and runs that only note. */
import { join } from 'node:path';
import { parseConfig } from '../../src/config/index.js';
import { type DevinCloud, startDevinCloud } from '../../src/emulator/devin/index.js';
import { startVercelCloud, type VercelCloud } from '../../src/emulator/vercel/index.js';
import { cloudEnvironment } from '../../src/emulator/world/environment.js';
import { assemble, type Base, openBase, type Parts } from '../../src/parts.js';
import { type PassReport, runPass } from '../../src/pass/pass.js';
import { type Clock, createClock } from '../../src/ports/clock.js';
import type { Runs } from '../../src/ports/runs.js';
import type { Store } from '../../src/ports/store.js';
import { rewriteFetch } from '../../src/sandbox/fetch.js';
import { onEnd, temporaryDirectory, until } from '../e2e/support.js';

export { onEnd, temporaryDirectory, until };

/** Runs that only note who was rung. */
export class NotedRuns implements Runs {
  readonly rung: string[] = [];
  readonly replaced: string[] = [];
  readonly dismissed: string[] = [];
  /** Whether the engine answers. */
  reachable = true;
  /** What becomes of the next rings. */
  answer: () => Promise<'rung' | 'started'> = async () => 'started';

  ring(id: string): Promise<'rung' | 'started'> {
    this.rung.push(id);
    return this.answer();
  }

  async answers(): Promise<boolean> {
    return this.reachable;
  }

  async dismiss(id: string): Promise<void> {
    this.dismissed.push(id);
    await this.answer();
  }

  async replace(id: string): Promise<void> {
    this.replaced.push(id);
  }
}

export interface PassWorld {
  readonly clock: Clock;
  readonly devin: DevinCloud;
  readonly vercel: VercelCloud;
  readonly lines: string[];
  /** What one more process would have; of one that is killed in the middle, nobody waits for the end. */
  process(change?: (store: Store) => Store, fate?: 'ends' | 'dies'): Promise<Process>;
}

export interface Process {
  readonly base: Base;
  readonly runs: NotedRuns;
  /** A pass that ends when told to, or after `windowMs`. */
  pass(windowMs?: number, deploymentId?: string): { readonly report: Promise<PassReport>; end(): void };
}

export async function openWorld({
  speed = 1,
  env = {},
}: {
  speed?: number;
  env?: Record<string, string>;
} = {}): Promise<PassWorld> {
  const dir = await temporaryDirectory();
  const started = Date.now();
  const clock = createClock({ speed, origin: { wall: started, clock: started } });
  const vercel = await startVercelCloud({ clock, dir: join(dir, 'vercel') });
  onEnd(() => vercel.close());
  const devin = await startDevinCloud({ clock });
  onEnd(() => devin.close());
  const parsed = parseConfig(
    {
      ...cloudEnvironment(devin, vercel),
      DATABASE_URL: `file:${join(dir, 'outposts.db')}`,
      CRON_SECRET: 'only-for-tests-0123456789',
      ...env,
    },
    { mode: 'server' },
  );
  if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
  const config = parsed.config as Base['config'];
  const lines: string[] = [];
  const sandboxFetch = rewriteFetch(vercel.url);
  return {
    clock,
    devin,
    vercel,
    lines,
    async process(change = (store) => store, fate = 'ends') {
      const opened = await openBase({ config, clock, sandboxFetch, log: (line) => lines.push(line) });
      onEnd(() => opened.store.close());
      const base = { ...opened, store: change(opened.store) };
      const parts: Parts = { ...(await assemble(opened)), store: base.store };
      const runs = new NotedRuns();
      return {
        base,
        runs,
        pass(windowMs = 20_000, deploymentId) {
          const over = new AbortController();
          const report = runPass({
            parts,
            runs,
            windowMs,
            signal: over.signal,
            ...(deploymentId === undefined ? {} : { deploymentId }),
          });
          report.catch(() => undefined);
          onEnd(async () => {
            over.abort();
            if (fate === 'ends') await report.catch(() => undefined);
          });
          return { report, end: () => over.abort() };
        },
      };
    },
  };
}

/** How often each acceptor has claimed the session, as Devin saw it. */
export const claimsOf = ({ devin }: Pick<PassWorld, 'devin'>, id: string): string[] =>
  devin
    .session(id)
    .events.filter(({ kind }) => kind === 'claimed' || kind === 'renewed')
    .map(({ kind }) => kind);
