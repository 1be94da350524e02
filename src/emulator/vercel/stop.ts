/**
 * Takes vms down: a stop saves the disk, a death does not.
 *
 * Every process of the vm is dead before its disk is moved, and no later boot
 * begins before that. Stopping what is stopping joins in; stopping what ended
 * changes nothing.
 */
import { ApiError } from './api-error.js';
import { abandonCommands, stoppedError } from './commands.js';
import { type CloudState, currentVm, inTurn, isAlive, type Sandbox, setStatus, type Vm } from './model.js';
import { killProcesses, type Owner, VM_MARK } from './processes.js';
import { deleteSnapshot, type ImageWish, snapshotsOf, takeSnapshot } from './snapshots.js';

/** Resolves when the vm has stopped; `image` null: without saving its disk. */
export function stopVm(state: CloudState, sandbox: Sandbox, vm: Vm, image: ImageWish | null): Promise<void> {
  if (!isAlive(vm)) return Promise.resolve();
  if (!vm.stopping) {
    vm.stopping = runStop(state, sandbox, vm, image);
    vm.stopping.catch(() => undefined);
  }
  return vm.stopping;
}

/** The vm dies at once and loses what its disk had gained. */
export async function killVm(
  state: CloudState,
  sandbox: Sandbox,
  vm: Vm,
  as: 'failed' | 'aborted',
): Promise<void> {
  if (!isAlive(vm)) return;
  abandonCommands(vm);
  vm.endedAt = state.clock.now();
  setStatus(state, sandbox, vm, as);
  await inTurn(sandbox, async () => {
    await killProcesses(() => ownerOf(state, vm));
    await state.disks.discard(sandbox.name);
  });
}

/** Ends its vm without saving, then forgets the sandbox; its images stay until they expire unless asked otherwise. */
export async function deleteSandbox(
  state: CloudState,
  sandbox: Sandbox,
  withSnapshots: boolean,
): Promise<void> {
  sandbox.deleting = true;
  const vm = currentVm(sandbox);
  await killVm(state, sandbox, vm, 'aborted');
  if (withSnapshots) {
    for (const snapshot of snapshotsOf(state, sandbox.name)) await deleteSnapshot(state, snapshot);
  }
  if (!state.sandboxes.delete(sandbox.name)) return;
  state.removed.push(sandbox);
}

/** @throws ApiError 410 or 422 unless the vm runs; waits for a boot that is under way. */
export async function mustRun(vm: Vm): Promise<void> {
  if (vm.status === 'pending') await vm.booted.catch(() => undefined);
  if (vm.status === 'running') return;
  if (vm.status === 'stopping') throw new ApiError(422, 'sandbox_stopping', 'Sandbox is stopping.');
  if (vm.status === 'snapshotting') {
    throw new ApiError(422, 'sandbox_snapshotting', 'Sandbox is creating a snapshot.');
  }
  throw stoppedError();
}

export function ownerOf(state: CloudState, vm: Vm): Owner {
  const leaders = [...vm.commands.values()].flatMap((command) => command.leader ?? []);
  return {
    mark: `${VM_MARK}=${vm.id}`,
    disk: state.disks.live(vm.sandboxName),
    leaders: new Set(leaders),
  };
}

async function runStop(state: CloudState, sandbox: Sandbox, vm: Vm, image: ImageWish | null): Promise<void> {
  if (vm.status === 'pending') await vm.booted;
  vm.requestedStopAt = state.clock.now();
  setStatus(state, sandbox, vm, 'stopping');
  abandonCommands(vm);
  await inTurn(sandbox, async () => {
    try {
      await killProcesses(() => ownerOf(state, vm));
      if (state.stopMs > 0) await state.clock.sleep(state.stopMs, state.closing);
      if (vm.status !== 'stopping') return;
      if (image) await saveDisk(state, sandbox, vm, image);
      else await state.disks.discard(sandbox.name);
      // Killed meanwhile: a status that is no longer ours.
      if (isAlive(vm)) finish(state, sandbox, vm, 'stopped');
    } catch (error) {
      if (isAlive(vm)) finish(state, sandbox, vm, 'failed');
      throw error;
    }
  });
}

async function saveDisk(state: CloudState, sandbox: Sandbox, vm: Vm, image: ImageWish): Promise<void> {
  vm.snapshottedAt = state.clock.now();
  setStatus(state, sandbox, vm, 'snapshotting');
  if (state.snapshotMs > 0) await state.clock.sleep(state.snapshotMs, state.closing);
  if (vm.status !== 'snapshotting') return;
  if (sandbox.brokenSnapshots > 0) {
    sandbox.brokenSnapshots -= 1;
    await state.disks.discard(sandbox.name);
  } else {
    await takeSnapshot(state, sandbox, vm, image);
  }
}

function finish(state: CloudState, sandbox: Sandbox, vm: Vm, status: 'stopped' | 'failed'): void {
  vm.endedAt = state.clock.now();
  setStatus(state, sandbox, vm, status);
}
