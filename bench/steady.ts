/**
 * What serving costs in calls while nothing happens: an hour of the clock, with
 * a number of sessions whose remotes are connected and idle.
 *
 * Counts what arrives at the emulators. The waits on supervisors are held by
 * wall time and so do not come round in an hour that takes seconds; how often
 * they would is computed from how long one lasts and added.
 */
import { AGAIN_MS } from '../src/dispatch/exit-watch.js';
import { WAIT_SECONDS } from '../src/sandbox/sight.js';
import { createIdleClock } from './idle-clock.js';
import { startRig } from './rig.js';

const HOUR_MS = 3_600_000;

export interface Steady {
  readonly sessions: number;
  /** Calls of the whole fleet in the hour, by operation. */
  readonly fleet: Readonly<Record<string, number>>;
  readonly sandbox: Readonly<Record<string, number>>;
  readonly fleetPerSessionHour: number;
  /** As counted, without waits. */
  readonly sandboxPerSessionHour: number;
  /** Waits that would have been taken up again, by computation. */
  readonly waitsPerSessionHour: number;
  /** How long the hour took by the wall, milliseconds. */
  readonly tookMs: number;
}

export async function measureSteady(sessions: number, hours = 1): Promise<Steady> {
  const clock = createIdleClock();
  const rig = await startRig(clock);
  try {
    const { devin, vercel } = rig;
    const ids = Array.from({ length: sessions }, (_, index) => `devin-idle-${index}`);
    for (const id of ids) {
      const served = rig.transition(id, ({ to }) => to === 'serving.monitoring');
      devin.startSession({ id });
      await served;
    }
    devin.calls.reset();
    vercel.calls.reset();
    const beganAt = performance.now();
    await clock.pass(hours * HOUR_MS);
    const tookMs = performance.now() - beganAt;
    const fleet = perHour(
      Object.entries(devin.calls.table()).filter(([key]) => FLEET.has(key)),
      hours,
    );
    const { commandWait = 0, ...asked } = vercel.calls.byOperation();
    if (commandWait > sessions) throw new Error('waits came round although the hour was short');
    const sandbox = perHour(Object.entries(asked), hours);
    const alive = ids.filter((id) => devin.session(id).remotes.now === 1).length;
    if (alive !== sessions)
      throw new Error(`${sessions - alive} of ${sessions} remotes did not outlive the hour`);
    return {
      sessions,
      fleet,
      sandbox,
      fleetPerSessionHour: sum(fleet) / sessions,
      sandboxPerSessionHour: sum(sandbox) / sessions,
      waitsPerSessionHour: HOUR_MS / (WAIT_SECONDS * 1_000 + AGAIN_MS),
      tookMs,
    };
  } finally {
    await rig.close();
  }
}

const FLEET = new Set(['list', 'read', 'claim', 'release', 'watch', 'outposts']);

const perHour = (counts: readonly [string, number][], hours: number): Record<string, number> =>
  Object.fromEntries(counts.map(([name, count]) => [name, count / hours]));
const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);
