/** One emulated cloud for all tests of a file, and short ways to a sandbox, a vm and a remote on it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Fault } from '../../src/emulator/vercel/index.js';
import type { LaunchSpec, OpenAnswer, SandboxHost, SandboxSpec, VmRef } from '../../src/ports/sandbox.js';
import { never, noFence, SHA, startRig, until } from './support.js';

export const GATEWAY = 'http://127.0.0.1:9/gateway';
export const OPEN = { enabled: false } as const;
export const CLOSED = { enabled: true, hosts: [], subnets: [] } as const;

export let rig: Awaited<ReturnType<typeof startRig>>;
/** The host that opened the last sandbox. */
export let host: SandboxHost;
let count = 0;

export function useCloud(): void {
  beforeAll(async () => {
    rig = await startRig();
  });
  afterAll(() => rig.close());
  afterEach(() => rig.cloud.faults.clear());
}

export function specOf(change: Partial<SandboxSpec> = {}): SandboxSpec {
  count += 1;
  const tags = { session: `devin-${count}` };
  return { name: `s${count}`, tags, policy: OPEN, gatewayUrl: GATEWAY, alsoNeeded: [], ...change };
}

export function launchOf(launchId = 'l1', change: Partial<LaunchSpec> = {}): LaunchSpec {
  const grant = { gatewayUrl: GATEWAY, connectToken: 'cog_secret' };
  return { sessionId: 'devin-1', remoteSha: SHA, launchId, grant, doorbell: null, ...change };
}

export function viewOf(name: string) {
  const view = rig.cloud.sandboxes().find((each) => each.name === name);
  if (!view) throw new Error(`no sandbox ${name}`);
  return view;
}

/** Pids of every remote that was ever started on the sandbox's disk. */
export function starts(name: string): string[] {
  const path = join(viewOf(name).cwd, 'workspace/starts');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** Lets the stand-in remote end. */
export function finish(name: string, code: number): void {
  writeFileSync(join(viewOf(name).cwd, 'workspace/done'), `${code}`);
}

export function running(answer: OpenAnswer) {
  if (answer.kind !== 'running') throw new Error(`not running: ${answer.kind}`);
  return answer;
}

export async function opened(spec = specOf()): Promise<VmRef> {
  host = rig.makeHost();
  const { vmId } = running(await host.open(spec, noFence, never));
  return { name: spec.name, vmId };
}

export async function launched(vm: VmRef, launchId = 'l1'): Promise<void> {
  expect(await host.launch(vm, launchOf(launchId), never)).toEqual({ kind: 'launched' });
  await until('the remote runs', async () => (await host.look(vm, launchId, never)).kind === 'running');
  await until('its start is on record', async () => starts(vm.name).length > 0);
}

export function fault(operation: Fault['operation'], kind: Fault['kind'], times = 1): void {
  rig.cloud.faults.add({ operation, kind, times });
}
