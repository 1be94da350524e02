/**
 * Snapshotting: the vm stops, which saves its disk.
 *
 * Comes before the release, so that a resume cannot begin while the disk is
 * being saved. The slot is held until the vm is seen stopped, however long that
 * takes; a vm that cannot be stopped ends by itself, because nothing extends it.
 */
import type { SessionSetup } from '../setup.js';
import { answer, disk, endAs, failure, renewal } from '../words.js';

export const snapshotting = (setup: SessionSetup) =>
  setup.createStateConfig({
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
          ...renewal,
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
  });
