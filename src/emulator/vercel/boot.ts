/**
 * Brings vms up: creating a sandbox boots its first one, resuming boots the next.
 *
 * Whether to boot is decided and the vm recorded in one synchronous step, so
 * requests that come together share one boot and a sandbox never has two vms.
 */
import { ApiError, badRequest, notFound } from './api-error.js';
import { newId } from './ids.js';
import {
  type CloudState,
  currentVm,
  inTurn,
  isAlive,
  type Sandbox,
  sandboxOf,
  setStatus,
  type Vm,
} from './model.js';
import { policyAnswer } from './policy.js';
import type { CreateBody, UpdateBody } from './requests.js';
import { snapshotOf, useSnapshot } from './snapshots.js';
import { stopVm } from './stop.js';

const DEFAULT_TIMEOUT_MS = 300_000;
const DEFAULT_VCPUS = 2;

/** @throws ApiError 400 for a name that exists, 400 and 429 for the plan's limits. */
export async function createSandbox(
  state: CloudState,
  body: CreateBody,
  defaults: { runtime: string | null; image: string | null },
): Promise<Sandbox> {
  const name = body.name ?? newId('sbx').replace('sbx_', 'sandbox-');
  if (state.sandboxes.has(name)) throw badRequest(`Sandbox name \`${name}\` already exists.`);
  checkLimits(state, body);
  const source = sourceSnapshot(state, body);
  const now = state.clock.now();
  const sandbox: Sandbox = {
    name,
    createdAt: now,
    runtime: body.runtime ?? (body.image === undefined ? defaults.runtime : null),
    image: body.image ?? defaults.image,
    env: body.env ?? {},
    vms: [],
    persistent: body.persistent ?? true,
    vcpus: body.resources?.vcpus ?? DEFAULT_VCPUS,
    timeoutMs: body.timeout ?? DEFAULT_TIMEOUT_MS,
    policy: policyAnswer(body.networkPolicy ?? { mode: 'allow-all' }),
    tags: body.tags ?? {},
    ports: body.ports ?? [],
    snapshotExpirationMs: body.snapshotExpiration ?? null,
    keepLast: body.keepLastSnapshots ?? null,
    currentSnapshotId: null,
    updatedAt: now,
    statusUpdatedAt: now,
    brokenSnapshots: 0,
    overlapped: false,
    deleting: false,
    work: Promise.resolve(),
  };
  const vm = bootVm(state, sandbox, source);
  state.sandboxes.set(name, sandbox);
  await vm.booted;
  return sandbox;
}

/**
 * Makes sure that the sandbox has a running vm; answers whether it booted one.
 * Waits for a boot, a stop or an image that is under way.
 * @throws ApiError 410 when the image is gone, 429 for the plan's concurrency.
 */
async function resumeSandbox(state: CloudState, sandbox: Sandbox): Promise<boolean> {
  let resumed = false;
  for (;;) {
    if (sandbox.deleting || state.sandboxes.get(sandbox.name) !== sandbox) throw notFound('Sandbox');
    const vm = currentVm(sandbox);
    if (vm.status === 'running') return resumed;
    if (vm.status === 'pending') await vm.booted.catch(() => undefined);
    else if (vm.stopping && isAlive(vm)) await vm.stopping;
    else {
      await bootVm(state, sandbox, sandbox.currentSnapshotId).booted;
      resumed = true;
    }
  }
}

/** Checks what create and update ask for against the plan. */
export function checkLimits(state: CloudState, body: CreateBody | UpdateBody): void {
  if (body.timeout !== undefined && body.timeout > state.plan.maxLifetimeMs) throw timeoutInvalid(state);
  const vcpus = body.resources?.vcpus;
  if (vcpus !== undefined && vcpus > state.plan.maxVcpus) {
    throw badRequest(`Your plan allows at most ${state.plan.maxVcpus} vCPUs.`);
  }
}

