/**
 * How long a person waits: real time, one session after the other, watch on.
 *
 * A session is new, asleep, resumed and over; the orchestrator, both clouds and
 * the remotes share this machine. Work by hand is measured in between.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createClock } from '../src/ports/clock.js';
import { endToStop } from './ends.js';
import { type HandTimes, serveByHand } from './hand.js';
import { type Distance, type Rig, sandboxOf, startRig } from './rig.js';

export interface LatencyOptions {
  readonly news: number;
  readonly resumes: number;
  readonly byHand: number;
  /** Sessions that Devin's cloud ends while their remote lives on. */
  readonly ends: number;
}

/** Milliseconds, one per life. */
export interface Start {
  readonly claim: number;
  readonly connect: number;
}
export interface Latencies {
  readonly news: readonly Start[];
  readonly resumes: readonly Start[];
  readonly hand: readonly HandTimes[];
  /** From a remote's exit (its stream to the gateway closes) to the transition that its look caused. */
  readonly noticed: readonly number[];
  /** From a remote's exit with 0 to its vm being stopped, disk saved. */
  readonly exitToStop: readonly number[];
  /** From `terminated` in Devin's cloud, while the remote still lives, to its vm being stopped. */
  readonly endToStop: readonly number[];
  /** Claims that were made of sessions that had ended. */
  readonly claimsOfEnded: number;
  /** Vms that were booted for sessions that had ended. */
  readonly bootsOfEnded: number;
}

/** A session is resumed so many turns later: Devin's final status lags an exit by seconds. */
const ASLEEP_TURNS = 3;

export async function measureLatencies(options: LatencyOptions, distance?: Distance): Promise<Latencies> {
  const rig = await startRig(createClock(), distance);
  try {
    return await measure(rig, options);
  } finally {
    await rig.close();
  }
}

async function measure(rig: Rig, options: LatencyOptions): Promise<Latencies> {
  const { devin } = rig;
  const noticed: number[] = [];
  const exitToStop: number[] = [];
  const hand: HandTimes[] = [];
  const news: Start[] = [];
  const resumes: Start[] = [];
  const note = (ended: { noticed: number; stopped: number }) => {
    noticed.push(ended.noticed);
    exitToStop.push(ended.stopped);
  };
  const ids = Array.from({ length: options.news }, (_, index) => `devin-bench-${index}`);

  // The first of everything loads code and opens connections; it is not counted.
  await life(rig, 'devin-warm', () => devin.startSession({ id: 'devin-warm' }));
  await exit(rig, 'devin-warm', 'sleep');
  await serveByHand(rig, -1);

  // Everything takes turns, so that whatever else the machine does meanwhile slows all of it down alike.
  const newsPerHand = Math.ceil(options.news / options.byHand);
  for (let turn = 0; turn < options.news + ASLEEP_TURNS; turn += 1) {
    const id = ids[turn];
    if (id !== undefined) {
      news.push(await life(rig, id, () => devin.startSession({ id })));
      note(await exit(rig, id, 'sleep'));
      if (turn % newsPerHand === 0) hand.push(await serveByHand(rig, turn));
    }
    const asleep = ids[turn - ASLEEP_TURNS];
    if (asleep === undefined || resumes.length === options.resumes) continue;
    await devin.until(asleep, ({ status, phase }) => status === 'suspended' && phase !== 'claimed');
    resumes.push(await life(rig, asleep, () => devin.resume(asleep)));
    note(await exit(rig, asleep, 'end'));
  }
  const ends = await endToStop(rig, options.ends);
  return {
    news,
    resumes,
    hand,
    noticed,
    exitToStop,
    endToStop: ends,
    claimsOfEnded: devin.sessions().flatMap(({ claims }) => claims.filter(({ ofEnded }) => ofEnded)).length,
    bootsOfEnded: bootsOfEnded(rig),
  };
}

/** From the row's appearance to claim and connection; returns once the orchestrator has seen all well. */
async function life(rig: Rig, id: string, begin: () => unknown): Promise<Start> {
  const queued = rig.event(id, ({ kind }) => kind === 'queued');
  const claimed = rig.event(id, ({ kind }) => kind === 'claimed');
  const connected = rig.event(id, ({ kind }) => kind === 'connected');
  const served = rig.transition(id, ({ to }) => to === 'serving.monitoring');
  // Anywhere between two looks of the dispatcher.
  await pause(Math.random() * 200);
  begin();
  const times = await Promise.all([queued, claimed, connected]);
  await served;
  const [queuedAt, claimedAt, connectedAt] = times.map(({ at }) => at) as [number, number, number];
  return { claim: claimedAt - queuedAt, connect: connectedAt - claimedAt };
}

/** From the remote's exit to the orchestrator's notice, and to the vm's stop. */
async function exit(
  rig: Rig,
  id: string,
  how: 'sleep' | 'end',
): Promise<{ noticed: number; stopped: number }> {
  const gone = rig.event(id, ({ kind }) => kind === 'disconnected');
  const seen = rig.transition(id, ({ to }) => to.startsWith('snapshotting'));
  const stopped = rig.transition(
    id,
    ({ from, to }) => from.startsWith('snapshotting') && to.startsWith('released'),
  );
  if (how === 'sleep') rig.devin.suspend(id);
  else rig.devin.end(id);
  const [{ at: goneAt }, { at: seenAt }] = await Promise.all([gone, seen, stopped]);
  const vms = rig.vercel.sandboxes().find(({ name }) => name === sandboxOf(id))?.vms ?? [];
  const stoppedAt = vms.at(-1)?.endedAt ?? null;
  if (stoppedAt === null) throw new Error(`${id}: its vm did not stop`);
  return { noticed: seenAt - goneAt, stopped: stoppedAt - goneAt };
}

/** Vms of a session that began while Devin's cloud called it ended. */
function bootsOfEnded({ devin, vercel }: Rig): number {
  const boots = new Map(
    [...vercel.sandboxes(), ...vercel.removed()].map(({ name, vms }) => [
      name,
      vms.flatMap(({ startedAt }) => startedAt ?? []),
    ]),
  );
  return devin.sessions().reduce((sum, { id, events }) => {
    const statusAt = (at: number) =>
      events.filter((event) => event.kind === 'status' && event.at < at).at(-1)?.text;
    const ended = ['suspended', 'terminated', 'exit', 'error'];
    return sum + (boots.get(sandboxOf(id)) ?? []).filter((at) => ended.includes(statusAt(at) ?? '')).length;
  }, 0);
}
