/** What tests and the page see of the cloud: facts that the API itself does not tell. Instants are the given clock's, without skew. */
import { vmExpiresAt } from './answers.js';
import {
  billedMs,
  type CloudState,
  currentVm,
  isAlive,
  type Sandbox,
  type Vm,
  type VmStatus,
} from './model.js';
import { workingDirectory } from './paths.js';
import type { PolicyAnswer } from './policy.js';
import { describeProcess, ProcessTable, type ProcessView } from './processes.js';
import { expiresAt, snapshotsOf } from './snapshots.js';
import { ownerOf } from './stop.js';

interface CommandView {
  readonly id: string;
  readonly name: string;
  readonly args: readonly string[];
  readonly exitCode: number | null;
}

interface VmView {
  readonly id: string;
  readonly status: VmStatus;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The policy in force in this vm. */
  readonly policy: PolicyAnswer;
  readonly timeoutMs: number;
  readonly sourceSnapshotId: string | null;
  /** Living processes, whoever started them; empty unless the vm is alive. */
  readonly processes: readonly ProcessView[];
  readonly commands: readonly CommandView[];
}

export interface SandboxView {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly status: VmStatus;
  readonly persistent: boolean;
  /** Real directory that a vm of this sandbox has as its cwd. */
  readonly cwd: string;
  /** The policy that the next vm starts with. */
  readonly policy: PolicyAnswer;
  /** When the running vm stops by itself; null when none runs. */
  readonly expiresAt: number | null;
  /** Every vm that was ever booted, oldest first. */
  readonly vms: readonly VmView[];
  readonly snapshots: readonly {
    readonly id: string;
    readonly createdAt: number;
    readonly expiresAt: number | null;
  }[];
  readonly currentSnapshotId: string | null;
  /** Milliseconds of vm time, all vms together. */
  readonly billedMs: number;
  /** Whether two vms of this sandbox were ever alive at once. */
  readonly overlapped: boolean;
}

export function sandboxViews(state: CloudState, sandboxes: Iterable<Sandbox>): SandboxView[] {
  const table = new ProcessTable();
  return [...sandboxes].map((sandbox) => sandboxView(state, sandbox, table));
}

function sandboxView(state: CloudState, sandbox: Sandbox, table: ProcessTable): SandboxView {
  const vm = currentVm(sandbox);
  const now = state.clock.now();
  return {
    name: sandbox.name,
    tags: sandbox.tags,
    status: vm.status,
    persistent: sandbox.persistent,
    cwd: workingDirectory(state.disks.live(sandbox.name)),
    policy: sandbox.policy,
    expiresAt: vmExpiresAt(vm),
    vms: sandbox.vms.map((each) => vmView(state, each, table)),
    snapshots: snapshotsOf(state, sandbox.name).map((each) => ({
      id: each.id,
      createdAt: each.createdAt,
      expiresAt: expiresAt(each),
    })),
    currentSnapshotId: sandbox.currentSnapshotId,
    billedMs: sandbox.vms.reduce((sum, each) => sum + billedMs(each, now), 0),
    overlapped: sandbox.overlapped,
  };
}

function vmView(state: CloudState, vm: Vm, table: ProcessTable): VmView {
  return {
    id: vm.id,
    status: vm.status,
    startedAt: vm.startedAt,
    endedAt: vm.endedAt,
    policy: vm.policy,
    timeoutMs: vm.timeoutMs,
    sourceSnapshotId: vm.sourceSnapshotId,
    processes: isAlive(vm) ? table.of(ownerOf(state, vm)).map(describeProcess) : [],
    commands: [...vm.commands.values()].map(({ id, name, args, exitCode }) => ({ id, name, args, exitCode })),
  };
}
