/**
 * What the cloud knows: sandboxes, their vms, commands and snapshots.
 *
 * Plain records that the modules beside this one change. Instants are
 * milliseconds of the given clock, without skew; answers.ts adds the skew.
 */
import type { Clock } from '../../ports/clock.js';
import { notFound } from './api-error.js';
import type { Command } from './command.js';
import type { Disks } from './disks.js';
import type { PolicyAnswer } from './policy.js';

export type VmStatus = 'pending' | 'running' | 'stopping' | 'snapshotting' | 'stopped' | 'failed' | 'aborted';

export interface Plan {
  /** The longest a vm may live, milliseconds. */
  readonly maxLifetimeMs: number;
  readonly maxConcurrent: number;
  readonly maxVcpus: number;
}

interface KeepLast {
  readonly count: number;
  readonly expiration?: number | undefined;
  readonly deleteEvicted?: boolean | undefined;
}

export interface Snapshot {
  readonly id: string;
  readonly sandboxName: string;
  readonly sourceVmId: string;
  readonly createdAt: number;
  readonly parentId: string | null;
  readonly method: 'auto' | 'manual';
  /** Lifetime counted from the last use; null = for ever. */
  lifetimeMs: number | null;
  lastUsedAt: number | null;
  updatedAt: number;
  deleted: boolean;
}

export interface Vm {
  readonly id: string;
  readonly sandboxName: string;
  readonly vcpus: number;
  readonly sourceSnapshotId: string | null;
  readonly requestedAt: number;
  readonly commands: Map<string, Command>;
  /** Aborted when the vm starts to end: its timers go with it. */
  readonly over: AbortController;
  status: VmStatus;
  timeoutMs: number;
  policy: PolicyAnswer;
  updatedAt: number;
  startedAt: number | null;
  requestedStopAt: number | null;
  snapshottedAt: number | null;
  endedAt: number | null;
  /** The image made when it ended. */
  snapshotId: string | null;
  /** Settles when the boot is over, well or not. */
  booted: Promise<void>;
  /** Settles when a stop is over; null while none was asked for. */
  stopping: Promise<void> | null;
}

export interface Sandbox {
  readonly name: string;
  readonly createdAt: number;
  readonly runtime: string | null;
  readonly image: string | null;
  readonly env: Readonly<Record<string, string>>;
  /** Oldest first; the last is the current one. */
  readonly vms: Vm[];
  persistent: boolean;
  vcpus: number;
  timeoutMs: number;
  policy: PolicyAnswer;
  tags: Readonly<Record<string, string>>;
  ports: readonly number[];
  snapshotExpirationMs: number | null;
  keepLast: KeepLast | null;
  currentSnapshotId: string | null;
  updatedAt: number;
  statusUpdatedAt: number;
  /** How many of its next snapshots fail (a switch for tests). */
  brokenSnapshots: number;
  /** Whether two of its vms were ever alive at once. */
  overlapped: boolean;
  deleting: boolean;
  /** Disk and process work of this sandbox, one after the other. */
  work: Promise<void>;
}

export interface CloudState {
  readonly clock: Clock;
  readonly plan: Plan;
  /** How far the API's clock is ahead of the given one. */
  readonly skewMs: number;
  readonly bootMs: number;
  readonly stopMs: number;
  readonly snapshotMs: number;
  readonly defaultSnapshotExpirationMs: number;
  readonly projectId: string;
  readonly disks: Disks;
  readonly sandboxes: Map<string, Sandbox>;
  /** Deleted sandboxes, for the views. */
  readonly removed: Sandbox[];
  readonly snapshots: Map<string, Snapshot>;
  /** Aborted by close(). */
  readonly closing: AbortSignal;
}

export function sandboxOf(state: CloudState, name: string): Sandbox {
  const sandbox = state.sandboxes.get(name);
  if (!sandbox) throw notFound(`Sandbox ${name}`);
  return sandbox;
}

/** The vm with its sandbox; 404 when no sandbox of this cloud ever booted it. */
export function vmOf(state: CloudState, vmId: string): { sandbox: Sandbox; vm: Vm } {
  for (const sandbox of state.sandboxes.values()) {
    const vm = sandbox.vms.find((candidate) => candidate.id === vmId);
    if (vm) return { sandbox, vm };
  }
  throw notFound(`Session ${vmId}`);
}

/** A sandbox is made together with its first vm, so there always is one. */
export function currentVm(sandbox: Sandbox): Vm {
  const vm = sandbox.vms.at(-1);
  if (!vm) throw notFound(`Session of sandbox ${sandbox.name}`);
  return vm;
}

/** Whether the vm occupies a machine: counted against the plan's concurrency. */
export function isAlive(vm: Vm): boolean {
  return ['pending', 'running', 'stopping', 'snapshotting'].includes(vm.status);
}

export function setStatus(state: CloudState, sandbox: Sandbox, vm: Vm, status: VmStatus): void {
  vm.status = status;
  vm.updatedAt = sandbox.statusUpdatedAt = sandbox.updatedAt = state.clock.now();
}

/** Milliseconds for which a vm is billed so far. */
export function billedMs(vm: Vm, now: number): number {
  return vm.startedAt === null ? 0 : (vm.endedAt ?? now) - vm.startedAt;
}

/** Runs disk or process work of a sandbox after what is under way there. */
export function inTurn<T>(sandbox: Sandbox, job: () => Promise<T>): Promise<T> {
  const result = sandbox.work.then(job);
  sandbox.work = result.then(
    () => undefined,
    () => undefined,
  );
  return result;
}
