/** Records as the API shows them. The only place that knows of the clock's skew. */
import type { Command } from './command.js';
import { billedMs, type CloudState, currentVm, type Sandbox, type Snapshot, type Vm } from './model.js';
import { workingDirectory } from './paths.js';
import { expiresAt } from './snapshots.js';

const REGION = 'iad1';
const MEMORY_MB_PER_VCPU = 2048;

export function vmAnswer(state: CloudState, sandbox: Sandbox, vm: Vm) {
  const ended = vm.endedAt;
  const aborted = vm.status === 'aborted' || vm.status === 'failed';
  return {
    id: vm.id,
    memory: vm.vcpus * MEMORY_MB_PER_VCPU,
    vcpus: vm.vcpus,
    region: REGION,
    ...optional('runtime', sandbox.runtime),
    timeout: vm.timeoutMs,
    status: vm.status,
    requestedAt: remote(state, vm.requestedAt),
    ...instant(state, 'startedAt', vm.startedAt),
    ...instant(state, 'requestedStopAt', vm.requestedStopAt),
    ...instant(state, aborted ? 'abortedAt' : 'stoppedAt', ended),
    ...optional('duration', ended === null ? null : billedMs(vm, ended)),
    ...optional('sourceSnapshotId', vm.sourceSnapshotId),
    ...instant(state, 'snapshottedAt', vm.snapshottedAt),
    createdAt: remote(state, vm.requestedAt),
    updatedAt: remote(state, vm.updatedAt),
    cwd: workingDirectory(state.disks.live(sandbox.name)),
    networkPolicy: vm.policy,
    sourceSandboxName: sandbox.name,
    projectId: state.projectId,
  };
}

export function sandboxAnswer(state: CloudState, sandbox: Sandbox) {
  const vm = currentVm(sandbox);
  const now = state.clock.now();
  return {
    name: sandbox.name,
    persistent: sandbox.persistent,
    region: REGION,
    vcpus: sandbox.vcpus,
    memory: sandbox.vcpus * MEMORY_MB_PER_VCPU,
    ...optional('runtime', sandbox.runtime),
    ...optional('image', sandbox.image),
    timeout: sandbox.timeoutMs,
    networkPolicy: sandbox.policy,
    totalDurationMs: sandbox.vms.reduce((sum, each) => sum + billedMs(each, now), 0),
    createdAt: remote(state, sandbox.createdAt),
    updatedAt: remote(state, sandbox.updatedAt),
    ...instant(state, 'expiresAt', vmExpiresAt(vm)),
    currentSessionId: vm.id,
    ...optional('currentSnapshotId', sandbox.currentSnapshotId),
    status: vm.status,
    statusUpdatedAt: remote(state, sandbox.statusUpdatedAt),
    cwd: workingDirectory(state.disks.live(sandbox.name)),
    tags: sandbox.tags,
    ...optional('snapshotExpiration', sandbox.snapshotExpirationMs),
    ...optional('keepLastSnapshots', sandbox.keepLast),
  };
}

export function snapshotAnswer(state: CloudState, snapshot: Snapshot) {
  return {
    id: snapshot.id,
    sourceSessionId: snapshot.sourceVmId,
    region: REGION,
    status: snapshot.deleted ? 'deleted' : 'created',
    sizeBytes: 0,
    ...instant(state, 'expiresAt', expiresAt(snapshot)),
    createdAt: remote(state, snapshot.createdAt),
    updatedAt: remote(state, snapshot.updatedAt),
    ...instant(state, 'lastUsedAt', snapshot.lastUsedAt),
    creationMethod: snapshot.method,
    ...optional('parentId', snapshot.parentId),
  };
}

export function commandAnswer(state: CloudState, vm: Vm, command: Command) {
  return {
    id: command.id,
    name: command.name,
    args: command.args,
    cwd: command.cwd,
    sessionId: vm.id,
    exitCode: command.exitCode,
    ...optional('durationMs', command.durationMs),
    startedAt: remote(state, command.startedAt),
  };
}

export function routesAnswer(sandbox: Sandbox) {
  return sandbox.ports.map((port) => {
    const subdomain = `${sandbox.name}-${port}`;
    return { url: `https://${subdomain}.vercel.run`, subdomain, port };
  });
}

/** When a running vm stops by itself, in the clock's time. */
export function vmExpiresAt(vm: Vm): number | null {
  return vm.status === 'running' && vm.startedAt !== null ? vm.startedAt + vm.timeoutMs : null;
}

const remote = (state: CloudState, at: number) => at + state.skewMs;

function instant(state: CloudState, key: string, at: number | null) {
  return optional(key, at === null ? null : remote(state, at));
}

function optional(key: string, value: unknown): Record<string, unknown> {
  return value === null ? {} : { [key]: value };
}
