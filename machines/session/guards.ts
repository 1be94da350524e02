/** The conditions that the chart names. Each reads context, or the answer it is given. */
import type { Outcome, SessionContext } from './context.js';
import type { ClaimRefusal, RemoteAnswer, RowAnswer, StopAnswer } from './effects.js';
import type { SessionEvent } from './events.js';
import {
  isClaimable,
  isConnected,
  isDismissed,
  isMissing,
  isOurs,
  isOver,
  isPresent,
  isUnlaunched,
  suspicionKey,
} from './facts.js';
import type { SessionRules } from './rules.js';

interface Args {
  context: SessionContext;
  event: SessionEvent;
}
interface Answer {
  kind: string;
}

/** Outcomes that count against a session: the next episode waits, and too many in a row park it. */
export const FAILURES: ReadonlySet<Outcome | null> = new Set([
  'exited',
  'neverSettled',
  'neverConnected',
  'claimExpired',
  'remoteCrashed',
  'vmLost',
  'unlaunchable',
  'foreignSandbox',
  'snapshotFailed',
  'failed',
]);

export function sessionGuards(rules: SessionRules) {
  return {
    // --- what the queue says ---
    claimable: ({ context }: Args) => isClaimable(context) && context.dismissed !== suspicionKey(context),
    notClaimable: ({ context }: Args) => !isClaimable(context),
    connected: ({ context }: Args) => context.connected || isConnected(context),
    /** News, as opposed to a row that has read so since before a launch. */
    becameConnected: ({ context, event }: Args) =>
      event.type === 'queue.changed' &&
      !isConnected(context) &&
      isConnected({ ...context, facts: event.facts }),
    terminated: ({ context }: Args) => isPresent(context) && context.facts.status === 'terminated',
    over: ({ context }: Args) => isPresent(context) && isOver(context.facts.status),
    /** Asleep before anything was launched in this episode. Afterwards the word flickers and has to be confirmed. */
    asleepBeforeLaunch: ({ context }: Args) =>
      isPresent(context) && context.facts.status === 'suspended' && isUnlaunched(context),
    overOrMissing: ({ context }: Args) =>
      !isDismissed(context) && (isMissing(context) || isOver(context.facts.status)),
    seemsSuspended: ({ context }: Args) =>
      !isDismissed(context) && isPresent(context) && context.facts.status === 'suspended',
    /** A read has confirmed `suspended` already, and the next is due at its time. */
    doubtUnderWay: ({ context }: Args) =>
      isPresent(context) &&
      context.facts.status === 'suspended' &&
      context.reads > 0 &&
      context.lookAt !== null,
    restartPending: ({ context }: Args) => context.restartAt !== null,
    claimSeemsLost: ({ context }: Args) => !isDismissed(context) && isPresent(context) && !isOurs(context),
    policyOutdated: ({ context }: Args) =>
      context.secureAgainAt === null &&
      context.policyKey !== null &&
      context.facts.policyKey !== context.policyKey &&
      context.facts.policyKey !== context.policyAnswered,
    nothingLeft: ({ context }: Args) => isMissing(context) && !context.hasDisk,

    // --- what a claim answered ---
    claimed: (_: Args, answer: Answer) => answer.kind === 'claimed',
    claimTaken: (_: Args, answer: Answer) => answer.kind === 'taken',
    rowGone: (_: Args, answer: Answer) => answer.kind === 'gone',
    sessionOver: (_: Args, answer: Answer | ClaimRefusal) => answer.kind === 'over',

    // --- what the vm answered ---
    vmRunning: (_: Args, answer: Answer) => answer.kind === 'running',
    foreign: (_: Args, answer: Answer) => answer.kind === 'foreign',
    vmGone: (_: Args, answer: Answer) => answer.kind === 'vmGone',
    vmGoneTooOften: ({ context }: Args, answer: Answer) =>
      answer.kind === 'vmGone' && context.vmLosses >= rules.vmLossLimit,
    launched: (_: Args, answer: Answer) => answer.kind === 'launched',
    secured: (_: Args, answer: Answer) => answer.kind === 'secured',
    seenDown: ({ context, event }: Args) =>
      event.type === 'sandbox.seen' && event.vmId === context.vm?.vmId && !event.alive,
    seenDrifted: ({ context, event }: Args) =>
      event.type === 'sandbox.seen' &&
      event.alive &&
      event.vmId === context.vm?.vmId &&
      event.policyDigest !== null &&
      event.policyDigest !== context.vm.policyDigest,
    seenAlive: ({ event }: Args) => event.type === 'sandbox.seen' && event.alive,

    // --- what the remote answered ---
    remoteRunning: (_: Args, answer: RemoteAnswer) => answer.kind === 'running',
    /** Downloading and verifying, or so fresh that it has left no trace yet. */
    remoteStarting: ({ context }: Args, answer: RemoteAnswer) =>
      answer.kind === 'starting' || (answer.kind === 'absent' && context.looks < rules.absentLooks),
    remoteExitedCleanly: (_: Args, answer: RemoteAnswer) => answer.kind === 'exited' && answer.code === 0,
    unlaunchable: (_: Args, answer: RemoteAnswer) => answer.kind === 'unlaunchable' && answer.permanent,
    restartsSpent: ({ context }: Args, _answer: RemoteAnswer) => context.restarts >= rules.restartLimit,

    // --- what a single read of the row answered ---
    readTerminated: (_: Args, { status }: RowAnswer) => status === 'terminated',
    readOver: (_: Args, { status }: RowAnswer) => isOver(status),
    readSuspended: (_: Args, { status }: RowAnswer) => status === 'suspended',
    readSuspendedEnough: ({ context }: Args, { status }: RowAnswer) =>
      status === 'suspended' && context.reads >= rules.suspendedReads,
    readGone: (_: Args, { status }: RowAnswer) => status === 'gone',
    readGoneForGood: ({ context }: Args, { status }: RowAnswer) => status === 'gone' && isMissing(context),
    readsSpent: ({ context }: Args, _answer: RowAnswer) => context.reads + 1 >= rules.finalReads,

    // --- the end of an episode ---
    stopped: (_: Args, answer: StopAnswer) => answer.kind === 'stopped' || answer.kind === 'absent',
    stillRunning: (_: Args, answer: StopAnswer) => answer.kind === 'running',
    rollingOver: ({ context }: Args) => context.stopFor === 'rollOver',
    tidying: ({ context }: Args) => context.stopFor === 'tidy',
    claimWasLost: ({ context }: Args) => context.outcome === 'claimLost',
    endUnconfirmed: ({ context }: Args) => context.outcome === 'exited',
    endedForGood: ({ context }: Args) => context.outcome === 'ended',
    noDisk: ({ context }: Args) => !context.hasDisk,
    failed: ({ context }: Args) => FAILURES.has(context.outcome),
    shouldPark: ({ context }: Args) =>
      context.outcome === 'stopped' ||
      (FAILURES.has(context.outcome) && context.strikes + 1 >= rules.giveUpLimit),
    tidiedWhileParked: ({ context }: Args) =>
      context.stopFor === 'tidy' && (context.outcome === 'stopped' || context.strikes >= rules.giveUpLimit),
  };
}
