/**
 * How long a vm lives: extended to an instant, stopped, removed.
 *
 * Never wakes anything. Repeating any of it is safe: what was done already is
 * seen by reading first, and a repeated extension only ever gives more time.
 */
import type { Sandbox, Session } from '@vercel/sandbox';
import type { SandboxHost, StopAnswer, VmRef } from '../ports/sandbox.js';
import type { Cloud } from './cloud.js';
import { GoneError, PlanLimitError, TimedOutError } from './failures.js';
import type { Workshop } from './settings.js';
import { imageMade, timesOf } from './sights.js';

/** The least that the API adds. */
const LEAST_EXTENSION_MS = 1_000;
/** Stopping saves the disk, which may take longer than an effect may last. */
const STOP_TIMEOUT_MS = 12_000;

type ExtendAnswer = Awaited<ReturnType<SandboxHost['extendTo']>>;

export async function extendVm(
  { cloud, remoteClock, settings }: Workshop,
  vm: VmRef,
  untilAt: number,
  fence: () => Promise<void>,
  signal: AbortSignal,
): Promise<ExtendAnswer> {
  const session = await runningSession(cloud, vm, signal);
  if (session === null) return { kind: 'vmGone' };
  const { startedAt, expiresAt } = timesOf(session, remoteClock);
  const limitAt = startedAt + settings.maxLifetimeMs;
  const kind = untilAt > limitAt ? 'limited' : 'extended';
  const missingMs = Math.ceil(Math.min(untilAt, limitAt) - expiresAt);
  if (missingMs <= 0 || (kind === 'limited' && missingMs < LEAST_EXTENSION_MS)) return { kind, expiresAt };
  await fence();
  try {
    const extended = await cloud.learning(
      () =>
        cloud.onVm(vm, 'extend the vm', signal, async (current, bounded) => {
          await current.extendTimeout(Math.max(LEAST_EXTENSION_MS, missingMs), { signal: bounded });
          return current;
        }),
      (current) => current.updatedAt.getTime(),
    );
    return { kind, expiresAt: timesOf(extended, remoteClock).expiresAt };
  } catch (error) {
    if (error instanceof GoneError) return { kind: 'vmGone' };
    if (!(error instanceof PlanLimitError)) throw error;
    // The plan allows less, or the SDK's second try met what its first, unanswered one had reached.
    const current = await runningSession(cloud, vm, signal);
    if (current === null) return { kind: 'vmGone' };
    const reachedAt = timesOf(current, remoteClock).expiresAt;
    return { kind: reachedAt >= untilAt ? 'extended' : 'limited', expiresAt: reachedAt };
  }
}

export async function stopVm(
  cloud: Cloud,
  vm: VmRef,
  signal: AbortSignal,
  timeoutMs = STOP_TIMEOUT_MS,
): Promise<StopAnswer> {
  try {
    const stop = (session: Session, bounded: AbortSignal) => session.stop({ signal: bounded });
    const { session, sandbox, snapshot } = await cloud.onVm(vm, 'stop the vm', signal, stop, timeoutMs);
    if (!isOver(session.status)) return { kind: 'stopping' };
    if (snapshot) return { kind: 'stopped', snapshotId: snapshot.status === 'created' ? snapshot.id : null };
    return { kind: 'stopped', snapshotId: imageMade(session.sourceSnapshotId, sandbox?.currentSnapshotId) };
  } catch (error) {
    if (error instanceof TimedOutError) return { kind: 'stopping' };
    if (!(error instanceof GoneError)) throw error;
  }
  const sandbox = await cloud.read(vm.name, signal);
  if (sandbox === null) return { kind: 'stopped', snapshotId: null };
  const session = sandbox.currentSession();
  // Another vm has been booted since: from the disk that this one left.
  if (session.sessionId !== vm.vmId)
    return { kind: 'stopped', snapshotId: sandbox.currentSnapshotId ?? null };
  if (!isOver(session.status)) return { kind: 'stopping' };
  return { kind: 'stopped', snapshotId: imageMade(session.sourceSnapshotId, sandbox.currentSnapshotId) };
}

/** Deletes a sandbox with its snapshots; one that is gone counts as deleted. */
export async function removeSandbox(cloud: Cloud, sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  try {
    await cloud.call(`delete sandbox ${sandbox.name}`, signal, (_, bounded) =>
      sandbox.delete({ deleteOrphanSnapshots: true, signal: bounded }),
    );
  } catch (error) {
    if (!(error instanceof GoneError && error.reason === 'notFound')) throw error;
  }
}

async function runningSession(cloud: Cloud, vm: VmRef, signal: AbortSignal): Promise<Session | null> {
  const session = (await cloud.read(vm.name, signal))?.currentSession();
  return session?.sessionId === vm.vmId && session.status === 'running' ? session : null;
}

function isOver(status: string): boolean {
  return status === 'stopped' || status === 'failed' || status === 'aborted';
}
