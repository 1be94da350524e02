/**
 * What each effect of a session does, against the ports.
 *
 * Every effect may run more than once and ends within its time; an act on a vm
 * names the vm's id. Decides nothing: an answer says what was seen.
 */
import type { Claimant, sessionEffects as declared, StopAnswer } from '../../machines/session/effects.js';
import { isEnded } from '../../machines/session/facts.js';
import { BugError } from '../errors.js';
import type { Fleet, SessionPolicy } from '../ports/fleet.js';
import type { Doorbell, SandboxHost, SandboxSight } from '../ports/sandbox.js';
import type { EffectCall, Effects } from '../runtime/actor.js';
import { Claims } from './claims.js';

export interface SessionEffectDeps {
  readonly fleet: Fleet;
  readonly host: SandboxHost;
  /** The tags that make a session's sandbox ours. */
  tagsOf(sessionId: string): Readonly<Record<string, string>>;
  /** How the vm of an episode may say "look now"; null, or not given: nobody is there to hear it. */
  readonly doorbellOf?: (sessionId: string, episode: number) => Doorbell | null;
  /** Lets the doorbell's host through for restricted sessions whose own list lacks it. They have no doorbell otherwise. */
  readonly bellForRestricted?: boolean;
}

export function createSessionEffects(deps: SessionEffectDeps): Effects<typeof declared> {
  const { fleet, host, tagsOf } = deps;
  const claims = new Claims(fleet);

  /** The doorbell that a session under this policy can ring. */
  const doorbellFor = ({ sessionId, episode }: Claimant, policy: SessionPolicy): Doorbell | null => {
    const doorbell = deps.doorbellOf?.(sessionId, episode) ?? null;
    if (doorbell === null) return null;
    return deps.bellForRestricted === true || host.allows(policy, doorbell.url) ? doorbell : null;
  };
  /** URLs beside the gateway's that it needs under a restriction. */
  const alsoNeeded = (claimant: Claimant, policy: SessionPolicy): string[] => {
    const doorbell = doorbellFor(claimant, policy);
    return doorbell === null ? [] : [doorbell.url];
  };

  /** The sandbox of a session, unless another's stands under its name. */
  const findOurs = async (
    sessionId: string,
    name: string,
    call: EffectCall,
  ): Promise<SandboxSight | null> => {
    const sight = await host.find(name, call.signal);
    const ours = Object.entries(tagsOf(sessionId));
    return sight !== null && ours.every(([key, value]) => sight.tags[key] === value) ? sight : null;
  };

  const claimOrRenew = async (claimant: Claimant, call: EffectCall) => {
    const answer = await claims.claim(claimant, call);
    if (answer.kind !== 'held') return answer;
    if (answer.claim === null) throw new BugError(`claim ${claimant.sessionId}: no terms`);
    return { kind: 'claimed', at: call.now(), claim: answer.claim, status: answer.status } as const;
  };

  return {
    async claimSession(claimant, call) {
      const answer = await claimOrRenew(claimant, call);
      if (answer.kind !== 'claimed') return answer;
      // A row that fell asleep before we claimed it is not booted for.
      if (isEnded(answer.status)) return { kind: 'over', at: answer.at };
      return { kind: 'claimed', at: answer.at, claim: answer.claim };
    },

    async renewClaim(claimant, call) {
      const answer = await claimOrRenew(claimant, call);
      return answer.kind === 'claimed' ? { kind: 'claimed', at: answer.at, claim: answer.claim } : answer;
    },

    async openSandbox({ sandboxName, ...claimant }, call) {
      const held = await claims.obtain(claimant, call);
      if (held.kind !== 'held') return held;
      const spec = {
        name: sandboxName,
        tags: tagsOf(claimant.sessionId),
        policy: held.policy,
        gatewayUrl: held.grant.gatewayUrl,
        alsoNeeded: alsoNeeded(claimant, held.policy),
      };
      const opened = await host.open(spec, () => call.fence(), call.signal);
      const at = call.now();
      return opened.kind === 'running' ? { ...opened, at, claim: held.claim } : { kind: opened.kind, at };
    },

    async launchRemote({ vm, launchId, ...claimant }, call) {
      const held = await claims.obtain(claimant, call);
      if (held.kind !== 'held') return held;
      await call.fence();
      const { grant, policy, remoteSha } = held;
      const doorbell = doorbellFor(claimant, policy);
      const spec = { sessionId: claimant.sessionId, remoteSha, launchId, grant, doorbell };
      const launched = await host.launch(vm, spec, call.signal);
      claims.forget(claimant);
      const at = call.now();
      return launched.kind === 'launched'
        ? { kind: 'launched', at, claim: held.claim }
        : { kind: 'vmGone', at };
    },

    async lookAtRemote({ vm, launchId }, call) {
      const sight = await host.look(vm, launchId, call.signal);
      return { ...sight, at: call.now() };
    },

    async secureSandbox({ vm, ...claimant }, call) {
      // Always from a fresh answer: the allow list in memory may be the one that has changed.
      const held = await claims.claim(claimant, call);
      if (held.kind !== 'held') return held;
      await call.fence();
      const { grant, policy } = held;
      const needed = alsoNeeded(claimant, policy);
      const applied = await host.applyPolicy(vm, policy, grant.gatewayUrl, needed, call.signal);
      const at = call.now();
      return applied.kind === 'applied'
        ? { kind: 'secured', at, policyDigest: applied.policyDigest, claim: held.claim }
        : { kind: 'vmGone', at };
    },

    async extendSandbox({ vm, untilAt }, call) {
      const answer = await host.extendTo(vm, untilAt, () => call.fence(), call.signal);
      return { ...answer, at: call.now() };
    },

    async stopSandbox({ sessionId, sandboxName }, call) {
      const sight = await findOurs(sessionId, sandboxName, call);
      const seen = stopSeen(sight, call.now());
      if (sight === null || seen.kind !== 'running') return seen;
      await call.fence();
      const answer = await host.stop(sight, call.signal);
      return answer.kind === 'stopped'
        ? { kind: 'stopped', at: call.now(), saved: answer.snapshotId !== null }
        : { kind: 'stopping', at: call.now() };
    },

    async lookAtStop({ sessionId, sandboxName }, call) {
      return stopSeen(await findOurs(sessionId, sandboxName, call), call.now());
    },

    async readRow({ sessionId }, call) {
      const entry = await fleet.read(sessionId, call.signal);
      return { at: call.now(), status: entry === null ? 'gone' : entry.status };
    },

    async releaseClaim(claimant, call) {
      await claims.release(claimant, call);
      return { at: call.now() };
    },

    async discardSandbox({ sessionId, sandboxName }, call) {
      const sight = await findOurs(sessionId, sandboxName, call);
      if (sight !== null) {
        await call.fence();
        await host.remove(sandboxName, call.signal);
      }
      return { at: call.now() };
    },
  };
}

/** What a sight of the sandbox says of a stop. */
function stopSeen(sight: SandboxSight | null, at: number): StopAnswer {
  switch (sight?.status) {
    case undefined:
      return { kind: 'absent', at };
    case 'stopped':
      return { kind: 'stopped', at, saved: sight?.saved === true };
    case 'failed':
    case 'aborted':
      return { kind: 'stopped', at, saved: false };
    case 'stopping':
    case 'snapshotting':
      return { kind: 'stopping', at };
    default:
      return { kind: 'running', at };
  }
}
