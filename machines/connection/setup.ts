/** Binds the names that the chart uses to what they mean. */
import { assign, setup } from 'xstate';
import type { ConnectionContext, ConnectionInput } from './context.js';
import { connectionDeadlines, type Deadline } from './deadlines.js';
import {
  type AdoptAnswer,
  connectionEffects,
  type EffectFailure,
  type GrantAnswer,
  type InstallAnswer,
  type Refusal,
  type WriteAnswer,
} from './effects.js';
import type { AuthorizationDenied, AuthorizationRequested, ConnectionEvent } from './events.js';

export type ConnectionTag = 'atRest';

/** A project's record is kept for this long once nothing happens to it any more: its browser is known no longer. */
const KEEP_MS = 3_600_000;
const LONGEST_PROBLEM = 300;

interface Other {
  readonly kind: string;
}

const problemOf = (text: string | null) => text?.slice(0, LONGEST_PROBLEM) ?? null;
const isOf = ({ context, event }: { context: ConnectionContext; event: ConnectionEvent }) =>
  'attemptId' in event && event.attemptId === context.attemptId;

/** Instants are read against `now` by live actors only (inspector, demonstrations). */
export function connectionSetup(now: () => number) {
  const countdown =
    (deadline: Deadline) =>
    ({ context }: { context: ConnectionContext }) =>
      Math.max(0, (deadline(context) ?? Number.POSITIVE_INFINITY) - now());

  return setup({
    types: {
      context: {} as ConnectionContext,
      events: {} as ConnectionEvent,
      input: {} as ConnectionInput,
      tags: {} as ConnectionTag,
    },
    actors: connectionEffects,
    delays: {
      authorizeBy: countdown(connectionDeadlines.authorizeBy),
      retryBy: countdown(connectionDeadlines.retryBy),
      endsAt: countdown(connectionDeadlines.endsAt),
    },
    guards: {
      /** The event is of the attempt that counts, not of one that it has superseded. */
      ofThisAttempt: isOf,
      /** A project's credentials are the project's: there is nothing here to forget. */
      ownDeployment: ({ context }) => context.project === null,
      forProject: ({ context }) => context.project !== null,
      retryable: ({ context, event }) => isOf({ context, event }) && context.granted !== null,
      nothingGranted: ({ context }) => context.granted === null,
      installed: (_, params: Other) => params.kind === 'installed',
      granted: (_, params: Other) => params.kind === 'granted',
      adopted: (_, params: Other) => params.kind === 'adopted',
      written: (_, params: Other) => params.kind === 'written',
      writtenPartly: (_, params: Other) => params.kind === 'partly',
      refused: (_, params: Other) => params.kind === 'refused',
    },
    actions: {
      beginAttempt: assign(({ event }) => {
        const { attemptId, authorizeBy, retryBy } = event as AuthorizationRequested;
        return { attemptId, authorizeBy, retryBy, granted: null, problem: null, endsAt: null };
      }),
      noteInstallation: assign(({ context }, params: InstallAnswer | Other) => {
        const { teamId, name } = params as InstallAnswer;
        return { project: context.project && { ...context.project, teamId, name } };
      }),
      noteGrant: assign((_, params: GrantAnswer | Other) => ({ granted: (params as GrantAnswer).outpost })),
      noteAdoption: assign((_, params: AdoptAnswer | Other) => {
        const { outpost, at } = params as AdoptAnswer;
        return { current: { ...outpost, since: at }, problem: null };
      }),
      noteWritten: assign(({ context }, params: WriteAnswer) => ({
        project: context.project && { ...context.project, written: [...params.written] },
        problem: problemOf(params.problem),
      })),
      noteProjectConnected: assign(({ context }, params: WriteAnswer) => ({
        current: context.granted && { ...context.granted, since: params.at },
      })),
      noteRefusal: assign((_, params: Refusal | Other) => ({
        problem: problemOf((params as Refusal).problem),
      })),
      noteDenial: assign(({ event }) => ({ problem: (event as AuthorizationDenied).problem })),
      noteFailure: assign((_, params: EffectFailure) => ({ problem: problemOf(params.message) })),
      noteExpiry: assign(() => ({ problem: 'nobody authorized it in time: start again' })),
      noteRest: assign(({ context }, params: { at: number }) => ({
        granted: null,
        endsAt: context.project === null ? null : params.at + KEEP_MS,
      })),
      dropAttempt: assign(() => ({ granted: null, problem: null })),
      noteDisconnection: assign(() => ({ attemptId: null, current: null })),
    },
  });
}
