/**
 * Serving: the remote runs, and the chart waits for news and for what is due.
 *
 * No end is believed on the word of the queue alone: a single read confirms
 * it, and `suspended` needs several. Trouble in the vm leads back to a launch or
 * to a new vm, never straight to an end.
 */
import type { SessionSetup } from '../setup.js';
import {
  answer,
  claimant,
  endAs,
  failure,
  lookAtRemote,
  operator,
  renewal,
  session,
  to,
  troubles,
  vm,
} from '../words.js';

export const serving = (setup: SessionSetup) =>
  setup.createStateConfig({
    description: 'The remote runs in its vm and works for Devin.',
    tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
    initial: 'connecting',
    on: operator,
    states: {
      connecting: {
        description: "The remote runs; Devin's row does not say `running` under our claim yet.",
        always: [
          { guard: 'restartPending', target: 'coolingDown' },
          { guard: 'connected', target: 'monitoring', actions: 'noteConnected' },
          { guard: 'overOrMissing', target: 'confirmingEnd' },
        ],
        after: {
          connectBy: { target: to.snapshotting, actions: endAs('neverConnected') },
          probeDue: 'probing',
          extendDue: '#session.extending',
        },
        on: { 'sandbox.seen': { guard: 'seenDown', target: 'probing' } },
      },
      monitoring: {
        description: 'All is well as far as we know: waits for news, and for the next thing that is due.',
        always: [
          { guard: 'overOrMissing', target: 'confirmingEnd' },
          { guard: 'doubtUnderWay', target: 'doubting' },
          { guard: 'seemsSuspended', target: 'confirmingEnd' },
          { guard: 'claimSeemsLost', target: 'renewing' },
          { guard: 'policyOutdated', target: 'securing' },
        ],
        after: {
          renewDue: 'renewing',
          secureDue: 'securing',
          rollOverDue: { target: to.snapshotting, actions: 'beginRollOver' },
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
          ...lookAtRemote,
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
        after: { extendDue: '#session.extending' },
        invoke: {
          ...renewal,
          onDone: [
            {
              guard: { type: 'claimed', params: answer },
              target: 'connecting',
              actions: [{ type: 'noteClaim', params: answer }, 'dismissClaimDoubt'],
            },
            {
              guard: { type: 'claimTaken', params: answer },
              target: to.snapshotting,
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
        after: { renewDue: 'renewing', extendDue: '#session.extending' },
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
              target: to.snapshotting,
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
        after: { extendDue: '#session.extending' },
        invoke: {
          id: 'readRow',
          src: 'readRow',
          input: session,
          onDone: [
            {
              guard: { type: 'readTerminated', params: answer },
              target: to.snapshotting,
              actions: endAs('ended'),
            },
            {
              guard: { type: 'readOver', params: answer },
              target: to.snapshotting,
              actions: endAs('closed'),
            },
            {
              guard: { type: 'readGoneForGood', params: answer },
              target: to.snapshotting,
              actions: endAs('gone'),
            },
            {
              guard: { type: 'readSuspendedEnough', params: answer },
              target: to.snapshotting,
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
        description: '`suspended` flickers while the remote flushes; reads 3, 6 and 9 s later must agree.',
        after: { probeDue: 'probing', lookDue: 'confirmingEnd' },
      },
      coolingDown: {
        description: 'The remote crashed; it is started again in the same vm after a pause.',
        always: { guard: 'overOrMissing', target: 'confirmingEnd' },
        after: {
          renewDue: 'renewing',
          extendDue: '#session.extending',
          restartDue: {
            target: '#session.provisioning.launching',
            actions: ['noteNewLaunch', 'forgetCrash'],
          },
        },
      },
    },
  });
