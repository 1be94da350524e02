/**
 * The lifecycle of one Devin session, as a statechart.
 *
 * It decides and never acts: effects are named here and performed by
 * `src/effects/`, through the durable interpreter in `src/runtime/`. It reads no
 * clock; deadlines are instants in context (`session/deadlines.ts`), and what
 * the names of guards and actions mean stands beside them (`session/setup.ts`).
 */
import { acceptorOf, freshContext, type Outcome, type SessionContext } from './session/context.js';
import { extendTo } from './session/deadlines.js';
import type { EffectFailure, RemoteAnswer } from './session/effects.js';
import { type SessionRules, sessionRules } from './session/rules.js';
import { sessionSetup } from './session/setup.js';

/** Grows with every change of the chart or of the context's shape; `src/runtime/versions.ts` says how rows follow. */
export const SESSION_VERSION = 1;

interface Args {
  context: SessionContext;
}
const session = ({ context }: Args) => ({ sessionId: context.sessionId });
const claimant = ({ context }: Args) => ({ sessionId: context.sessionId, acceptorId: acceptorOf(context) });
const disk = ({ context }: Args) => ({ sessionId: context.sessionId, sandboxName: context.sandboxName });
const vm = ({ context }: Args) => ({ name: context.sandboxName, vmId: context.vm?.vmId ?? '' });
const launchId = ({ context }: Args) => `${context.episode}-${context.launches}`;

/** The answer of the effect that was invoked, for guards and actions. */
const answer = <Output>({ event }: { event: { output: Output } }) => event.output;
const failure = ({ event }: { event: { error: unknown } }) => event.error as EffectFailure;

const endAs = (outcome: Outcome) => ({ type: 'noteOutcome', params: { outcome } }) as const;
const failed = { type: 'noteFailure', params: failure } as const;