export function timeoutInvalid(state: CloudState): ApiError {
  const { maxLifetimeMs } = state.plan;
  return new ApiError(400, 'sandbox_timeout_invalid', `The timeout may be at most ${maxLifetimeMs} ms.`);
}

/** Records a vm and starts to boot it. @throws ApiError before anything is recorded. */
function bootVm(state: CloudState, sandbox: Sandbox, snapshotId: string | null): Vm {
  const alive = [...state.sandboxes.values()].filter((each) => each.vms.some(isAlive)).length;
  if (alive >= state.plan.maxConcurrent) {
    throw new ApiError(429, 'concurrency_limit_exceeded', 'Too many sandboxes run at the same time.');
  }
  if (snapshotId !== null) useSnapshot(state, snapshotId);
  if (sandbox.vms.some(isAlive)) sandbox.overlapped = true;
  const now = state.clock.now();
  const vm: Vm = {
    id: newId('sbx'),
    sandboxName: sandbox.name,
    vcpus: sandbox.vcpus,
    sourceSnapshotId: snapshotId,
    requestedAt: now,
    commands: new Map(),
    over: new AbortController(),
    status: 'pending',
    timeoutMs: sandbox.timeoutMs,
    policy: sandbox.policy,
    updatedAt: now,
    startedAt: null,
    requestedStopAt: null,
    snapshottedAt: null,
    endedAt: null,
    snapshotId: null,
    booted: Promise.resolve(),
    stopping: null,
  };
  sandbox.vms.push(vm);
  setStatus(state, sandbox, vm, 'pending');
  vm.booted = inTurn(sandbox, () => bringUp(state, sandbox, vm));
  vm.booted.catch(() => undefined);
  return vm;
}

async function bringUp(state: CloudState, sandbox: Sandbox, vm: Vm): Promise<void> {
  try {
    await state.disks.prepare(sandbox.name, vm.sourceSnapshotId);
    if (state.bootMs > 0) await state.clock.sleep(state.bootMs, vm.over.signal);
    if (vm.over.signal.aborted || state.closing.aborted) throw new Error('the vm died while it booted');
  } catch (error) {
    if (vm.status === 'pending') {
      vm.endedAt = state.clock.now();
      setStatus(state, sandbox, vm, 'failed');
    }
    throw error;
  }
  vm.startedAt = state.clock.now();
  setStatus(state, sandbox, vm, 'running');
  void expire(state, sandbox, vm);
}

/** Stops the vm when its time is over; extensions only ever move that later. */
async function expire(state: CloudState, sandbox: Sandbox, vm: Vm): Promise<void> {
  try {
    for (;;) {
      const leftMs = (vm.startedAt ?? 0) + vm.timeoutMs - state.clock.now();
      if (leftMs <= 0) break;
      await state.clock.sleep(leftMs, vm.over.signal);
    }
    await stopVm(state, sandbox, vm, sandbox.persistent ? { method: 'auto', expirationMs: null } : null);
  } catch {
    // It ended otherwise; a failed stop shows in the vm's status.
  }
}

function sourceSnapshot(state: CloudState, body: CreateBody): string | null {
  if (!body.source) return null;
  if (body.source.type !== 'snapshot' || body.source.snapshotId === undefined) {
    throw badRequest('The emulator only takes a snapshot as source.');
  }
  if (body.runtime !== undefined || body.image !== undefined) {
    throw badRequest('A snapshot as source excludes runtime and image.');
  }
  return snapshotOf(state, body.source.snapshotId).id;
}

/** The current vm of a sandbox by name, for requests that may boot one. */
export async function openSandbox(
  state: CloudState,
  name: string,
  resume: boolean,
): Promise<{ sandbox: Sandbox; vm: Vm; resumed: boolean }> {
  const sandbox = sandboxOf(state, name);
  const resumed = resume && (await resumeSandbox(state, sandbox));
  return { sandbox, vm: currentVm(sandbox), resumed };
}
