/** The SDK's objects as the port's sights. Converts instants; decides nothing. */
import type { Sandbox, Session } from '@vercel/sandbox';
import type { SandboxSight } from '../ports/sandbox.js';
import type { RemoteClock } from '../remote-clock.js';
import { policyDigest } from './policy.js';
import type { SandboxSettings } from './settings.js';

/** One item of the SDK's list: metadata only, its vm's own times and policy are not in it. */
export type ListedSandbox = Awaited<ReturnType<typeof Sandbox.list>>['sandboxes'][number];

export function sightOf(sandbox: Sandbox, clock: RemoteClock): SandboxSight {
  const session = sandbox.currentSession();
  const { networkPolicy } = session;
  const { startedAt, expiresAt } = timesOf(session, clock);
  return {
    name: sandbox.name,
    vmId: session.sessionId,
    status: session.status,
    startedAt,
    expiresAt: session.status === 'running' ? expiresAt : null,
    changedAt: clock.toLocal((sandbox.statusUpdatedAt ?? session.updatedAt).getTime()),
    tags: sandbox.tags ?? {},
    snapshotId: sandbox.currentSnapshotId ?? null,
    saved: imageMade(session.sourceSnapshotId, sandbox.currentSnapshotId) !== null,
    policyDigest: networkPolicy === undefined ? null : policyDigest(networkPolicy),
  };
}

/** When the vm booted and when it stops by itself, both in our time. */
export function timesOf(session: Session, clock: RemoteClock): { startedAt: number; expiresAt: number } {
  const startedAt = (session.startedAt ?? session.createdAt).getTime();
  return { startedAt: clock.toLocal(startedAt), expiresAt: clock.toLocal(startedAt + session.timeout) };
}

/** A running sandbox changed its status last when it started. The policy in force is not in a list. */
export function listedSight(item: ListedSandbox, clock: RemoteClock): SandboxSight {
  const changedAt = clock.toLocal(item.statusUpdatedAt ?? item.updatedAt);
  return {
    name: item.name,
    vmId: item.currentSessionId,
    status: item.status,
    startedAt: changedAt,
    expiresAt:
      item.status === 'running' && item.expiresAt !== undefined ? clock.toLocal(item.expiresAt) : null,
    changedAt,
    tags: item.tags ?? {},
    snapshotId: item.currentSnapshotId ?? null,
    saved: null,
    policyDigest: null,
  };
}

/** Whether every tag of this installation is there. */
export function isOurs(
  tags: Readonly<Record<string, string>> | undefined,
  settings: SandboxSettings,
): boolean {
  return Object.entries(settings.tags).every(([key, value]) => tags?.[key] === value);
}

/** The newest image, unless it is still the one that the vm was booted from: then its own could not be made. */
export function imageMade(source: string | undefined, current: string | undefined): string | null {
  return current === undefined || current === source ? null : current;
}
