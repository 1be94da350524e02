/**
 * The lifecycle of one Devin session, as a statechart.
 *
 * It decides and never acts: effects are named here and performed by
 * `src/effects/`, through the durable interpreter in `src/runtime/`. It reads no
 * clock; deadlines are instants in context (`session/deadlines.ts`), and what
 * the names of guards and actions mean stands beside them (`session/setup.ts`).
 */
import { freshContext } from './session/context.js';
import { extendTo } from './session/deadlines.js';
import { type SessionRules, sessionRules } from './session/rules.js';
import { sessionSetup } from './session/setup.js';
import { provisioning } from './session/states/provisioning.js';
import { released } from './session/states/released.js';
import { serving } from './session/states/serving.js';
import { snapshotting } from './session/states/snapshotting.js';
import {
  answer,
  claimant,
  disk,
  endAs,
  failed,
  failure,
  operator,
  session,
  strayVm,
  vm,
} from './session/words.js';

/** Grows with every change of the chart or of the context's shape; `migrations` of its kind say how old rows follow. */
export const SESSION_VERSION = 2;

/** `now` serves live actors only (inspector, demonstrations): the durable interpreter reads deadlines itself. */
export function createSessionMachine(rules: SessionRules = sessionRules(), now: () => number = () => 0) {
  const setup = sessionSetup(rules, now);
  return setup.createMachine({
    id: 'session',
    version: String(SESSION_VERSION),
    context: ({ input }) => freshContext(input),
    initial: 'queued',
    on: {
      'queue.changed': { actions: 'noteFacts' },
      'doorbell.rung': { actions: 'hearBell' },
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
              actions: [endAs('claimLost'), 'dismissFacts', { type: 'noteLostTo', params: answer }],
            },
            {
              guard: { type: 'rowGone', params: answer },
              target: 'released.resting',
              actions: [endAs('gone'), 'dismissFacts'],
            },
            { target: 'released', actions: endAs('closed') },
          ],
          onError: { target: 'released', actions: failed },
        },
      },

      provisioning: provisioning(setup),

      serving: serving(setup),

      extending: {
        description: "Little is left of the vm's time: moves its end to a later instant.",
        tags: ['holdsSlot', 'holdsClaim', 'mayHoldVm'],
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

      snapshotting: snapshotting(setup),

      released: released(setup),

      lost: {
        description: 'Another acceptor holds the claim. Ours again when the row changes and may be claimed.',
        tags: ['atRest'],
        always: [
          { guard: 'terminated', target: 'discarding' },
          { guard: 'nothingLeft', target: 'ended' },
          { guard: 'claimable', target: 'queued', actions: 'beginEpisode' },
        ],
        // The holder may let go between two looks, and the row then reads as it did before.
        after: { keepDue: 'discarding', retryDue: { actions: 'noteWaited' } },
        on: {
          'retry.requested': { target: 'released.resting', actions: 'forgive' },
          'stop.requested': { target: 'parked', actions: endAs('stopped') },
          ...strayVm,
        },
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
