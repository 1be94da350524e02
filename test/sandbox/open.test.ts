/** The adapter through the real SDK, against the emulated cloud: creating, booting and adopting. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TransientError } from '../../src/errors.js';
import { CLOSED, fault, host, OPEN, opened, rig, running, specOf, useCloud, viewOf } from './harness.js';
import { never, noFence } from './support.js';

useCloud();

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

  test('hosts that are needed besides -> let through when it is opened and when its policy is applied', async () => {
    const bell = 'https://outposts.example.com/api/sessions/devin-1/doorbell';
    const spec = specOf({ policy: CLOSED, alsoNeeded: [bell] });
    const vm = await opened(spec);
    const opens = { allowedDomains: ['outposts.example.com'], allowedCIDRs: ['127.0.0.1/32'] };
    expect(viewOf(spec.name).vms[0]?.policy).toMatchObject(opens);
    const digest = (await host.find(spec.name, never))?.policyDigest;
    const narrowed = await host.applyPolicy(vm, CLOSED, spec.gatewayUrl, [], never);
    expect(viewOf(spec.name).vms[0]?.policy).toMatchObject({ allowedCIDRs: ['127.0.0.1/32'] });
    expect(narrowed).not.toEqual({ kind: 'applied', policyDigest: digest });
    const again = await host.applyPolicy(vm, CLOSED, spec.gatewayUrl, [bell], never);
    expect(viewOf(spec.name).vms[0]?.policy).toMatchObject(opens);
    expect(again).toEqual({ kind: 'applied', policyDigest: digest });
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
