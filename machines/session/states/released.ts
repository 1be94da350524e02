/**
 * Released: no vm runs, the claim goes back, and the session rests with its files.
 *
 * After a clean exit Devin's final word is read first, because it lags. A
 * failed episode cools off before the next; too many in a row park the session.
 */
import type { SessionSetup } from '../setup.js';
import { answer, claimant, endAs, session, strayVm } from '../words.js';

export const released = (setup: SessionSetup) =>
  setup.createStateConfig({
    description: 'No vm runs. The claim goes back; the newest snapshot waits for the session to return.',
    initial: 'deciding',
    on: { 'stop.requested': { actions: endAs('stopped') } },
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
  });
