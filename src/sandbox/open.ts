/**
 * Brings a session's sandbox up: creates it, boots its disk, or adopts it.
 *
 * The only module that boots vms, and only behind the caller's fence. A lost
 * answer never makes a second sandbox: the name is taken then, and what is
 * there is taken over. The policy stands before anything is launched.
 */
import { type NetworkPolicy, Sandbox } from '@vercel/sandbox';
import type { OpenAnswer, SandboxSpec } from '../ports/sandbox.js';
import { BadRequestError, GoneError, PlanLimitError } from './failures.js';
import { removeSandbox } from './lifetime.js';
import { applyNetworkPolicy, networkPolicy } from './policy.js';
import type { Workshop } from './settings.js';
import { isOurs, timesOf } from './sights.js';

type Origin = Extract<OpenAnswer, { kind: 'running' }>['origin'];

/** A booted sandbox, or why there is none yet. */
type Outcome = { readonly sandbox: Sandbox; readonly origin: Origin } | 'settling' | 'foreign';

interface Job extends Workshop {
  readonly spec: SandboxSpec;
  readonly policy: NetworkPolicy;
  readonly tags: Record<string, string>;
  readonly fence: () => Promise<void>;
  readonly signal: AbortSignal;
}

export async function openSandbox(
  workshop: Workshop,
  spec: SandboxSpec,
  fence: () => Promise<void>,
  signal: AbortSignal,
): Promise<OpenAnswer> {
  const { cloud, settings, onOddity } = workshop;
  const needed = [spec.gatewayUrl, settings.staticBaseUrl, ...spec.alsoNeeded];
  const policy = networkPolicy(spec.policy, needed, onOddity);
  const job: Job = { ...workshop, spec, policy, tags: { ...spec.tags, ...settings.tags }, fence, signal };
  try {
    const there = await cloud.read(spec.name, signal);
    const outcome = there ? await wake(job, there) : await create(job, 'created');
    return typeof outcome === 'string'
      ? { kind: outcome }
      : await finish(job, outcome.sandbox, outcome.origin);
  } catch (error) {
    // It began to stop, or went, between two calls.
    if (error instanceof GoneError) return { kind: 'settling' };
    throw error;
  }
}

async function wake(job: Job, sandbox: Sandbox): Promise<Outcome> {
  if (!isOurs(sandbox.tags, job.settings)) return 'foreign';
  switch (sandbox.status) {
    case 'running':
      await configure(job, sandbox);
      return { sandbox, origin: 'adopted' };
    case 'pending':
    case 'stopping':
    case 'snapshotting':
      return 'settling';
    default:
      await configure(job, sandbox);
      return restore(job, sandbox);
  }
}

async function restore(job: Job, stopped: Sandbox): Promise<Outcome> {
  const { cloud, spec, fence, signal } = job;
  await fence();
  try {
    let resumed = false;
    const sandbox = await cloud.learning(
      () =>
        cloud.call(`resume sandbox ${spec.name}`, signal, (access, bounded) =>
          Sandbox.get({
            ...access,
            name: spec.name,
            resume: true,
            signal: bounded,
            onResume: async () => {
              resumed = true;
            },
          }),
        ),
      (answer) => (resumed ? answer.currentSession().updatedAt.getTime() : null),
    );
    return { sandbox, origin: sandbox.sourceSnapshotId === undefined ? 'cold' : 'restored' };
  } catch (error) {
    if (!(error instanceof GoneError) || error.reason !== 'snapshotGone') throw error;
    await removeSandbox(job.cloud, stopped, signal);
    return create(job, 'cold');
  }
}

async function create(job: Job, origin: 'created' | 'cold'): Promise<Outcome> {
  const { cloud, spec, policy, tags, settings, fence, signal } = job;
  await fence();
  try {
    const sandbox = await cloud.learning(
      () =>
        cloud.call(`create sandbox ${spec.name}`, signal, (access, bounded) =>
          Sandbox.create({
            ...access,
            name: spec.name,
            ...(settings.image === undefined ? { runtime: settings.runtime } : { image: settings.image }),
            ...(settings.region !== undefined && { region: settings.region }),
            resources: { vcpus: settings.vcpus },
            timeout: settings.timeoutMs,
            persistent: true,
            networkPolicy: policy,
            tags,
            snapshotExpiration: settings.snapshotExpirationMs,
            keepLastSnapshots: { count: 1 },
            signal: bounded,
          }),
        ),
      (answer) => answer.currentSession().updatedAt.getTime(),
    );
    return { sandbox, origin };
  } catch (error) {
    if (!(error instanceof BadRequestError)) throw error;
    // Taken names and wrong settings are told apart by looking: words in a message are no contract.
    const there = await cloud.read(spec.name, signal);
    if (!there) throw error;
    return there.status === 'running' || !isOurs(there.tags, settings) ? wake(job, there) : 'settling';
  }
}

/** What an existing sandbox kept from its creation and should not. vCPUs take effect at the next boot. */
async function configure({ cloud, spec, tags, settings, signal }: Job, sandbox: Sandbox): Promise<void> {
  const stale = {
    ...(Object.entries(tags).some(([key, value]) => sandbox.tags?.[key] !== value) && { tags }),
    ...(sandbox.timeout !== settings.timeoutMs && { timeout: settings.timeoutMs }),
    ...(sandbox.snapshotExpiration !== settings.snapshotExpirationMs && {
      snapshotExpiration: settings.snapshotExpirationMs,
    }),
    ...(sandbox.keepLastSnapshots?.count !== 1 && { keepLastSnapshots: { count: 1 } }),
    ...(sandbox.status !== 'running' &&
      sandbox.vcpus !== settings.vcpus && { resources: { vcpus: settings.vcpus } }),
  };
  if (Object.keys(stale).length === 0) return;
  try {
    await cloud.call(`update sandbox ${spec.name}`, signal, (_, bounded) =>
      sandbox.update(stale, { signal: bounded }),
    );
  } catch (error) {
    // The setting stands; the SDK also tried to lengthen the running vm, which has its own way (extendTo).
    if (!(error instanceof PlanLimitError)) throw error;
  }
}

async function finish(job: Job, sandbox: Sandbox, origin: Origin): Promise<OpenAnswer> {
  const session = sandbox.currentSession();
  if (session.status !== 'running') return { kind: 'settling' };
  job.cloud.keep(sandbox);
  const vm = { name: sandbox.name, vmId: session.sessionId };
  const policyDigest = await applyNetworkPolicy(job.cloud, vm, job.policy, session.networkPolicy, job.signal);
  return { kind: 'running', vmId: vm.vmId, ...timesOf(session, job.remoteClock), origin, policyDigest };
}
