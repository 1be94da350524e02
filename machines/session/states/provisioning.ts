/**
 * Provisioning: from a claim to a running remote.
 *
 * A vm comes up with the session's files, then one command in it downloads,
 * verifies and starts the remote. Everything before the launch may be repeated;
 * after it the claim is not renewed until the row says `running`, so that a
 * remote that never connects is given up in time.
 */
import type { SessionSetup } from '../setup.js';
import {
  answer,
  claimant,
  endAs,
  failed,
  failure,
  launchId,
  lookAtRemote,
  operator,
  renewal,
  to,
  troubles,
  vm,
} from '../words.js';

export const provisioning = (setup: SessionSetup) =>
  setup.createStateConfig({
    description:
      'Brings up the vm with the files of earlier episodes, then downloads, verifies and starts the remote.',
    tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
    initial: 'opening',
    always: [
      { guard: 'over', target: to.snapshotting, actions: 'noteOutcomeOfFacts' },
      { guard: 'asleepBeforeLaunch', target: to.snapshotting, actions: endAs('suspended') },
    ],
    after: {
      // The claim is left to lapse: the slot alone is held until the vm is seen stopped.
      settleBy: { target: to.snapshotting, actions: [endAs('neverSettled'), 'forgetClaim'] },
      claimDeadline: { target: to.snapshotting, actions: endAs('claimExpired') },
      connectBy: { target: to.snapshotting, actions: endAs('neverConnected') },
    },
    on: operator,
    states: {
      opening: {
        description: 'Creates the sandbox, or boots it from its newest snapshot; sets its network policy.',
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
              target: to.snapshotting,
              actions: endAs('claimLost'),
            },
            { guard: { type: 'rowGone', params: answer }, target: to.snapshotting, actions: endAs('gone') },
            {
              guard: { type: 'sessionOver', params: answer },
              target: to.snapshotting,
              actions: endAs('closed'),
            },
            {
              target: 'settling',
              actions: [
                { type: 'noteSettling', params: answer },
                { type: 'lookLater', params: answer },
              ],
            },
          ],
          onError: { target: to.snapshotting, actions: failed },
        },
      },
      settling: {
        description: 'The sandbox is booting, or still saving its last vm.',
        after: { renewDue: 'renewing', lookDue: 'opening' },
      },
      renewing: {
        description: 'Keeps the claim while the vm is not up yet.',
        invoke: {
          ...renewal,
          onDone: [
            {
              guard: { type: 'claimed', params: answer },
              target: 'opening',
              actions: { type: 'noteClaim', params: answer },
            },
            {
              guard: { type: 'claimTaken', params: answer },
              target: to.snapshotting,
              actions: endAs('claimLost'),
            },
            { guard: { type: 'rowGone', params: answer }, target: to.snapshotting, actions: endAs('gone') },
            { target: to.snapshotting, actions: endAs('closed') },
          ],
          onError: { target: 'opening', actions: { type: 'claimAgainLater', params: failure } },
        },
      },
      launching: {
        description: 'One detached command downloads, verifies and starts the remote under the launch lock.',
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
              target: to.snapshotting,
              actions: endAs('vmLost'),
            },
            { guard: { type: 'vmGone', params: answer }, target: 'opening', actions: 'noteVmLoss' },
            {
              guard: { type: 'claimTaken', params: answer },
              target: to.snapshotting,
              actions: endAs('claimLost'),
            },
            { guard: { type: 'rowGone', params: answer }, target: to.snapshotting, actions: endAs('gone') },
            { target: to.snapshotting, actions: endAs('closed') },
          ],
          onError: { target: to.snapshotting, actions: failed },
        },
      },
      confirming: {
        description: 'The command runs in the vm; the next look tells how far it is.',
        after: { lookDue: 'looking' },
        on: {
          'doorbell.rung': { target: 'looking', actions: 'hearBell' },
          'queue.changed': { guard: 'becameConnected', target: 'looking', actions: 'noteFacts' },
        },
      },
      looking: {
        description: 'Looks whether the remote was verified and started.',
        invoke: {
          ...lookAtRemote,
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
  });
