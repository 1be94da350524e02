/** The adapter through the real SDK, against the emulated cloud: what goes wrong at the edge. */
import { describe, expect, test } from 'vitest';
import { ContractError, RefusedError, TransientError } from '../../src/errors.js';
import { fault, host, launched, opened, rig, specOf, useCloud } from './harness.js';
import { never, noFence } from './support.js';

useCloud();

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

  test.each([
    [{ status: 400, message: 'networkPolicy.allow[0]: "image.timeout.example" is no domain' }, 'session'],
    [{ status: 422, message: 'subnets: invalid CIDR' }, 'session'],
    [{ status: 400, message: 'Invalid runtime: node99' }, 'installation'],
    [{ status: 422, message: 'something else' }, 'installation'],
    [{ status: 403 }, 'installation'],
    [{ status: 402 }, 'installation'],
  ] as const)('%j on create -> it is about the %s', async (kind, scope) => {
    fault('create', kind);
    const failure = await rig
      .makeHost()
      .open(specOf(), noFence, never)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RefusedError);
    expect(failure).toMatchObject({ scope });
  });

  test.each([400, 422])(
    '%i to a new network policy, whatever it says -> it is about the session',
    async (status) => {
      const vm = await opened();
      fault('policy', { status, message: 'no' });
      const policy = { enabled: true, hosts: ['a.example'], subnets: [] } as const;
      const failure = await host
        .applyPolicy(vm, policy, 'https://gateway.example', [], never)
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ scope: 'session', setting: "the session's network policy" });
    },
  );

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
