/**
 * Vercel's Sandbox API, emulated over HTTP on 127.0.0.1 for the real SDK.
 *
 * A sandbox is a directory, a vm a working copy of it, a command a child
 * process. To use it, give the SDK a `fetch` that replaces
 * `https://vercel.com/api` by `url`, and `token`, `teamId`, `projectId`.
 *
 * Paths: there is no real /vercel/sandbox. The `cwd` that the API reports is an
 * absolute directory of this machine, the same in every vm of a sandbox;
 * commands start there and have it as HOME, and TMPDIR is the vm's own. So use
 * relative paths, `$HOME`, `$TMPDIR` or the reported cwd inside of commands.
 * As a command's `cwd`, and in mkdir, read and write, `/vercel/sandbox` and
 * `/tmp` mean the vm's own too; other absolute paths are refused with 400.
 *
 * Starts with nothing: disks and processes that an earlier emulator left under
 * the same `dir` are removed. Never gives a command this process's environment.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { Calls } from './calls.js';
import { claimDirectory, wasClaimed } from './claim-dir.js';
import type { VercelCloud, VercelCloudOptions } from './cloud.js';
import { abandonCommands } from './commands.js';
import { createControl } from './control.js';
import { Disks } from './disks.js';
import { Faults } from './faults.js';
import { type CloudState, currentVm, type Plan, type Sandbox, sandboxOf } from './model.js';
import { DIR_MARK, killProcesses, killProcessesNow } from './processes.js';
import { listen } from './server.js';
import { deleteSnapshot, snapshotsOf } from './snapshots.js';
import { killVm, ownerOf } from './stop.js';
import { sandboxViews } from './views.js';

export type { VercelCloud, VercelCloudOptions } from './cloud.js';
export type { Fault } from './faults.js';
export type { SandboxView } from './views.js';

const PRO_PLAN: Plan = { maxLifetimeMs: 86_400_000, maxConcurrent: 2000, maxVcpus: 8 };
const SNAPSHOT_EXPIRATION_MS = 30 * 86_400_000;

/** @throws Error when another emulator uses `dir` or the port is taken. */
export async function startVercelCloud(options: VercelCloudOptions): Promise<VercelCloud> {
  await mkdir(options.dir, { recursive: true });
  const dir = await realpath(options.dir);
  const unclaim = await claimDirectory(dir);
  try {
    return await serve(options, dir, unclaim);
  } catch (error) {
    await unclaim();
    throw error;
  }
}

/** Ends the processes of a cloud that died in `dir`, an absolute path without links; false when it lives, or there was none. */
export async function removeAbandoned(dir: string): Promise<boolean> {
  if (!(await wasClaimed(dir))) return false;
  const unclaim = await claimDirectory(dir).catch(() => null);
  if (unclaim === null) return false;
  await killProcesses(() => ({ mark: `${DIR_MARK}=${dir}`, disk: dir, leaders: new Set() }));
  return true;
}

async function serve(
  options: VercelCloudOptions,
  dir: string,
  unclaim: () => Promise<void>,
): Promise<VercelCloud> {
  const closing = new AbortController();
  const state = createState(options, dir, closing.signal);
  const everything = () => ({
    mark: `${DIR_MARK}=${dir}`,
    disk: dir,
    leaders: new Set([...state.sandboxes.values()].flatMap((each) => leadersOf(state, each))),
  });
  await killProcesses(everything);
  await state.disks.clear();

  const switches = createSwitches(options, state);
  const control = createControl(switches, options.worldToken ?? null);
  const { server, port } = await listen({ ...switches, state, control }, options.port ?? 0);
  const lastResort = () => killProcessesNow(everything());
  process.once('exit', lastResort);

  const close = async () => {
    closing.abort(new Error('the emulator closes'));
    const closed = new Promise((done) => server.close(done));
    for (const sandbox of state.sandboxes.values()) abandonCommands(currentVm(sandbox));
    await killProcesses(everything);
    await Promise.all([...state.sandboxes.values()].map((sandbox) => sandbox.work));
    server.closeAllConnections();
    await closed;
    process.off('exit', lastResort);
    await unclaim();
  };
  let closed: Promise<void> | null = null;
  return {
    ...switches,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function createState(options: VercelCloudOptions, dir: string, closing: AbortSignal): CloudState {
  return {
    clock: options.clock,
    plan: { ...PRO_PLAN, ...options.plan },
    skewMs: options.skewMs ?? 0,
    bootMs: options.bootMs ?? 0,
    stopMs: options.stopMs ?? 0,
    snapshotMs: options.snapshotMs ?? 0,
    defaultSnapshotExpirationMs: options.defaultSnapshotExpirationMs ?? SNAPSHOT_EXPIRATION_MS,
    projectId: options.projectId ?? 'prj_emulated',
    disks: new Disks(dir),
    sandboxes: new Map(),
    removed: [],
    snapshots: new Map(),
    closing,
  };
}

function createSwitches(options: VercelCloudOptions, state: CloudState): Omit<VercelCloud, 'url' | 'close'> {
  return {
    token: options.token ?? randomBytes(18).toString('base64url'),
    teamId: options.teamId ?? 'team_emulated',
    projectId: state.projectId,
    faults: new Faults(),
    calls: new Calls(),
    sandboxes: () => sandboxViews(state, state.sandboxes.values()),
    removed: () => sandboxViews(state, state.removed),
    async kill(name, as = 'aborted') {
      const sandbox = sandboxOf(state, name);
      await killVm(state, sandbox, currentVm(sandbox), as);
    },
    async expireSnapshot(name) {
      sandboxOf(state, name);
      for (const snapshot of snapshotsOf(state, name)) await deleteSnapshot(state, snapshot);
    },
    breakSnapshot(name, times = 1) {
      sandboxOf(state, name).brokenSnapshots += times;
    },
  };
}

function leadersOf(state: CloudState, sandbox: Sandbox): readonly number[] {
  return sandbox.vms.flatMap((vm) => [...ownerOf(state, vm).leaders]);
}
