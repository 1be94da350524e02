/**
 * How a deployment comes to its connection with Devin, as a statechart.
 *
 * One actor for this deployment's own connection, and one for each project of
 * somebody else that the integration sets up. It decides and never acts:
 * effects are named here and performed by `src/effects/`, through the same
 * interpreter as sessions. Knows no secret.
 */
import { type ConnectionContext, freshContext, type Project } from './connection/context.js';
import type { EffectFailure } from './connection/effects.js';
import { connectionSetup } from './connection/setup.js';

/** Grows with every change of the chart or of the context's shape. */
export const CONNECTION_VERSION = 1;

interface Args {
  context: ConnectionContext;
}
const attempt = ({ context }: Args) => ({ attemptId: context.attemptId ?? '' });
/** XState asks for the input of an effect on the way through its state, also when nothing will be invoked. */
const projectOf = ({ context }: Args) => ({
  ...attempt({ context }),
  project: context.project as Project,
});
const answer = <Output>({ event }: { event: { output: Output } }) => event.output;
const failure = ({ event }: { event: { error: unknown } }) => event.error as EffectFailure;

/** An attempt that is over in one way or another: its secrets go, then it stands. */
const clearing = {
  description: "Deletes the attempt's secrets.",
  invoke: {
    id: 'forgetAttempt',
    src: 'forgetAttempt',
    input: attempt,
    onDone: { target: 'standing', actions: { type: 'noteRest', params: answer } },
    onError: { target: 'clearing', reenter: true },
  },
} as const;
const standing = {
  description: 'Waits for somebody to begin anew. A project’s record ends after an hour.',
  tags: ['atRest'],
  after: { endsAt: '#connection.ended' },
} as const;

const again = {
  'authorization.requested': { target: '#connection.authorizing', actions: 'beginAttempt' },
  'disconnect.requested': {
    guard: 'ownDeployment',
    target: '#connection.disconnecting',
    actions: 'dropAttempt',
  },
} as const;

export function createConnectionMachine(now: () => number = () => 0) {
  return connectionSetup(now).createMachine({
    id: 'connection',
    version: String(CONNECTION_VERSION),
    context: ({ input }) => freshContext(input),
    initial: 'idle',
    states: {
      idle: {
        description:
          'Nothing is connected, and nobody is about to. A project’s record that nobody begins ends after an hour.',
        tags: ['atRest'],
        on: { 'authorization.requested': { target: 'authorizing', actions: 'beginAttempt' } },
        after: { endsAt: 'ended' },
      },

      authorizing: {
        description: 'A person is about to confirm the connection in the browser, within ten minutes.',
        initial: 'installing',
        on: {
          ...again,
          'authorization.denied': { guard: 'ofThisAttempt', target: 'refused', actions: 'noteDenial' },
        },
        after: { authorizeBy: { target: 'expired', actions: 'noteExpiry' } },
        states: {
          installing: {
            description: "Exchanges Vercel's code for access to the project that is to be set up.",
            always: { guard: 'ownDeployment', target: 'waiting' },
            invoke: {
              id: 'exchangeInstallation',
              src: 'exchangeInstallation',
              input: projectOf,
              onDone: [
                {
                  guard: { type: 'installed', params: answer },
                  target: 'waiting',
                  actions: { type: 'noteInstallation', params: answer },
                },
                {
                  guard: { type: 'refused', params: answer },
                  target: '#connection.refused',
                  actions: { type: 'noteRefusal', params: answer },
                },
              ],
              onError: { target: '#connection.failed', actions: { type: 'noteFailure', params: failure } },
            },
          },
          waiting: {
            description: 'For the browser to come back from Devin with a code.',
            tags: ['atRest'],
            on: { 'code.returned': { guard: 'ofThisAttempt', target: '#connection.exchanging' } },
          },
        },
      },

      exchanging: {
        description:
          'Exchanges the code, server to server. What is granted goes into the vault before anything else happens.',
        invoke: {
          id: 'exchangeCode',
          src: 'exchangeCode',
          input: attempt,
          onDone: [
            {
              guard: { type: 'granted', params: answer },
              target: 'configuring',
              actions: { type: 'noteGrant', params: answer },
            },
            {
              guard: { type: 'refused', params: answer },
              target: 'refused',
              actions: { type: 'noteRefusal', params: answer },
            },
          ],
          onError: { target: 'failed', actions: { type: 'noteFailure', params: failure } },
        },
      },

      configuring: {
        description: 'Puts what was granted to use: here, or in the settings of a project.',
        initial: 'adopting',
        states: {
          adopting: {
            description: 'Tries the token, then serves sessions with it.',
            always: { guard: 'forProject', target: 'writing' },
            invoke: {
              id: 'adoptConnection',
              src: 'adoptConnection',
              input: attempt,
              onDone: [
                {
                  guard: { type: 'adopted', params: answer },
                  target: '#connection.connected',
                  actions: { type: 'noteAdoption', params: answer },
                },
                {
                  guard: { type: 'refused', params: answer },
                  target: '#connection.refused',
                  actions: { type: 'noteRefusal', params: answer },
                },
              ],
              onError: { target: '#connection.failed', actions: { type: 'noteFailure', params: failure } },
            },
          },
          writing: {
            description: 'Writes the settings into the project. Repeating writes the same values.',
            invoke: {
              id: 'configureProject',
              src: 'configureProject',
              input: projectOf,
              onDone: [
                {
                  guard: { type: 'written', params: answer },
                  target: '#connection.connected',
                  actions: [
                    { type: 'noteWritten', params: answer },
                    { type: 'noteProjectConnected', params: answer },
                  ],
                },
                {
                  guard: { type: 'writtenPartly', params: answer },
                  target: '#connection.failed',
                  actions: { type: 'noteWritten', params: answer },
                },
              ],
              onError: { target: '#connection.failed', actions: { type: 'noteFailure', params: failure } },
            },
          },
        },
      },

      connected: {
        description: 'Sessions are served with what was granted, here or by the project that was set up.',
        initial: 'clearing',
        on: again,
        states: { clearing, standing },
      },

      expired: {
        description: 'Nobody authorized the attempt in time. What was connected before still is.',
        initial: 'clearing',
        on: again,
        states: { clearing, standing },
      },

      refused: {
        description:
          'Devin, Vercel or the person said no, and the same attempt can have no other end. What was connected before still is.',
        initial: 'clearing',
        on: again,
        states: { clearing, standing },
      },

      failed: {
        description:
          'Something did not work for long enough to give up. What was granted is kept for an hour, for another try.',
        initial: 'open',
        on: again,
        states: {
          open: {
            description: 'Waits for another try.',
            tags: ['atRest'],
            always: { guard: 'nothingGranted', target: 'clearing' },
            after: { retryBy: 'clearing' },
            on: { 'retry.requested': { guard: 'retryable', target: '#connection.configuring' } },
          },
          clearing,
          standing,
        },
      },

      disconnecting: {
        description: 'Forgets the credentials that sessions were served with, and what an attempt has left.',
        invoke: {
          id: 'forgetConnection',
          src: 'forgetConnection',
          input: attempt,
          onDone: { target: 'idle', actions: 'noteDisconnection' },
          onError: { target: 'disconnecting', reenter: true },
        },
      },

      ended: { description: 'Nothing is remembered of it.', type: 'final' },
    },
  });
}
