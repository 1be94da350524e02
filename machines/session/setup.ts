/** Binds the names that the chart uses to what they mean. */
import { assign, setup } from 'xstate';
import { sessionPatches } from './actions.js';
import type { Outcome, SessionContext, SessionInput } from './context.js';
import { type Deadline, sessionDeadlines } from './deadlines.js';
import {
  type ClaimAnswer,
  type EffectFailure,
  type ExtendAnswer,
  type LaunchAnswer,
  type OpenAnswer,
  type RemoteAnswer,
  type SecureAnswer,
  type StopAnswer,
  sessionEffects,
} from './effects.js';
import type { QueueChanged, SandboxSeen, SessionEvent } from './events.js';
import { sessionGuards } from './guards.js';
import type { SessionRules } from './rules.js';

export type SessionTag = 'holdsSlot' | 'holdsClaim' | 'mayHoldVm' | 'atRest' | 'needsOperator';

/** A timer's event tells what stood in the way meanwhile, when something did. */
const causeOf = (event: object): string | null =>
  'cause' in event && typeof event.cause === 'string' ? event.cause : null;

/** A timer of a live actor takes at most this many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface At {
  readonly at: number;
}
/** What TypeScript still allows for an answer that the guard beside the action has narrowed. */
interface Other {
  readonly kind: string;
}
type Opened = Extract<OpenAnswer, { kind: 'running' }>;
type Launched = Extract<LaunchAnswer, { kind: 'launched' }>;
type Secured = Extract<SecureAnswer, { kind: 'secured' }>;
type Extended = Extract<ExtendAnswer, { expiresAt: number }>;

export function sessionSetup(rules: SessionRules, now: () => number) {
  const deadlines = sessionDeadlines(rules);
  const patch = sessionPatches(rules);
  const countdown =
    (deadline: Deadline) =>
    ({ context }: { context: SessionContext }) =>
      Math.min(LONGEST_TIMER_MS, Math.max(0, (deadline(context) ?? Number.POSITIVE_INFINITY) - now()));

  return setup({
    types: {
      context: {} as SessionContext,
      events: {} as SessionEvent,
      input: {} as SessionInput,
      tags: {} as SessionTag,
    },
    actors: sessionEffects,
    guards: sessionGuards(rules),
    delays: {
      claimDeadline: countdown(deadlines.claimDeadline),
      settleBy: countdown(deadlines.settleBy),
      renewDue: countdown(deadlines.renewDue),
      connectBy: countdown(deadlines.connectBy),
      probeDue: countdown(deadlines.probeDue),
      restartDue: countdown(deadlines.restartDue),
      lookDue: countdown(deadlines.lookDue),
      secureDue: countdown(deadlines.secureDue),
      extendDue: countdown(deadlines.extendDue),
      rollOverDue: countdown(deadlines.rollOverDue),
      retryDue: countdown(deadlines.retryDue),
      keepDue: countdown(deadlines.keepDue),
    },
    actions: {
      noteFacts: assign(({ context, event }) => patch.facts(context, (event as QueueChanged).facts)),
      noteConnected: assign(() => patch.connected()),
      dismissFacts: assign(({ context }) => patch.dismissal(context)),
      dismissClaimDoubt: assign(({ context }) => patch.claimDismissal(context)),
      hearBell: assign(() => patch.bell()),

      noteClaim: assign(({ context }, params: ClaimAnswer | Other) =>
        patch.claim(context, params as ClaimAnswer),
      ),
      claimAgainLater: assign(({ context }, params: At) => patch.claimAgainLater(context, params)),
      forgetClaim: assign(() => patch.forgetClaim()),

      diskMayExist: assign(() => patch.diskMayExist()),
      noteVm: assign(({ context }, params: OpenAnswer | Other) => patch.vm(context, params as Opened)),
      noteVmLoss: assign(({ context }) => patch.vmLoss(context)),
      noteStrayVm: assign(({ event }) => patch.strayVm(event as SandboxSeen)),

      noteNewLaunch: assign(({ context }) => patch.newLaunch(context)),
      noteLaunch: assign(({ context }, params: LaunchAnswer | Other) =>
        patch.launch(context, params as Launched),
      ),
      noteSettling: assign(({ context }, params: At) => patch.settling(context, params)),
      lookLater: assign(({ context }, params: At) => patch.lookLater(context, params)),
      noteProbe: assign(({ context }, params: At) => patch.probe(context, params)),
      probeLater: assign(({ context }, params: At) => patch.probeLater(context, params)),
      noteCrash: assign(({ context }, params: RemoteAnswer) => patch.crash(context, params)),

      forgetCrash: assign(() => patch.forgetCrash()),

      noteSecurity: assign(({ context }, params: SecureAnswer | Other) =>
        patch.security(context, params as Secured),
      ),
      secureLater: assign(({ context }, params: At) => patch.secureLater(context, params)),
      noteExpiry: assign(({ context }, params: ExtendAnswer) => patch.expiry(context, params as Extended)),
      extendLater: assign(({ context }, params: At) => patch.extendLater(context, params)),

      readAgainLater: assign(({ context }, params: At) => patch.readAgainLater(context, params)),
      finalReadLater: assign(({ context }, params: At) => patch.finalReadLater(context, params)),

      noteOutcome: assign(({ context, event }, params: { outcome: Outcome }) =>
        patch.outcome(context, params, causeOf(event)),
      ),
      noteOutcomeOfFacts: assign(({ context }) => patch.outcomeOfFacts(context)),
      noteCrashOutcome: assign(({ context }, params: RemoteAnswer) => patch.crashOutcome(context, params)),
      noteFailure: assign(({ context }, params: EffectFailure) => patch.failure(context, params)),
      beginRollOver: assign(() => patch.rollOver()),
      noteStop: assign(({ context }, params: StopAnswer) => patch.stop(context, params)),

      noteRelease: assign(({ context }, params: At) => patch.released(context, params)),
      noteLostTo: assign(({ context }, params: At) => patch.lostTo(context, params)),
      forgive: assign(() => patch.forgiven()),
      noteWaited: assign(() => patch.waited()),
      noteDiscard: assign(() => patch.discarded()),
      beginEpisode: assign(({ context }) => patch.nextEpisode(context)),
    },
  });
}

export type SessionSetup = ReturnType<typeof sessionSetup>;
