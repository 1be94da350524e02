/** The adapter through the real SDK, against the emulated cloud. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Fault } from '../../src/emulator/vercel/index.js';
import { ContractError, RefusedError, TransientError } from '../../src/errors.js';
import type { LaunchSpec, OpenAnswer, SandboxHost, SandboxSpec, VmRef } from '../../src/ports/sandbox.js';
import { never, noFence, SHA, startRig, until } from './support.js';

let rig: Awaited<ReturnType<typeof startRig>>;
let host: SandboxHost;
let count = 0;

beforeAll(async () => {
  rig = await startRig({ plan: { maxLifetimeMs: 86_400_000, maxConcurrent: 1_000, maxVcpus: 8 } });
});
afterAll(() => rig.close());
afterEach(() => rig.cloud.faults.clear());

const GATEWAY = 'http://127.0.0.1:9/gateway';
const OPEN = { enabled: false } as const;
const CLOSED = { enabled: true, hosts: [], subnets: [] } as const;

function specOf(change: Partial<SandboxSpec> = {}): SandboxSpec {
  count += 1;
  return {
    name: `s${count}`,
    tags: { session: `devin-${count}` },
    policy: OPEN,
    gatewayUrl: GATEWAY,
    ...change,
  };
}
function launchOf(launchId = 'l1', change: Partial<LaunchSpec> = {}): LaunchSpec {
  const grant = { gatewayUrl: GATEWAY, connectToken: 'cog_secret' };
  return { sessionId: 'devin-1', remoteSha: SHA, launchId, grant, ...change };
}
function viewOf(name: string) {
  const view = rig.cloud.sandboxes().find((each) => each.name === name);
  if (!view) throw new Error(`no sandbox ${name}`);
  return view;
}
const starts = (name: string) => readLines(join(viewOf(name).cwd, 'workspace/starts'));
const finish = (name: string, code: number) =>
  writeFileSync(join(viewOf(name).cwd, 'workspace/done'), `${code}`);
function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}
function running(answer: OpenAnswer) {
  if (answer.kind !== 'running') throw new Error(`not running: ${answer.kind}`);
  return answer;
}
async function opened(spec = specOf()): Promise<VmRef> {
  host = rig.makeHost();
  const { vmId } = running(await host.open(spec, noFence, never));
  return { name: spec.name, vmId };
}
async function launched(vm: VmRef, launchId = 'l1'): Promise<void> {
  expect(await host.launch(vm, launchOf(launchId), never)).toEqual({ kind: 'launched' });
  await until('the remote runs', async () => (await host.look(vm, launchId, never)).kind === 'running');
  await until('its start is on record', async () => starts(vm.name).length > 0);
}
const fault = (operation: Fault['operation'], kind: Fault['kind'], times = 1) =>
  rig.cloud.faults.add({ operation, kind, times });

describe('open', () => {
  test('nothing there -> created as told, with the policy, in one request after the read', async () => {
    const spec = specOf({ policy: { enabled: true, hosts: ['*.github.com', 'no way'], subnets: [] } });
    const answer = running(await rig.makeHost().open(spec, noFence, never));
    expect(answer.origin).toBe('created');
    expect(answer.expiresAt - answer.startedAt).toBe(1_200_000);
    expect(viewOf(spec.name)).toMatchObject({
      tags: { installation: 'one', session: spec.tags.session },
      persistent: true,
      status: 'running',
    });
    expect(viewOf(spec.name).vms[0]?.policy).toEqual({
      mode: 'custom',
      allowedDomains: ['*.github.com'],
      allowedCIDRs: ['127.0.0.1/32'],
    });
    expect(rig.oddities.join()).toContain('no way');
    expect(rig.cloud.calls.byOperation(spec.name)).toEqual({ get: 1, create: 1 });
  });

  test('the digest that open answers is the one that a read finds', async () => {
    for (const policy of [
      OPEN,
      CLOSED,
      { enabled: true, hosts: ['B.com', 'a.com'], subnets: ['10.0.0.1'] },
    ] as const) {
      const spec = specOf({ policy });
      const { policyDigest } = running(await rig.makeHost().open(spec, noFence, never));
      expect((await rig.makeHost().find(spec.name, never))?.policyDigest).toBe(policyDigest);
    }
  });

  test('a running one of ours -> adopted, its policy and tags put right, and not fenced as a boot', async () => {
    const spec = specOf();
    const vm = await opened(spec);
    const changed = { ...spec, policy: CLOSED, tags: { session: 'other' } };
    const fence = () => Promise.reject(new Error('fenced'));
    const answer = running(await rig.makeHost().open(changed, fence, never));
    expect(answer).toMatchObject({ origin: 'adopted', vmId: vm.vmId });
    expect(viewOf(spec.name).vms[0]?.policy).toMatchObject({ mode: 'custom' });
    expect(viewOf(spec.name).tags).toEqual({ installation: 'one', session: 'other' });
  });

  test('a stopped one -> restored in a new vm, with the new policy and timeout before anything is launched', async () => {
    const spec = specOf();
    const vm = await opened(spec);
    writeFileSync(join(viewOf(spec.name).cwd, 'kept'), 'x');
    await host.stop(vm, never);
    const later = rig.makeHost({ settings: { timeoutMs: 600_000 } });
    const answer = running(await later.open({ ...spec, policy: CLOSED }, noFence, never));
    expect(answer.origin).toBe('restored');
    expect(answer.vmId).not.toBe(vm.vmId);
    expect(answer.expiresAt - answer.startedAt).toBe(600_000);
    expect(viewOf(spec.name).vms[1]?.policy).toMatchObject({
      mode: 'custom',
      allowedCIDRs: ['127.0.0.1/32'],
    });
    expect(readFileSync(join(viewOf(spec.name).cwd, 'kept'), 'utf8')).toBe('x');
    expect(viewOf(spec.name).overlapped).toBe(false);
  });

  test('an unchanged stopped one -> restored with two requests', async () => {
    const spec = specOf({ policy: CLOSED });
    await host.stop(await opened(spec), never);
    rig.cloud.calls.reset();
    running(await rig.makeHost().open(spec, noFence, never));
    expect(rig.cloud.calls.byOperation(spec.name)).toEqual({ get: 2 });
  });

  test('its snapshot has expired -> a declared cold start, still under its name', async () => {
    const spec = specOf();
    await host.stop(await opened(spec), never);
    await rig.cloud.expireSnapshot(spec.name);
    expect(running(await rig.makeHost().open(spec, noFence, never)).origin).toBe('cold');
    expect(viewOf(spec.name).status).toBe('running');
  });

  test('one with another installation’s tags -> foreign, and untouched, running or stopped', async () => {
    const spec = specOf();
    const vm = await opened(spec);
    const stranger = rig.makeHost({ settings: { tags: { installation: 'two' } } });
    expect(await stranger.open(spec, noFence, never)).toEqual({ kind: 'foreign' });
    await host.stop(vm, never);
    expect(await stranger.open(spec, noFence, never)).toEqual({ kind: 'foreign' });
    await stranger.remove(spec.name, never);
    expect(viewOf(spec.name)).toMatchObject({ status: 'stopped', tags: { installation: 'one' } });
  });

  test('the fence refuses -> nothing is created or booted', async () => {
    const spec = specOf();
    const fence = () => Promise.reject(new Error('fenced'));
    await expect(rig.makeHost().open(spec, fence, never)).rejects.toThrow('fenced');
    await host.stop(await opened(spec), never);
    await expect(host.open(spec, fence, never)).rejects.toThrow('fenced');
    expect(viewOf(spec.name).vms).toHaveLength(1);
  });

  test('the answer to create is lost -> the sandbox is adopted, and there is only one', async () => {
    const spec = specOf();
    fault('create', 'loseAnswer');
    expect(running(await rig.makeHost().open(spec, noFence, never)).origin).toBe('adopted');
    expect(rig.cloud.sandboxes().filter((each) => each.tags.session === spec.tags.session)).toHaveLength(1);
    expect(viewOf(spec.name).vms).toHaveLength(1);
  });

  test('every answer to create is lost -> transient, and the next try adopts it', async () => {
    const spec = specOf();
    fault('create', 'loseAnswer', 1);
    fault('create', 'drop', 2);
    await expect(rig.makeHost().open(spec, noFence, never)).rejects.toBeInstanceOf(TransientError);
    expect(running(await rig.makeHost().open(spec, noFence, never)).origin).toBe('adopted');
  });

  test('the policy cannot be applied after a resume -> not running yet, and the next try applies it', async () => {
    const spec = specOf();
    await host.stop(await opened(spec), never);
    fault('policy', { status: 500 }, 3);
    await expect(rig.makeHost().open({ ...spec, policy: CLOSED }, noFence, never)).rejects.toBeInstanceOf(
      TransientError,
    );
    expect(running(await rig.makeHost().open({ ...spec, policy: CLOSED }, noFence, never)).origin).toBe(
      'adopted',
    );
    expect(viewOf(spec.name).vms.at(-1)?.policy).toMatchObject({ mode: 'custom' });
  });

  test('the answer to a resume is lost -> one new vm', async () => {
    const spec = specOf();
    await host.stop(await opened(spec), never);
    fault('get', { delayMs: 0 });
    fault('get', 'loseAnswer');
    expect(running(await host.open(spec, noFence, never)).origin).toBe('restored');
    expect(viewOf(spec.name).vms).toHaveLength(2);
  });

  test('two at once -> one sandbox, one vm', async () => {
    const spec = specOf();
    const hosts = [rig.makeHost(), rig.makeHost()];
    const answers = await Promise.all(hosts.map((each) => each.open(spec, noFence, never)));
    expect(answers.map(({ kind }) => kind)).toContain('running');
    expect(viewOf(spec.name).vms).toHaveLength(1);
  });
});

describe('launch, look and wait', () => {
  test('a launch -> running, then its exit is noticed by the wait', async () => {
    const vm = await opened();
    await launched(vm);
    const waited = host.awaitExit(vm, 'l1', never);
    finish(vm.name, 3);
    expect(await waited).toBe('ended');
    expect(await host.look(vm, 'l1', never)).toEqual({ kind: 'exited', code: 3 });
  });

  test('right after a launch -> never absent', async () => {
    const vm = await opened();
    await host.launch(vm, launchOf(), never);
    for (let seen = ''; seen !== 'running'; ) {
      seen = (await host.look(vm, 'l1', never)).kind;
      expect(['starting', 'running']).toContain(seen);
    }
  });

  test('after a restart of the orchestrator -> the wait finds the remote again, with one request', async () => {
    const vm = await opened();
    await launched(vm);
    const restarted = rig.makeHost();
    await restarted.look(vm, 'l1', never);
    rig.cloud.calls.reset();
    const waited = restarted.awaitExit(vm, 'l1', never);
    finish(vm.name, 0);
    expect(await waited).toBe('ended');
    expect(rig.cloud.calls.byOperation(vm.name)).toEqual({ runCommand: 1 });
  });

  test('the answer to a launch is lost -> the command runs twice, the remote once, and the wait holds', async () => {
    const vm = await opened();
    fault('runCommand', 'loseAnswer');
    await launched(vm);
    const commands = viewOf(vm.name).vms[0]?.commands.filter(({ args }) => args.join().includes('flock -w'));
    expect(commands).toHaveLength(2);
    expect(starts(vm.name)).toHaveLength(1);
    const waited = host.awaitExit(vm, 'l1', never);
    await until('the wait re-attached', async () =>
      viewOf(vm.name).vms[0]?.commands.some(({ args }) => args.join().includes('flock -s')),
    );
    expect(await host.look(vm, 'l1', never)).toEqual({ kind: 'running' });
    finish(vm.name, 1);
    expect(await waited).toBe('ended');
    expect(starts(vm.name)).toHaveLength(1);
  });

  test('a look costs one request', async () => {
    const vm = await opened();
    await launched(vm);
    rig.cloud.calls.reset();
    await host.look(vm, 'l1', never);
    expect(rig.cloud.calls.byOperation(vm.name)).toEqual({ runCommand: 1 });
  });

  test('the vm is stopped -> gone, whatever is asked of it, and nothing boots', async () => {
    const vm = await opened();
    await launched(vm);
    const waited = host.awaitExit(vm, 'l1', never);
    await host.stop(vm, never);
    expect(['ended', 'dropped']).toContain(await waited);
    for (const each of [host, rig.makeHost()]) {
      expect(await each.look(vm, 'l1', never)).toEqual({ kind: 'vmGone' });
      expect(await each.launch(vm, launchOf('l2'), never)).toEqual({ kind: 'vmGone' });
      expect(await each.awaitExit(vm, 'l1', never)).toBe('ended');
      expect(await each.applyPolicy(vm, CLOSED, GATEWAY, never)).toEqual({ kind: 'vmGone' });
      expect(await each.extendTo(vm, Date.now() + 9_000_000, noFence, never)).toEqual({ kind: 'vmGone' });
    }
    expect(viewOf(vm.name)).toMatchObject({ status: 'stopped' });
    expect(viewOf(vm.name).vms).toHaveLength(1);
  });

  test('the wait breaks off -> dropped, and the next one holds; too many requests -> transient', async () => {
    const vm = await opened();
    await launched(vm);
    fault('commandWait', 'drop', 3);
    expect(await host.awaitExit(vm, 'l1', never)).toBe('dropped');
    fault('runCommand', 'drop', 3);
    expect(await host.awaitExit(vm, 'l1', never)).toBe('dropped');
    fault('runCommand', { status: 429, retryAfter: 60 });
    await expect(host.awaitExit(vm, 'l1', never)).rejects.toMatchObject({ retryAfterMs: 60_000 });
    const waited = host.awaitExit(vm, 'l1', never);
    finish(vm.name, 0);
    expect(await waited).toBe('ended');
  });

  test('a disk that was restored -> the earlier launch is absent, and a new one starts', async () => {
    const spec = specOf();
    const vm = await opened(spec);
    await launched(vm);
    await host.stop(vm, never);
    const next = { name: spec.name, vmId: running(await host.open(spec, noFence, never)).vmId };
    expect(await host.look(next, 'l1', never)).toEqual({ kind: 'absent' });
    expect(await host.look(vm, 'l1', never)).toEqual({ kind: 'vmGone' });
    await launched(next, 'l2');
  });

  test('a remote that cannot be launched -> the reason, in words', async () => {
    const vm = await opened();
    await host.launch(vm, launchOf('l1', { remoteSha: 'nonsense' }), never);
    const sight = await until('the failure', async () => {
      const seen = await host.look(vm, 'l1', never);
      return seen.kind === 'unlaunchable' && seen;
    });
    expect(sight).toEqual({
      kind: 'unlaunchable',
      reason: 'the remote that Devin asked for is not named by a SHA',
      permanent: true,
    });
  });

  test('the connect token is in no command’s arguments', async () => {
    const vm = await opened();
    await launched(vm);
    expect(JSON.stringify(viewOf(vm.name))).not.toContain('cog_secret');
  });

  test('a token with a NUL character -> refused here, without repeating it', async () => {
    const vm = await opened();
    const spec = launchOf('l1', { grant: { gatewayUrl: GATEWAY, connectToken: 'a\0secret' } });
    const failure = await host.launch(vm, spec, never).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ContractError);
    expect(String(failure)).not.toContain('secret');
  });
});

describe('the life of a vm', () => {
  test('extended to an instant -> at least until then; repeated -> no further request to extend', async () => {
    const vm = await opened();
    const untilAt = rig.clock.now() + 3_600_000;
    const first = await host.extendTo(vm, untilAt, noFence, never);
    expect(first.kind).toBe('extended');
    expect(viewOf(vm.name).expiresAt).toBeGreaterThanOrEqual(untilAt);
    expect(await host.extendTo(vm, untilAt, noFence, never)).toEqual(first);
    expect(rig.cloud.calls.count({ operation: 'extend', sandbox: vm.name })).toBe(1);
  });

  test('the answer to an extension is lost -> never less than wanted', async () => {
    const vm = await opened();
    const untilAt = rig.clock.now() + 2_400_000;
    fault('extend', 'loseAnswer');
    const answer = await host.extendTo(vm, untilAt, noFence, never);
    expect(answer).toMatchObject({ kind: 'extended', expiresAt: viewOf(vm.name).expiresAt });
    expect(viewOf(vm.name).expiresAt).toBeGreaterThanOrEqual(untilAt);
  });

  test('more than the lifetime that was configured -> limited to it', async () => {
    const vm = await opened();
    const limited = rig.makeHost({ settings: { maxLifetimeMs: 1_800_000 } });
    const answer = await limited.extendTo(vm, rig.clock.now() + 3_600_000, noFence, never);
    const startedAt = viewOf(vm.name).vms[0]?.startedAt ?? 0;
    expect(answer).toEqual({ kind: 'limited', expiresAt: startedAt + 1_800_000 });
  });

  test('more than the plan allows -> limited, and what was there stays', async () => {
    const vm = await opened();
    const before = viewOf(vm.name).expiresAt;
    const hopeful = rig.makeHost({ settings: { maxLifetimeMs: 200_000_000 } });
    const answer = await hopeful.extendTo(vm, rig.clock.now() + 100_000_000, noFence, never);
    expect(answer).toEqual({ kind: 'limited', expiresAt: before });
  });

  test('the fence refuses -> not extended', async () => {
    const vm = await opened();
    const fence = () => Promise.reject(new Error('fenced'));
    await expect(host.extendTo(vm, rig.clock.now() + 3_600_000, fence, never)).rejects.toThrow('fenced');
    expect(rig.cloud.calls.count({ operation: 'extend', sandbox: vm.name })).toBe(0);
  });

  test('stopped -> with the new image, and the same answer when asked again', async () => {
    const vm = await opened();
    const answer = await host.stop(vm, never);
    expect(answer).toEqual({ kind: 'stopped', snapshotId: viewOf(vm.name).currentSnapshotId });
    expect(answer).not.toMatchObject({ snapshotId: null });
    expect(await host.stop(vm, never)).toEqual(answer);
    expect(await rig.makeHost().stop(vm, never)).toEqual(answer);
  });

  test('the answer to stop is lost -> stopped with its image', async () => {
    const vm = await opened();
    fault('stop', 'loseAnswer');
    const answer = await host.stop(vm, never);
    expect(answer).toEqual({ kind: 'stopped', snapshotId: viewOf(vm.name).currentSnapshotId });
  });

  test('the image could not be made -> stopped without one, though an older one exists', async () => {
    const spec = specOf();
    await host.stop(await opened(spec), never);
    const { vmId } = running(await host.open(spec, noFence, never));
    rig.cloud.breakSnapshot(spec.name);
    expect(await host.stop({ name: spec.name, vmId }, never)).toEqual({ kind: 'stopped', snapshotId: null });
    expect(await rig.makeHost().stop({ name: spec.name, vmId }, never)).toEqual({
      kind: 'stopped',
      snapshotId: null,
    });
  });

  test('the vm died -> stopped without an image', async () => {
    const vm = await opened();
    await rig.cloud.kill(vm.name);
    expect(await host.stop(vm, never)).toEqual({ kind: 'stopped', snapshotId: null });
    expect(await host.find(vm.name, never)).toMatchObject({ status: 'aborted', expiresAt: null });
  });

  test('removed -> gone with its snapshots; again -> still fine', async () => {
    const vm = await opened();
    await host.stop(vm, never);
    await host.remove(vm.name, never);
    await host.remove(vm.name, never);
    expect(await host.find(vm.name, never)).toBe(null);
    expect(await host.stop(vm, never)).toEqual({ kind: 'stopped', snapshotId: null });
  });
});

describe('list', () => {
  test('only this installation’s, newest status change first, a page only when it is read', async () => {
    const mine = rig.makeHost({ settings: { tags: { installation: 'list' } } });
    const names: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const spec = specOf();
      running(await mine.open(spec, noFence, never));
      names.unshift(spec.name);
    }
    rig.cloud.calls.reset();
    const seen = [];
    for await (const sight of mine.list(never)) seen.push(sight);
    expect(seen.map(({ name }) => name).sort()).toEqual([...names].sort());
    expect(seen.every(({ status, expiresAt }) => status === 'running' && expiresAt !== null)).toBe(true);
    expect(seen.map(({ changedAt }) => changedAt)).toEqual(
      seen.map(({ changedAt }) => changedAt).sort((a, b) => b - a),
    );
    expect(rig.cloud.calls.count({ operation: 'list' })).toBe(1);
  });
});

describe('failures', () => {
  test.each([
    [{ status: 401 }, 'VERCEL_TOKEN'],
    [{ status: 403 }, 'VERCEL_TOKEN'],
    [{ status: 402 }, 'the billing of the Vercel team'],
    [{ status: 400, message: 'Invalid runtime: node99' }, 'SANDBOX_RUNTIME'],
    [{ status: 400, message: 'vcpus must be even' }, 'SANDBOX_VCPUS'],
    [{ status: 422, message: 'timeout too large' }, 'SANDBOX_TIMEOUT_MS'],
    [{ status: 400, code: 'sandbox_timeout_invalid' }, 'SANDBOX_TIMEOUT_MS'],
  ] as const)('%j on create -> refused, naming %s and nothing of the body', async (kind, setting) => {
    fault('create', kind);
    const failure = await rig
      .makeHost()
      .open(specOf(), noFence, never)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RefusedError);
    expect(failure).toMatchObject({ setting });
    expect(String(failure)).not.toMatch(/node99|even|large/);
  });

  test('too many requests, for longer than the SDK waits -> transient, with the time to wait', async () => {
    fault('create', { status: 429, retryAfter: 90 });
    const failure = await rig
      .makeHost()
      .open(specOf(), noFence, never)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransientError);
    expect(failure).toMatchObject({ retryAfterMs: 90_000 });
  });

  test.each(['drop', { status: 503 }] as const)('%j three times -> transient', async (kind) => {
    fault('get', kind, 3);
    await expect(rig.makeHost().find('s', never)).rejects.toBeInstanceOf(TransientError);
  });

  test('an answer that is no JSON -> contract error without the body', async () => {
    const vm = await opened();
    for (const operation of ['get', 'runCommand', 'list'] as const) {
      fault(operation, 'garbage');
      const call = {
        get: () => host.find(vm.name, never),
        runCommand: () => host.look(vm, 'l1', never),
        list: () => host.list(never)[Symbol.asyncIterator]().next(),
      }[operation];
      const failure = await call().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ContractError);
      expect(String(failure).length).toBeLessThan(200);
    }
  });

  test('the stream of a look is cut -> transient', async () => {
    const vm = await opened();
    fault('runCommand', 'cut');
    await expect(host.look(vm, 'l1', never)).rejects.toBeInstanceOf(TransientError);
  });

  test('no answer in time -> transient', async () => {
    const vm = await opened();
    const impatient = rig.makeHost({ callTimeoutMs: 50 });
    fault('get', 'hang');
    await expect(impatient.find(vm.name, never)).rejects.toBeInstanceOf(TransientError);
  });

  test('the caller gives up -> its own reason', async () => {
    const vm = await opened();
    await launched(vm);
    const reason = new Error('lease lost');
    for (const call of [
      (signal: AbortSignal) => host.find(vm.name, signal),
      (signal: AbortSignal) => host.awaitExit(vm, 'l1', signal),
      (signal: AbortSignal) => rig.makeHost().awaitExit(vm, 'l1', signal),
    ]) {
      fault('get', 'hang');
      const controller = new AbortController();
      const result = call(controller.signal);
      controller.abort(reason);
      await expect(result).rejects.toBe(reason);
      rig.cloud.faults.clear();
    }
  });

  test('a kept session that is refused -> read anew, with the credentials of now', async () => {
    const vm = await opened();
    rig.cloud.calls.reset();
    fault('runCommand', { status: 401 });
    expect(await host.look(vm, 'l1', never)).toEqual({ kind: 'absent' });
    expect(rig.cloud.calls.byOperation(vm.name)).toEqual({ runCommand: 2, get: 1 });
  });

  test.each(['http://example.com/x', 'ftp://x', 'nonsense', 'https://x/?q=1'])(
    '%s as the address of the remote -> refused at the start',
    (staticBaseUrl) => {
      expect(() => rig.makeHost({ settings: { staticBaseUrl } })).toThrow(RefusedError);
    },
  );
});

test('a cloud that is slow and whose clock is six minutes ahead -> our instants, and no step is taken twice', async () => {
  const slow = await startRig({ skewMs: 360_000, stopMs: 400 });
  try {
    const near = (instant: number) => expect.closeTo(instant, -4);
    const view = () => slow.cloud.sandboxes()[0];
    const patient = slow.makeHost();
    const spec = specOf();
    const answer = running(await patient.open(spec, noFence, never));
    const vm = { name: spec.name, vmId: answer.vmId };
    expect(answer.expiresAt).toEqual(near(view()?.expiresAt ?? 0));
    expect(await slow.makeHost().find(spec.name, never)).toMatchObject({ expiresAt: near(answer.expiresAt) });
    const untilAt = answer.startedAt + 2_000_000;
    await patient.extendTo(vm, untilAt, noFence, never);
    expect(view()?.expiresAt).toEqual(near(untilAt));

    expect(await slow.makeHost({ callTimeoutMs: 200 }).stop(vm, never)).toEqual({ kind: 'stopping' });
    expect((await patient.find(spec.name, never))?.status).toMatch(/stopping|snapshotting/);
    expect(await patient.open(spec, noFence, never)).toEqual({ kind: 'settling' });
    expect(await patient.look(vm, 'l1', never)).toEqual({ kind: 'vmGone' });
    await until('stopped', async () => (await patient.stop(vm, never)).kind === 'stopped');
    expect(view()?.vms).toHaveLength(1);
  } finally {
    await slow.close();
  }
});
