/**
 * What the chart notes in context. Each returns a patch; none reads a clock,
 * so every instant comes from the answer or event that is being noted.
 */
import { freshEpisode, type Outcome, type SessionContext, type SessionFacts } from './context.js';
import type {
  ClaimAnswer,
  ClaimTerms,
  EffectFailure,
  ExtendAnswer,
  LaunchAnswer,
  OpenAnswer,
  RemoteAnswer,
  SecureAnswer,
  StopAnswer,
} from './effects.js';
import type { SandboxSeen } from './events.js';
import { isDismissed, isEnded, isMissing, isOurs, suspicionKey } from './facts.js';
import { FAILURES } from './guards.js';
import { backoffMs, type SessionRules } from './rules.js';

type Patch = Partial<SessionContext>;
interface At {
  readonly at: number;
}

export function sessionPatches(rules: SessionRules) {
  const terms = (c: SessionContext, claim: ClaimTerms | null, at: number): Patch =>
    claim === null
      ? {}
      : {
          claimDeadlineAt: claim.claimDeadlineAt,
          renewAt: renewalAt(claim.claimDeadlineAt, at, rules),
          policyKey: claim.policyKey,
          secureAgainAt: claim.policyKey === c.policyKey ? c.secureAgainAt : null,
        };
  const probePauseMs = (c: SessionContext) => (c.bellHeard ? rules.probeEveryMs : rules.unheardProbeEveryMs);
  return {
    /** Other facts than those that were looked into may raise any suspicion again, even the same. */
    facts: (c: SessionContext, facts: SessionFacts): Patch => {
      const next = { ...c, facts };
      return {
        facts,
        dismissed: isDismissed(next) ? c.dismissed : null,
        ...(facts.status === 'suspended' ? {} : { reads: 0 }),
        ...claimOfFacts(next),
      };
    },
    connected: (): Patch => ({ connected: true }),
    /** The present facts were looked into; the same suspicion is not raised again before the next probe. */
    dismissal: (c: SessionContext): Patch => ({ dismissed: suspicionKey(c), reads: 0 }),
    /** The claim is ours after all. Says nothing about an end that the same facts hint at. */
    claimDismissal: (c: SessionContext): Patch =>
      isMissing(c) || isEnded(c.facts.status) ? {} : { dismissed: suspicionKey(c) },
    /** Something happened in the vm, and word of it came through. */
    bell: (): Patch => ({ probeAt: 0, bellHeard: true }),

    claim: (c: SessionContext, answer: ClaimAnswer): Patch => terms(c, answer.claim, answer.at),
    claimAgainLater: (_: SessionContext, { at }: At): Patch => ({ renewAt: at + rules.tryAgainMs }),

    vm: (c: SessionContext, answer: Extract<OpenAnswer, { kind: 'running' }>): Patch => ({
      ...terms(c, answer.claim, answer.at),
      hasDisk: true,
      stopFor: 'release',
      settlingSince: null,
      looks: 0,
      lookAt: null,
      secureAgainAt: null,
      extendAgainAt: null,
      ...(answer.origin === 'cold' ? { detail: 'started without its files: the snapshot had expired' } : {}),
      vm: {
        vmId: answer.vmId,
        startedAt: answer.startedAt,
        expiresAt: answer.expiresAt,
        limited: false,
        policyDigest: answer.policyDigest,
      },
    }),
    /** A disk may exist from the moment one is asked for. */
    diskMayExist: (): Patch => ({ hasDisk: true }),
    vmLoss: (c: SessionContext): Patch => ({
      vm: null,
      vmLosses: c.vmLosses + 1,
      launchedAt: null,
      probeAt: null,
    }),
    /** A vm of ours runs although the session is at rest: it is stopped, which saves its disk. */
    strayVm: ({ vmId, startedAt, expiresAt, policyDigest }: SandboxSeen): Patch => ({
      stopFor: 'tidy',
      hasDisk: true,
      looks: 0,
      lookAt: null,
      vm: { vmId, startedAt, expiresAt: expiresAt ?? startedAt, limited: false, policyDigest },
    }),

    newLaunch: (c: SessionContext): Patch => ({
      launches: c.launches + 1,
      launchedAt: null,
      connected: false,
      bellHeard: false,
      restartAt: null,
    }),
    launch: (c: SessionContext, answer: Extract<LaunchAnswer, { kind: 'launched' }>): Patch => ({
      ...terms(c, answer.claim, answer.at),
      launchedAt: answer.at,
      looks: 0,
      lookAt: answer.at + backoffMs(rules.lookBackoffMs, 0),
    }),
    settling: (c: SessionContext, { at }: At): Patch => ({ settlingSince: c.settlingSince ?? at }),
    lookLater: (c: SessionContext, { at }: At): Patch => ({
      looks: c.looks + 1,
      lookAt: at + backoffMs(rules.lookBackoffMs, c.looks),
    }),
    /** A healthy look: the next is due after the probe's pause, old suspicions may be raised anew. */
    probe: (c: SessionContext, { at }: At): Patch => ({
      probeAt: at + probePauseMs(c),
      looks: 0,
      // Between two reads of a suspended status, the pause is kept.
      lookAt: c.reads > 0 ? c.lookAt : null,
      dismissed: null,
      ...(c.launchedAt !== null && at - c.launchedAt > rules.stableAfterMs
        ? { restarts: 0, vmLosses: 0 }
        : {}),
    }),
    /** A look that failed or found the remote still starting. */
    probeLater: (c: SessionContext, { at }: At): Patch => ({
      probeAt: at + Math.min(probePauseMs(c), backoffMs(rules.lookBackoffMs, c.looks)),
      looks: c.looks + 1,
    }),
    crash: (c: SessionContext, answer: RemoteAnswer): Patch => ({
      restarts: c.restarts + 1,
      restartAt: answer.at + backoffMs(rules.restartBackoffMs, c.restarts),
      probeAt: null,
      lookAt: null,
      detail: `restarting the remote: ${crashText(answer)}`,
    }),

    forgetCrash: (): Patch => ({ detail: null }),

    security: (c: SessionContext, answer: Extract<SecureAnswer, { kind: 'secured' }>): Patch => ({
      ...terms(c, answer.claim, answer.at),
      secureAgainAt: null,
      policyAnswered: c.facts.policyKey,
      vm: c.vm && { ...c.vm, policyDigest: answer.policyDigest },
    }),
    secureLater: (_: SessionContext, { at }: At): Patch => ({ secureAgainAt: at + rules.tryAgainMs }),
    expiry: (c: SessionContext, answer: Extract<ExtendAnswer, { expiresAt: number }>): Patch => ({
      // An extension that moved nothing must not be asked for in a circle.
      extendAgainAt: answer.at + rules.tryAgainMs,
      vm: c.vm && { ...c.vm, expiresAt: answer.expiresAt, limited: answer.kind === 'limited' },
    }),
    extendLater: (_: SessionContext, { at }: At): Patch => ({ extendAgainAt: at + rules.tryAgainMs }),

    readAgainLater: (c: SessionContext, { at }: At): Patch => ({
      reads: c.reads + 1,
      lookAt: at + rules.suspendedReadEveryMs,
    }),
    finalReadLater: (c: SessionContext, { at }: At): Patch => ({
      reads: c.reads + 1,
      lookAt: at + rules.finalReadEveryMs,
    }),

    /** `cause`: what stood in the way when a deadline passed. */
    outcome: (c: SessionContext, { outcome }: { outcome: Outcome }, cause: string | null): Patch => ({
      // What an operator asked for stands, unless the session is over for good.
      outcome: c.outcome === 'stopped' && outcome !== 'ended' ? 'stopped' : outcome,
      stopFor: 'release',
      detail: cause?.slice(0, 300) ?? c.detail,
      // A claim that is another's must not be renewed, which would win it back by chance.
      ...(outcome === 'claimLost' ? noClaim : {}),
    }),
    /** What the queue says of an ended session, as an outcome. */
    outcomeOfFacts: (c: SessionContext): Patch => ({
      outcome: c.facts.status === 'terminated' ? 'ended' : 'closed',
      stopFor: 'release',
    }),
    crashOutcome: (_: SessionContext, answer: RemoteAnswer): Patch => ({
      outcome: answer.kind === 'unlaunchable' ? 'unlaunchable' : 'remoteCrashed',
      stopFor: 'release',
      detail: crashText(answer),
    }),
    failure: (_: SessionContext, { message }: EffectFailure): Patch => ({
      outcome: 'failed',
      stopFor: 'release',
      detail: message.slice(0, 300),
    }),
    rollOver: (): Patch => ({ stopFor: 'rollOver' }),
    /** The vm is down. Losing its disk is said, and is a failure unless nothing of it is needed. */
    stop: (c: SessionContext, answer: StopAnswer): Patch => {
      const base: Patch = {
        vm: null,
        launchedAt: null,
        connected: false,
        probeAt: null,
        settlingSince: null,
        lookAt: null,
        looks: 0,
        reads: 0,
        ...(answer.kind === 'absent'
          ? { hasDisk: false, keepUntil: null }
          : { hasDisk: true, keepUntil: rules.keepMs === null ? null : answer.at + rules.keepMs }),
        ...(c.outcome === 'claimLost' ? { retryAt: answer.at + rules.retryBackoffMs.first } : {}),
      };
      const saved = answer.kind === 'stopped' && answer.saved;
      if (saved || c.vm === null || c.outcome === 'ended') return base;
      const detail = `the vm stopped without saving its disk${c.outcome === null ? '' : ` (outcome: ${c.outcome})`}`;
      const isFailure = FAILURES.has(c.outcome) && c.outcome !== 'exited';
      const keepsItsName = c.stopFor !== 'release' || c.outcome === 'stopped' || isFailure;
      return keepsItsName
        ? { ...base, detail: c.detail ?? detail }
        : { ...base, outcome: 'snapshotFailed', detail };
    },

    released: (c: SessionContext, { at }: At): Patch => {
      const failed = FAILURES.has(c.outcome);
      return {
        claimDeadlineAt: null,
        renewAt: null,
        policyKey: null,
        // A row that led to a claim of an ended session has to change before it may do so again.
        dismissed: c.outcome === 'closed' ? suspicionKey(c) : null,
        strikes: failed ? c.strikes + 1 : 0,
        retryAt: failed ? at + backoffMs(rules.retryBackoffMs, c.strikes) : null,
      };
    },
    forgetClaim: (): Patch => noClaim,
    forgiven: (): Patch => ({ strikes: 0, retryAt: null, dismissed: null }),
    lostTo: (_: SessionContext, { at }: At): Patch => ({ retryAt: at + rules.retryBackoffMs.first }),
    waited: (): Patch => ({ retryAt: null, dismissed: null }),
    discarded: (): Patch => ({ hasDisk: false, keepUntil: null }),
    nextEpisode: (c: SessionContext): Patch => ({ ...freshEpisode, episode: c.episode + 1 }),
  };
}

function crashText(answer: RemoteAnswer): string {
  if (answer.kind === 'exited') return `devin-remote exited with code ${answer.code}`;
  if (answer.kind === 'unlaunchable') return answer.reason.slice(0, 240);
  return 'devin-remote left no trace';
}

const noClaim: Patch = { claimDeadlineAt: null, renewAt: null, policyKey: null };

/** Devin keeps the claim of a running session without renewal; when it sets a deadline again, a renewal tells it. */
function claimOfFacts(c: SessionContext): Patch {
  if (!isOurs(c)) return {};
  if (!c.facts.hasClaimDeadline) return { claimDeadlineAt: null, renewAt: null };
  return c.claimDeadlineAt === null && !isEnded(c.facts.status) ? { renewAt: 0 } : {};
}

/** A claim is renewed a minute, or a third of its life, before its end. */
function renewalAt(claimDeadlineAt: number | null, at: number, rules: SessionRules): number | null {
  if (claimDeadlineAt === null) return null;
  const lifeMs = Math.max(0, claimDeadlineAt - at);
  // A deadline that a renewal does not move must not be renewed in a circle.
  return Math.max(claimDeadlineAt - Math.min(rules.renewMarginMs, lifeMs / 3), at + rules.renewPauseMs);
}
