/**
 * Vercel Sandbox behind the orchestrator's port, over the real SDK.
 *
 * Reads never wake a sandbox, work acts on a vm's id, and only `open` boots
 * one. It decides nothing about sessions and remembers nothing that matters:
 * what it keeps in memory only saves requests.
 */
import type { SandboxHost } from '../ports/sandbox.js';
import { createCloud } from './cloud.js';
import { GoneError } from './failures.js';
import { extendVm, removeSandbox, stopVm } from './lifetime.js';
import { listSandboxes } from './list.js';
import { openSandbox } from './open.js';
import { allowsHost, applyNetworkPolicy, networkPolicy } from './policy.js';
import { createRemotes } from './remotes.js';
import { checkSettings, type SandboxHostOptions, type Workshop } from './settings.js';
import { isOurs, sightOf } from './sights.js';

export { rewriteFetch } from './fetch.js';
export { sandboxName } from './name.js';
export type { SandboxHostOptions } from './settings.js';

/** @throws RefusedError when a setting cannot be right; its methods: see src/errors.ts. */
export function createSandboxHost(options: SandboxHostOptions): SandboxHost {
  const { settings, remoteClock, onOddity = () => {} } = options;
  checkSettings(settings);
  const cloud = createCloud(options);
  const workshop: Workshop = { cloud, remoteClock, settings, onOddity };

  return {
    ...createRemotes(cloud, settings.staticBaseUrl),
    allows: allowsHost,
    async find(name, signal) {
      const sandbox = await cloud.read(name, signal);
      return sandbox && sightOf(sandbox, remoteClock);
    },
    open: (spec, fence, signal) => openSandbox(workshop, spec, fence, signal),
    async applyPolicy(vm, policy, gatewayUrl, alsoNeeded, signal) {
      const needed = [gatewayUrl, settings.staticBaseUrl, ...alsoNeeded];
      const wanted = networkPolicy(policy, needed, onOddity);
      try {
        const policyDigest = await applyNetworkPolicy(cloud, vm, wanted, undefined, signal);
        return { kind: 'applied', policyDigest };
      } catch (error) {
        if (error instanceof GoneError) return { kind: 'vmGone' };
        throw error;
      }
    },
    extendTo: (vm, untilAt, fence, signal) => extendVm(workshop, vm, untilAt, fence, signal),
    stop: (vm, signal) => stopVm(cloud, vm, signal, options.callTimeoutMs),
    async remove(name, signal) {
      const sandbox = await cloud.read(name, signal);
      if (sandbox === null) return;
      if (isOurs(sandbox.tags, settings)) return removeSandbox(cloud, sandbox, signal);
      onOddity(`sandbox ${name} is not this installation's: left alone`);
    },
    list: (signal) => listSandboxes(workshop, signal),
  };
}
