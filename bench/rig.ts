/**
 * Both emulated clouds and one orchestrator in this process, on a given clock,
 * with everything that a measurement needs to hear of.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrchestrator, type Orchestrator, withAccounts } from '../src/compose.js';
import { parseConfig } from '../src/config/index.js';
import { type DevinCloud, type SessionView, startDevinCloud } from '../src/emulator/devin/index.js';
import { startVercelCloud, type VercelCloud } from '../src/emulator/vercel/index.js';
import { cloudEnvironment } from '../src/emulator/world/environment.js';
import type { Clock } from '../src/ports/clock.js';
import type { Transition } from '../src/runtime/drive.js';
import { rewriteFetch, sandboxName } from '../src/sandbox/index.js';

export type DevinEvent = SessionView['events'][number];

export interface Rig {
  readonly clock: Clock;
  readonly devin: DevinCloud;
  readonly vercel: VercelCloud;
  readonly orchestrator: Orchestrator;
  /** The `fetch` that takes the SDK to the emulator. */
  readonly sandboxFetch: typeof fetch;
  readonly log: readonly string[];
  /** Resolves with the session's next event in Devin's cloud that `holds`. */
  event(id: string, holds: (event: DevinEvent) => boolean): Promise<DevinEvent>;
  /** Resolves with the session's next transition that `holds`. */
  transition(id: string, holds: (transition: Transition) => boolean): Promise<Transition>;
  close(): Promise<void>;
}

/** How long one awaited thing may take by the wall. */
const PATIENCE_MS = 60_000;
const ALWAYS = 1_000_000;

/** How far away Vercel is, milliseconds: 0 and 0 unless told. */
export interface Distance {
  /** Every call to the Sandbox API takes this much longer. */
  readonly callMs: number;
  /** A vm takes this long to boot. */
  readonly bootMs: number;
}

export async function startRig(
  clock: Clock,
  { callMs, bootMs }: Distance = { callMs: 0, bootMs: 0 },
): Promise<Rig> {
  const dir = await mkdtemp(join(tmpdir(), 'outposts-bench-'));
  const vercel = await startVercelCloud({ clock, dir: join(dir, 'vercel'), bootMs });
  if (callMs > 0) vercel.faults.add({ operation: 'any', times: ALWAYS, kind: { delayMs: callMs } });
  const devin = await startDevinCloud({ clock });
  const sandboxFetch = rewriteFetch(vercel.url);
  const parsed = parseConfig(
    {
      ...cloudEnvironment(devin, vercel),
      DATABASE_URL: `file:${join(dir, 'outposts.db')}`,
      MAX_CONCURRENT: '100',
    },
    { mode: 'local' },
  );
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));

  const log: string[] = [];
  const events = new Hearing<DevinEvent>();
  const transitions = new Hearing<Transition>();
  devin.on((event, id) => events.tell(id, event));
  const orchestrator = await createOrchestrator({
    config: withAccounts(parsed.config, null),
    clock,
    speed: 1,
    sandboxFetch,
    log: (line) => log.push(line),
    onTransition: (transition) => transitions.tell(transition.id, transition),
  });
  await orchestrator.start();
  return {
    clock,
    devin,
    vercel,
    orchestrator,
    sandboxFetch,
    log,
    event: (id, holds) => events.next(id, holds),
    transition: (id, holds) => transitions.next(id, holds),
    async close() {
      await orchestrator.stop();
      await vercel.close();
      await devin.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The sandbox that the orchestrator keeps for a session. */
export const sandboxOf = (sessionId: string): string => sandboxName('devin', sessionId);

/** Whoever waits for something to be said of a session. */
class Hearing<T> {
  readonly #waiting = new Set<(id: string, said: T) => void>();

  tell(id: string, said: T): void {
    for (const wait of [...this.#waiting]) wait(id, said);
  }

  next(id: string, holds: (said: T) => boolean): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(hear);
      };
      const hear = (of: string, said: T) => {
        if (of !== id || !holds(said)) return;
        end();
        resolve(said);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`${id}: what was awaited did not come within ${PATIENCE_MS / 1_000} s`));
      }, PATIENCE_MS);
      this.#waiting.add(hear);
    });
  }
}