/** `now` serves live actors only (inspector, demonstrations): the durable interpreter reads deadlines itself. */
export function createSessionMachine(rules: SessionRules = sessionRules(), now: () => number = () => 0) {
  const to = { release: '#session.snapshotting', serving: '#session.serving' } as const;

  const operator = {
    'stop.requested': { target: to.release, actions: endAs('stopped') },
    'drain.requested': { target: to.release, actions: endAs('drained') },
  } as const;

  /** A remote or vm that a look found in trouble; the same wherever the look was taken. */
  const remoteAnswer = ({ event }: { event: { output: RemoteAnswer } }) => event.output;
  const troubles = [
    {
      guard: { type: 'remoteExitedCleanly', params: remoteAnswer },
      target: to.release,
      actions: endAs('exited'),
    },
    {
      guard: { type: 'unlaunchable', params: remoteAnswer },
      target: to.release,
      actions: { type: 'noteCrashOutcome', params: remoteAnswer },
    },
    { guard: { type: 'vmGoneTooOften', params: remoteAnswer }, target: to.release, actions: endAs('vmLost') },
    {
      guard: { type: 'vmGone', params: remoteAnswer },
      target: '#session.provisioning.opening',
      actions: 'noteVmLoss',
    },
    {
      guard: { type: 'restartsSpent', params: remoteAnswer },
      target: to.release,
      actions: { type: 'noteCrashOutcome', params: remoteAnswer },
    },
    { target: '#session.serving.coolingDown', actions: { type: 'noteCrash', params: remoteAnswer } },
  ] as const;

  /** A vm of ours that runs although the session is at rest is stopped, which saves its disk. */
  const strayVm = {
    'sandbox.seen': { guard: 'seenAlive', target: to.release, actions: 'noteStrayVm' },
  } as const;

  return sessionSetup(rules, now).createMachine({
    id: 'session',
    version: String(SESSION_VERSION),
    context: ({ input }) => freshContext(input),
    initial: 'queued',
    on: {
      'queue.changed': { actions: 'noteFacts' },
      'doorbell.rung': { actions: 'lookSoon' },
    },
    states: {
      queued: {
        description: "In Devin's queue and claimable; waits for one of MAX_CONCURRENT slots.",
        tags: ['atRest'],
        always: { guard: 'notClaimable', target: 'released.resting' },
        on: {
          'slot.granted': 'claiming',
          'stop.requested': { target: 'parked', actions: endAs('stopped') },
          ...strayVm,
        },
      },

      claiming: {
        description:
          "Claims the row under this episode's acceptor. Repeating it renews, so a lost answer is asked for again.",
        tags: ['holdsSlot', 'holdsClaim'],
        always: { guard: 'over', target: 'released', actions: 'noteOutcomeOfFacts' },
        on: {
          'stop.requested': { target: 'released', actions: endAs('stopped') },
          'drain.requested': { target: 'released', actions: endAs('drained') },
        },
        invoke: {
          id: 'claimSession',
          src: 'claimSession',
          input: claimant,
          onDone: [
            {
              guard: { type: 'claimed', params: answer },
              target: 'provisioning',
              actions: [{ type: 'noteClaim', params: answer }, 'diskMayExist'],
            },
            {
              guard: { type: 'claimTaken', params: answer },
              target: 'lost',
              actions: [endAs('claimLost'), 'dismissFacts'],
            },
            {
              guard: { type: 'rowGone', params: answer },
              target: 'released.resting',
              actions: endAs('gone'),
            },
            { target: 'released', actions: endAs('closed') },
          ],
          onError: { target: 'released', actions: failed },
        },
      },

      provisioning: {
        description:
          'Brings up the vm with the files of earlier episodes, then downloads, verifies and starts the remote.',
        tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
        initial: 'opening',
        always: { guard: 'over', target: to.release, actions: 'noteOutcomeOfFacts' },
        after: {
          claimDeadline: { target: to.release, actions: endAs('claimExpired') },
          connectBy: { target: to.release, actions: endAs('neverConnected') },
        },
        on: operator,
        states: {
          opening: {
            description:
              'Creates the sandbox, or boots it from its newest snapshot; sets its network policy.',
            after: { renewDue: 'renewing' },
            invoke: {
              id: 'openSandbox',
              src: 'openSandbox',
              input: ({ context }) => ({ ...claimant({ context }), sandboxName: context.sandboxName }),
              onDone: [
                {
                  guard: { type: 'vmRunning', params: answer },
                  target: 'launching',
                  actions: [{ type: 'noteVm', params: answer }, 'noteNewLaunch'],
                },
                {
                  guard: { type: 'foreign', params: answer },
                  target: '#session.released',
                  actions: endAs('foreignSandbox'),
                },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: to.release,
                  actions: endAs('claimLost'),
                },
                { guard: { type: 'rowGone', params: answer }, target: to.release, actions: endAs('gone') },
                {
                  guard: { type: 'sessionOver', params: answer },
                  target: to.release,
                  actions: endAs('closed'),
                },
                { target: 'settling', actions: { type: 'lookLater', params: answer } },
              ],
              onError: { target: to.release, actions: failed },
            },
          },
          settling: {
            description: 'The sandbox is booting, or still saving its last vm.',
            after: { renewDue: 'renewing', lookDue: 'opening' },
          },
          renewing: {
            description: 'Keeps the claim while the vm is not up yet.',
            invoke: {
              id: 'renewClaim',
              src: 'renewClaim',
              input: claimant,
              onDone: [
                {
                  guard: { type: 'claimed', params: answer },
                  target: 'opening',
                  actions: { type: 'noteClaim', params: answer },
                },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: to.release,
                  actions: endAs('claimLost'),
                },
                { guard: { type: 'rowGone', params: answer }, target: to.release, actions: endAs('gone') },
                { target: to.release, actions: endAs('closed') },
              ],
              onError: { target: 'opening', actions: { type: 'claimAgainLater', params: failure } },
            },
          },
          launching: {
            description:
              'One detached command downloads, verifies and starts the remote under the launch lock.',
            invoke: {
              id: 'launchRemote',
              src: 'launchRemote',
              input: ({ context }) => ({
                ...claimant({ context }),
                vm: vm({ context }),
                launchId: launchId({ context }),
              }),
              onDone: [
                {
                  guard: { type: 'launched', params: answer },
                  target: 'confirming',
                  actions: { type: 'noteLaunch', params: answer },
                },
                {
                  guard: { type: 'vmGoneTooOften', params: answer },
                  target: to.release,
                  actions: endAs('vmLost'),
                },
                { guard: { type: 'vmGone', params: answer }, target: 'opening', actions: 'noteVmLoss' },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: to.release,
                  actions: endAs('claimLost'),
                },
                { guard: { type: 'rowGone', params: answer }, target: to.release, actions: endAs('gone') },
                { target: to.release, actions: endAs('closed') },
              ],
              onError: { target: to.release, actions: failed },
            },
          },
          confirming: {
            description: 'The command runs in the vm; the next look tells how far it is.',
            after: { lookDue: 'looking' },
          },
          looking: {
            description: 'Looks whether the remote was verified and started.',
            invoke: {
              id: 'lookAtRemote',
              src: 'lookAtRemote',
              input: ({ context }) => ({
                ...session({ context }),
                vm: vm({ context }),
                launchId: launchId({ context }),
              }),
              onDone: [
                {
                  guard: { type: 'remoteRunning', params: answer },
                  target: to.serving,
                  actions: { type: 'noteProbe', params: answer },
                },
                {
                  guard: { type: 'remoteStarting', params: answer },
                  target: 'confirming',
                  actions: { type: 'lookLater', params: answer },
                },
                ...troubles,
              ],
              onError: { target: 'confirming', actions: { type: 'lookLater', params: failure } },
            },
          },
        },
      },

      serving: {
        description: 'The remote runs in its vm and works for Devin.',
        tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
        initial: 'connecting',
        on: operator,
        states: {
          connecting: {
            description: "The remote runs; Devin's row does not say `running` under our claim yet.",
            always: [
              { guard: 'connected', target: 'monitoring', actions: 'noteConnected' },
              { guard: 'overOrMissing', target: 'confirmingEnd' },
            ],
            after: {
              connectBy: { target: to.release, actions: endAs('neverConnected') },
              probeDue: 'probing',
              extendDue: '#session.extending',
            },
            on: { 'sandbox.seen': { guard: 'seenDown', target: 'probing' } },
          },
          monitoring: {
            description: 'All is well as far as we know: waits for news, and for the next thing that is due.',
            always: [
              { guard: 'overOrMissing', target: 'confirmingEnd' },
              { guard: 'seemsSuspended', target: 'confirmingEnd' },
              { guard: 'claimSeemsLost', target: 'renewing' },
              { guard: 'policyOutdated', target: 'securing' },
            ],
            after: {
              renewDue: 'renewing',
              secureDue: 'securing',
              rollOverDue: { target: to.release, actions: 'beginRollOver' },
              extendDue: '#session.extending',
              probeDue: 'probing',
            },
            on: {
              'sandbox.seen': [
                { guard: 'seenDown', target: 'probing' },
                { guard: 'seenDrifted', target: 'securing' },
              ],
            },
          },
          probing: {
            description: 'One look at the remote, without waking a vm that is down.',
            after: { renewDue: 'renewing' },
            invoke: {
              id: 'lookAtRemote',
              src: 'lookAtRemote',
              input: ({ context }) => ({
                ...session({ context }),
                vm: vm({ context }),
                launchId: launchId({ context }),
              }),
              onDone: [
                {
                  guard: { type: 'remoteRunning', params: answer },
                  target: 'connecting',
                  actions: { type: 'noteProbe', params: answer },
                },
                {
                  guard: { type: 'remoteStarting', params: answer },
                  target: 'connecting',
                  actions: { type: 'probeLater', params: answer },
                },
                ...troubles,
              ],
              onError: { target: 'connecting', actions: { type: 'probeLater', params: failure } },
            },
          },
          renewing: {
            description:
              'Claims again under the same acceptor: a later deadline, or word that the claim is lost.',
            invoke: {
              id: 'renewClaim',
              src: 'renewClaim',
              input: claimant,
              onDone: [
                {
                  guard: { type: 'claimed', params: answer },
                  target: 'connecting',
                  actions: [{ type: 'noteClaim', params: answer }, 'dismissClaimDoubt'],
                },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: to.release,
                  actions: endAs('claimLost'),
                },
                { target: 'confirmingEnd', actions: { type: 'claimAgainLater', params: answer } },
              ],
              onError: {
                target: 'connecting',
                actions: [{ type: 'claimAgainLater', params: failure }, 'dismissClaimDoubt'],
              },
            },
          },
          securing: {
            description: "Puts the allow list of the latest claim's answer in force again.",
            after: { renewDue: 'renewing' },
            invoke: {
              id: 'secureSandbox',
              src: 'secureSandbox',
              input: ({ context }) => ({ ...claimant({ context }), vm: vm({ context }) }),
              onDone: [
                {
                  guard: { type: 'secured', params: answer },
                  target: 'connecting',
                  actions: { type: 'noteSecurity', params: answer },
                },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: to.release,
                  actions: endAs('claimLost'),
                },
                { guard: { type: 'vmGone', params: answer }, target: 'probing' },
                { target: 'confirmingEnd', actions: { type: 'secureLater', params: answer } },
              ],
              onError: { target: 'connecting', actions: { type: 'secureLater', params: failure } },
            },
          },
          confirmingEnd: {
            description: 'Reads the row by itself: the queue only made the end suspected.',
            invoke: {
              id: 'readRow',
              src: 'readRow',
              input: session,
              onDone: [
                {
                  guard: { type: 'readTerminated', params: answer },
                  target: to.release,
                  actions: endAs('ended'),
                },
                { guard: { type: 'readOver', params: answer }, target: to.release, actions: endAs('closed') },
                {
                  guard: { type: 'readGoneForGood', params: answer },
                  target: to.release,
                  actions: endAs('gone'),
                },
                {
                  guard: { type: 'readSuspendedEnough', params: answer },
                  target: to.release,
                  actions: endAs('suspended'),
                },
                {
                  guard: { type: 'readSuspended', params: answer },
                  target: 'doubting',
                  actions: { type: 'readAgainLater', params: answer },
                },
                { target: 'connecting', actions: 'dismissFacts' },
              ],
              onError: { target: 'connecting', actions: 'dismissFacts' },
            },
          },
          doubting: {
            description:
              '`suspended` flickers while the remote flushes; reads 3, 6 and 9 s later must agree.',
            after: { probeDue: 'probing', lookDue: 'confirmingEnd' },
          },
          coolingDown: {
            description: 'The remote crashed; it is started again in the same vm after a pause.',
            always: { guard: 'overOrMissing', target: 'confirmingEnd' },
            after: {
              renewDue: 'renewing',
              restartDue: {
                target: '#session.provisioning.launching',
                actions: ['noteNewLaunch', 'forgetCrash'],
              },
            },
          },
        },
      },

      extending: {
        description: "Little is left of the vm's time: moves its end to a later instant.",
        tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
        after: { renewDue: 'serving.renewing' },
        on: operator,
        invoke: {
          id: 'extendSandbox',
          src: 'extendSandbox',
          input: ({ context }) => ({
            ...session({ context }),
            vm: vm({ context }),
            untilAt: extendTo(context, rules),
          }),
          onDone: [
            {
              guard: { type: 'vmGoneTooOften', params: answer },
              target: 'snapshotting',
              actions: endAs('vmLost'),
            },
            {
              guard: { type: 'vmGone', params: answer },
              target: 'provisioning.opening',
              actions: 'noteVmLoss',
            },
            { target: 'serving', actions: { type: 'noteExpiry', params: answer } },
          ],
          onError: { target: 'serving', actions: { type: 'extendLater', params: failure } },
        },
      },

      snapshotting: {
        description:
          'Stops the vm, which saves its disk, and waits until it is seen stopped. Never extends meanwhile.',
        tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
        initial: 'stopping',
        on: {
          'stop.requested': { actions: endAs('stopped') },
          'drain.requested': { actions: endAs('drained') },
        },
        states: {
          stopping: {
            description: 'Asks for the stop.',
            invoke: {
              id: 'stopSandbox',
              src: 'stopSandbox',
              input: disk,
              onDone: [
                {
                  guard: { type: 'stopped', params: answer },
                  target: 'stopped',
                  actions: { type: 'noteStop', params: answer },
                },
                { target: 'waiting', actions: { type: 'lookLater', params: answer } },
              ],
              onError: { target: 'waiting', actions: { type: 'lookLater', params: failure } },
            },
          },
          waiting: {
            description: 'The stop is under way, or failed: then the vm ends by itself at its expiry.',
            after: { renewDue: 'renewing', lookDue: 'looking' },
          },
          looking: {
            description: 'Looks whether the vm is down.',
            invoke: {
              id: 'lookAtStop',
              src: 'lookAtStop',
              input: disk,
              onDone: [
                {
                  guard: { type: 'stopped', params: answer },
                  target: 'stopped',
                  actions: { type: 'noteStop', params: answer },
                },
                { guard: { type: 'stillRunning', params: answer }, target: 'stopping' },
                { target: 'waiting', actions: { type: 'lookLater', params: answer } },
              ],
              onError: { target: 'waiting', actions: { type: 'lookLater', params: failure } },
            },
          },
          renewing: {
            description: 'Keeps the claim while the disk is being saved.',
            invoke: {
              id: 'renewClaim',
              src: 'renewClaim',
              input: claimant,
              onDone: [
                {
                  guard: { type: 'claimed', params: answer },
                  target: 'looking',
                  actions: { type: 'noteClaim', params: answer },
                },
                {
                  guard: { type: 'claimTaken', params: answer },
                  target: 'looking',
                  actions: [endAs('claimLost'), 'forgetClaim'],
                },
                { target: 'looking', actions: 'forgetClaim' },
              ],
              onError: { target: 'looking', actions: { type: 'claimAgainLater', params: failure } },
            },
          },
          stopped: {
            description: 'The vm is down. What it was stopped for decides what follows.',
            always: [
              { guard: 'rollingOver', target: '#session.provisioning' },
              { guard: 'tidiedWhileParked', target: '#session.parked' },
              { guard: 'tidying', target: '#session.released.resting' },
              { guard: 'claimWasLost', target: '#session.lost', actions: 'dismissFacts' },
              { target: '#session.released' },
            ],
          },
        },
      },

      released: {
        description: 'No vm runs. The claim goes back; the newest snapshot waits for the session to return.',
        initial: 'deciding',
        states: {
          deciding: {
            description: "After a clean exit, Devin's final word is read before the claim goes back.",
            tags: ['holdsClaim'],
            always: [{ guard: 'endUnconfirmed', target: 'readingEnd' }, { target: 'releasing' }],
          },
          readingEnd: {
            description: 'Reads the final status, which lags a clean exit by seconds.',
            tags: ['holdsClaim'],
            invoke: {
              id: 'readRow',
              src: 'readRow',
              input: session,
              onDone: [
                {
                  guard: { type: 'readTerminated', params: answer },
                  target: 'releasing',
                  actions: endAs('ended'),
                },
                {
                  guard: { type: 'readOver', params: answer },
                  target: 'releasing',
                  actions: endAs('closed'),
                },
                {
                  guard: { type: 'readSuspended', params: answer },
                  target: 'releasing',
                  actions: endAs('suspended'),
                },
                { guard: { type: 'readGone', params: answer }, target: 'releasing', actions: endAs('gone') },
                { guard: { type: 'readsSpent', params: answer }, target: 'releasing' },
                { target: 'awaitingEnd', actions: { type: 'finalReadLater', params: answer } },
              ],
              onError: 'releasing',
            },
          },
          awaitingEnd: {
            description: 'Between two reads of the final status.',
            tags: ['holdsClaim'],
            after: { lookDue: 'readingEnd' },
          },
          releasing: {
            description: 'Gives the claim back. Not ours any more, or gone, is as good.',
            tags: ['holdsClaim'],
            invoke: {
              id: 'releaseClaim',
              src: 'releaseClaim',
              input: claimant,
              onDone: [
                {
                  guard: 'endedForGood',
                  target: '#session.discarding',
                  actions: { type: 'noteRelease', params: answer },
                },
                {
                  guard: 'shouldPark',
                  target: '#session.parked',
                  actions: { type: 'noteRelease', params: answer },
                },
                { guard: 'failed', target: 'coolingOff', actions: { type: 'noteRelease', params: answer } },
                { target: 'resting', actions: { type: 'noteRelease', params: answer } },
              ],
              onError: { target: 'releasing', reenter: true },
            },
          },
          coolingOff: {
            description: 'The episode failed; the session may be claimed again after a pause.',
            tags: ['atRest'],
            always: [
              { guard: 'terminated', target: '#session.discarding' },
              { guard: 'nothingLeft', target: '#session.ended' },
            ],
            after: { retryDue: { target: 'resting', actions: 'noteWaited' } },
            on: {
              'retry.requested': { target: 'resting', actions: 'forgive' },
              'stop.requested': { target: '#session.parked', actions: endAs('stopped') },
              ...strayVm,
            },
          },
          resting: {
            description: 'Asleep with its files. A claimable row starts the next episode.',
            tags: ['atRest'],
            always: [
              { guard: 'terminated', target: '#session.discarding' },
              { guard: 'nothingLeft', target: '#session.ended' },
              { guard: 'claimable', target: '#session.queued', actions: 'beginEpisode' },
            ],
            after: { keepDue: '#session.discarding' },
            on: {
              'stop.requested': { target: '#session.parked', actions: endAs('stopped') },
              ...strayVm,
            },
          },
        },
      },

      lost: {
        description: 'Another acceptor holds the claim. Ours again when the row changes and may be claimed.',
        tags: ['atRest'],
        always: [
          { guard: 'terminated', target: 'discarding' },
          { guard: 'nothingLeft', target: 'ended' },
          { guard: 'claimable', target: 'queued', actions: 'beginEpisode' },
        ],
        after: { keepDue: 'discarding' },
        on: { 'stop.requested': { target: 'parked', actions: endAs('stopped') }, ...strayVm },
      },

      parked: {
        description:
          'Stopped by an operator, or failed too often in a row: waits for a retry. Files are kept.',
        tags: ['atRest', 'needsOperator'],
        always: [
          { guard: 'terminated', target: 'discarding' },
          { guard: 'nothingLeft', target: 'ended' },
        ],
        after: { keepDue: 'discarding' },
        on: { 'retry.requested': { target: 'released.resting', actions: 'forgive' }, ...strayVm },
      },

      discarding: {
        description:
          'The session is over for good, or its time at rest is: deletes the sandbox with its snapshots.',
        tags: ['mayHoldVm'],
        always: { guard: 'noDisk', target: 'ended' },
        invoke: {
          id: 'discardSandbox',
          src: 'discardSandbox',
          input: disk,
          onDone: { target: 'ended', actions: 'noteDiscard' },
          onError: { target: 'discarding', reenter: true },
        },
      },

      ended: { description: 'Nothing of ours is left.', type: 'final' },
    },
  });
}

/** The machine with the documented defaults: diagrams, model tests, inspector. */
export const sessionMachine = createSessionMachine();
export type SessionMachine = typeof sessionMachine;
