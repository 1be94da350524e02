/** The adapter through the real SDK, against the emulated cloud: launching, looking and waiting. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ContractError } from '../../src/errors.js';
import {
  CLOSED,
  fault,
  finish,
  GATEWAY,
  host,
  launched,
  launchOf,
  opened,
  rig,
  running,
  specOf,
  starts,
  useCloud,
  viewOf,
} from './harness.js';
import { never, noFence, until } from './support.js';

useCloud();

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
      expect(await each.applyPolicy(vm, CLOSED, GATEWAY, [], never)).toEqual({ kind: 'vmGone' });
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

  test('a doorbell that is never answered -> rung from the vm, and the end of the remote is noticed all the same', async () => {
    let rings = 0;
    const deployment = createServer(() => {
      rings += 1;
    });
    await new Promise<void>((resolve) => deployment.listen(0, '127.0.0.1', resolve));
    const { port } = deployment.address() as AddressInfo;
    const doorbell = { url: `http://127.0.0.1:${port}/bell`, key: 'k' };
    const vm = await opened();
    await host.launch(vm, launchOf('l1', { doorbell }), never);
    await until('it rang at the start', async () => rings === 1);
    const waited = host.awaitExit(vm, 'l1', never);
    finish(vm.name, 0);
    expect(await waited).toBe('ended');
    await until('it rang at the end', async () => rings === 2);
    expect(await host.look(vm, 'l1', never)).toEqual({ kind: 'exited', code: 0 });
    deployment.closeAllConnections();
    deployment.close();
    await host.stop(vm, never);
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

  test('a token or a key with a NUL character -> refused here, without repeating it', async () => {
    const vm = await opened();
    for (const change of [
      { grant: { gatewayUrl: GATEWAY, connectToken: 'a\0secret' } },
      { doorbell: { url: 'https://outposts.example.com', key: 'a\0secret' } },
    ]) {
      const failure = await host.launch(vm, launchOf('l1', change), never).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ContractError);
      expect(String(failure)).not.toContain('secret');
    }
  });
});
