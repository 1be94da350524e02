/** Which sessions are given a doorbell, and what their network lets through for it. */
import { expect, it } from 'vitest';
import { createDoorbell } from '../../src/doorbell.js';
import { createSessionEffects, type SessionEffectDeps } from '../../src/effects/session-effects.js';
import type { Fleet, SessionPolicy } from '../../src/ports/fleet.js';
import type { LaunchSpec, SandboxHost, SandboxSpec } from '../../src/ports/sandbox.js';
import type { EffectCall } from '../../src/runtime/actor.js';
import { allowsHost } from '../../src/sandbox/policy.js';

const { doorbellOf } = createDoorbell({ secret: 's', baseUrl: 'https://outposts.example.com' });
const claimant = { sessionId: 'devin-1', acceptorId: 'vercel-1-1-7', episode: 7 };
const call = {
  now: () => 0,
  fence: async () => undefined,
  signal: new AbortController().signal,
} as unknown as EffectCall;

/** Opens, secures and launches under a policy; answers what the sandbox was told. */
async function serve(policy: SessionPolicy, deps: Partial<SessionEffectDeps>) {
  const told: { needed: (readonly string[])[]; doorbell: LaunchSpec['doorbell'] } = {
    needed: [],
    doorbell: null,
  };
  const grant = { gatewayUrl: 'https://gateway.devin.ai', connectToken: 't' };
  const entry = { policy, remoteSha: null, status: 'pending' };
  const fleet = {
    claim: async () => ({ kind: 'claimed', entry, claimDeadlineAt: null, grant }),
  } as unknown as Fleet;
  const host = {
    allows: allowsHost,
    open: async ({ alsoNeeded }: SandboxSpec) => {
      told.needed.push(alsoNeeded);
      return { kind: 'settling' };
    },
    applyPolicy: async (...[, , , alsoNeeded]: Parameters<SandboxHost['applyPolicy']>) => {
      told.needed.push(alsoNeeded);
      return { kind: 'vmGone' };
    },
    launch: async (_: unknown, { doorbell }: LaunchSpec) => {
      told.doorbell = doorbell;
      return { kind: 'launched' };
    },
  } as unknown as SandboxHost;
  const effects = createSessionEffects({ fleet, host, tagsOf: () => ({}), ...deps });
  const vm = { name: 's', vmId: 'sbx_1' };
  await effects.openSandbox({ ...claimant, sandboxName: 's' }, call);
  await effects.secureSandbox({ ...claimant, vm }, call);
  await effects.launchRemote({ ...claimant, vm, launchId: '7-1' }, call);
  return told;
}

const restricted = (...hosts: string[]): SessionPolicy => ({ enabled: true, hosts, subnets: [] });
const bell = doorbellOf('devin-1', 7);
const none = { needed: [[], []], doorbell: null };
const letThrough = { needed: [[bell.url], [bell.url]], doorbell: bell };

it('nobody to hear it -> no doorbell, and nothing more is let through', async () => {
  expect(await serve({ enabled: false }, {})).toEqual(none);
  expect(await serve(restricted(), { bellForRestricted: true, doorbellOf: () => null })).toEqual(none);
});

it('a session without restriction -> the doorbell of its episode', async () => {
  expect((await serve({ enabled: false }, { doorbellOf })).doorbell).toEqual(bell);
});

it('a restricted session whose list lacks the deployment -> no doorbell, and its list is not widened', async () => {
  expect(
    await serve(restricted('github.com', 'example.com', '*.outposts.example.com'), { doorbellOf }),
  ).toEqual(none);
});

it('a restricted session whose own list has the deployment -> the doorbell', async () => {
  for (const listed of ['outposts.example.com', '*.example.com', '*.com']) {
    expect((await serve(restricted(listed), { doorbellOf })).doorbell).toEqual(bell);
  }
});

it('the operator lets restricted sessions ring -> the doorbell, and its host is let through', async () => {
  expect(await serve(restricted(), { doorbellOf, bellForRestricted: true })).toEqual(letThrough);
});
