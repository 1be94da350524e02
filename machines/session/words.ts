/**
 * Words that the chart's states share: the inputs of effects, and transitions
 * that are the same wherever they stand.
 */
import { acceptorOf, type Outcome, type SessionContext } from './context.js';
import type { EffectFailure, RemoteAnswer } from './effects.js';

interface Args {
  context: SessionContext;
}
export const session = ({ context }: Args) => ({ sessionId: context.sessionId });
export const claimant = ({ context }: Args) => ({
  sessionId: context.sessionId,
  episode: context.episode,
  acceptorId: acceptorOf(context),
});
export const disk = ({ context }: Args) => ({
  sessionId: context.sessionId,
  sandboxName: context.sandboxName,
});
export const vm = ({ context }: Args) => ({ name: context.sandboxName, vmId: context.vm?.vmId ?? '' });
/** Names one launch of the remote; used once. */
export const launchId = ({ context }: Args) => `${context.episode}-${context.launches}`;

/** The answer of the effect that was invoked, for guards and actions. */
export const answer = <Output>({ event }: { event: { output: Output } }) => event.output;
export const failure = ({ event }: { event: { error: unknown } }) => event.error as EffectFailure;

/** Effects that several states invoke. */
export const renewal = { id: 'renewClaim', src: 'renewClaim', input: claimant } as const;
export const lookAtRemote = {
  id: 'lookAtRemote',
  src: 'lookAtRemote',
  input: ({ context }: Args) => ({
    ...session({ context }),
    vm: vm({ context }),
    launchId: launchId({ context }),
  }),
} as const;

export const endAs = (outcome: Outcome) => ({ type: 'noteOutcome', params: { outcome } }) as const;
export const failed = { type: 'noteFailure', params: failure } as const;

export const to = { snapshotting: '#session.snapshotting', serving: '#session.serving' } as const;

/** An operator, or a shutdown, takes the session off its vm. */
export const operator = {
  'stop.requested': { target: to.snapshotting, actions: endAs('stopped') },
  'drain.requested': { target: to.snapshotting, actions: endAs('drained') },
} as const;

/** A remote or vm that a look found in trouble; the same wherever the look was taken. */
const remoteAnswer = ({ event }: { event: { output: RemoteAnswer } }) => event.output;
export const troubles = [
  {
    guard: { type: 'remoteExitedCleanly', params: remoteAnswer },
    target: to.snapshotting,
    actions: endAs('exited'),
  },
  {
    guard: { type: 'unlaunchable', params: remoteAnswer },
    target: to.snapshotting,
    actions: { type: 'noteCrashOutcome', params: remoteAnswer },
  },
  {
    guard: { type: 'vmGoneTooOften', params: remoteAnswer },
    target: to.snapshotting,
    actions: endAs('vmLost'),
  },
  {
    guard: { type: 'vmGone', params: remoteAnswer },
    target: '#session.provisioning.opening',
    actions: 'noteVmLoss',
  },
  {
    guard: { type: 'restartsSpent', params: remoteAnswer },
    target: to.snapshotting,
    actions: { type: 'noteCrashOutcome', params: remoteAnswer },
  },
  { target: '#session.serving.coolingDown', actions: { type: 'noteCrash', params: remoteAnswer } },
] as const;

/** A vm of ours that runs although the session is at rest is stopped, which saves its disk. */
export const strayVm = {
  'sandbox.seen': { guard: 'seenAlive', target: to.snapshotting, actions: 'noteStrayVm' },
} as const;
