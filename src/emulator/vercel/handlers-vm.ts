/** Handlers of what is addressed by a vm's id: commands, files, time, policy, the end. */
import { commandAnswer, sandboxAnswer, snapshotAnswer, vmAnswer } from './answers.js';
import type { ApiRequest, Handler } from './api.js';
import { timeoutInvalid } from './boot.js';
import { commandOf, startCommand, streamLogs, streamRun, waitForExit } from './commands.js';
import { findFile, makeDirectory, unpack } from './files.js';
import { type CloudState, type Sandbox, type Vm, vmOf } from './model.js';
import { policyAnswer, policyRequest } from './policy.js';
import { commandBody, extendBody, killBody, parseInput, pathBody, snapshotBody } from './requests.js';
import { snapshotOf } from './snapshots.js';
import { mustRun, stopVm } from './stop.js';

export const runCommand = onRunningVm(async (state, { sandbox, vm }, request) => {
  const body = parseInput(commandBody, request.json());
  const command = await startCommand(state, sandbox, vm, body);
  if (body.wait) return { lines: streamRun(state, vm, command, !body.logs) };
  return { json: { command: commandAnswer(state, vm, command) } };
});

export const getCommand = onRunningVm(async (state, { vm }, { params, query }) => {
  const command = commandOf(vm, params.command ?? '');
  if (query.get('wait') === 'true') await waitForExit(command);
  return { json: { command: commandAnswer(state, vm, command) } };
});

export const logs = onRunningVm(async (_state, { vm }, { params }) => ({
  lines: streamLogs(commandOf(vm, params.command ?? '')),
}));

export const kill = onRunningVm(async (state, { vm }, request) => {
  const command = commandOf(vm, request.params.command ?? '');
  command.signal(parseInput(killBody, request.json()).signal);
  return { json: { command: commandAnswer(state, vm, command) } };
});

export const extend = onRunningVm(async (state, { sandbox, vm }, request) => {
  const timeoutMs = vm.timeoutMs + parseInput(extendBody, request.json()).duration;
  if (timeoutMs > state.plan.maxLifetimeMs) throw timeoutInvalid(state);
  vm.timeoutMs = timeoutMs;
  vm.updatedAt = state.clock.now();
  return { json: { session: vmAnswer(state, sandbox, vm) } };
});

export const policy = onRunningVm(async (state, { sandbox, vm }, request) => {
  vm.policy = policyAnswer(parseInput(policyRequest, request.json()));
  vm.updatedAt = state.clock.now();
  return { json: { session: vmAnswer(state, sandbox, vm) } };
});

export const mkdir = onRunningVm(async (state, { sandbox }, request) => {
  const { path, cwd } = parseInput(pathBody, request.json());
  await makeDirectory(state.disks.live(sandbox.name), path, cwd);
  return { json: {} };
});

export const read = onRunningVm(async (state, { sandbox }, request) => {
  const { path, cwd } = parseInput(pathBody, request.json());
  return { file: await findFile(state.disks.live(sandbox.name), path, cwd) };
});

export const write = onRunningVm(async (state, { sandbox }, { headers, body }) => {
  const disk = state.disks.live(sandbox.name);
  await unpack(disk, String(headers['x-cwd'] ?? '/vercel/sandbox'), body);
  return { json: {} };
});

export const snapshot = onRunningVm(async (state, { sandbox, vm }, request) => {
  const { expiration } = parseInput(snapshotBody, request.json());
  await stopVm(state, sandbox, vm, { method: 'manual', expirationMs: expiration ?? null });
  if (vm.snapshotId === null) throw new Error('the snapshot failed');
  return {
    json: {
      snapshot: snapshotAnswer(state, snapshotOf(state, vm.snapshotId)),
      session: vmAnswer(state, sandbox, vm),
    },
  };
});

/** Answers when the vm has stopped and its image is taken; also for one that stopped before. */
export const stop: Handler = async (state, { params }) => {
  const { sandbox, vm } = vmOf(state, params.vm ?? '');
  await stopVm(state, sandbox, vm, sandbox.persistent ? { method: 'auto', expirationMs: null } : null);
  const image = vm.snapshotId === null ? undefined : state.snapshots.get(vm.snapshotId);
  return {
    json: {
      session: vmAnswer(state, sandbox, vm),
      sandbox: sandboxAnswer(state, sandbox),
      ...(image && { snapshot: snapshotAnswer(state, image) }),
    },
  };
};

/** Work needs a running vm: 404, 410 or 422 otherwise. */
function onRunningVm(
  work: (state: CloudState, of: { sandbox: Sandbox; vm: Vm }, request: ApiRequest) => ReturnType<Handler>,
): Handler {
  return async (state, request) => {
    const found = vmOf(state, request.params.vm ?? '');
    await mustRun(found.vm);
    return work(state, found, request);
  };
}
