/**
 * A small actor for tests of the interpreter: a keeper who opens a door when
 * the bell rings, and closes it again after a while.
 *
 *     closed -bell.rung-> opening -(unlock)-> open.quiet/greeting -closeDue-> closing -(lock)-> closed
 *                            \- patienceOver, onError -> stuck -door.mended-> closed
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';
import type { ActorKind, EffectCall, Effects } from '../../src/runtime/actor.js';

const contextSchema = z.strictObject({
  door: z.string().min(1),
  visitors: z.int().min(0),
  weather: z.string().nullable(),
  openUntil: z.number().nullable(),
  patienceUntil: z.number().nullable(),
  trouble: z.string().nullable(),
});
export type DoorContext = z.infer<typeof contextSchema>;

const eventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('bell.rung'), patienceUntil: z.number().nullable().default(null) }),
  z.strictObject({ type: z.literal('visitor.came') }),
  z.strictObject({ type: z.literal('door.mended') }),
  z.strictObject({ type: z.literal('house.demolished') }),
  z.strictObject({ type: z.literal('keeper.leaving') }),
  z.strictObject({ type: z.literal('weather.changed'), weather: z.string() }),
  z.strictObject({
    type: z.literal('keeper.confused'),
    by: z.enum(['guard', 'assign', 'input', 'deadline']),
  }),
  z.strictObject({ type: z.literal('clock.striking') }),
]);
export type DoorEvent = z.infer<typeof eventSchema>;

export type UnlockAnswer =
  | { readonly kind: 'unlocked'; readonly openUntil: number }
  | { readonly kind: 'odd' };

const declared = {
  unlock: fromPromise<UnlockAnswer, { door: string }>(() => Promise.reject(new Error('not here'))),
  lock: fromPromise<{ locked: true }, { gently: boolean }>(() => Promise.reject(new Error('not here'))),
};
export type DoorEffects = Effects<typeof declared>;

const confusion = (): never => {
  throw new TypeError('the keeper is confused');
};

const machine = setup({
  types: {
    context: {} as DoorContext,
    events: {} as DoorEvent,
    input: {} as { door: string },
    tags: {} as 'atRest',
  },
  actors: declared,
  guards: {
    unlocked: (_, answer: UnlockAnswer) => answer.kind === 'unlocked',
    confusing: (_, by: string) => (by === 'guard' ? confusion() : true),
    by: (_, params: { by: string; is: string }) => params.by === params.is,
  },
  delays: { closeDue: 0, patienceOver: 0, confusion: 0, striking: 0 },
  actions: {
    notePatience: assign((_, patienceUntil: number | null) => ({ patienceUntil })),
    noteOpen: assign((_, answer: UnlockAnswer) =>
      answer.kind === 'unlocked' ? { openUntil: answer.openUntil } : {},
    ),
    countVisitor: assign(({ context }) => ({ visitors: context.visitors + 1 })),
    noteWeather: assign((_, weather: string) => ({ weather })),
    noteTrouble: assign((_, trouble: string) => ({ trouble })),
    forget: assign({ openUntil: null, patienceUntil: null, trouble: null }),
    beConfused: assign(confusion),
  },
}).createMachine({
  id: 'doorkeeper',
  context: ({ input }) => ({
    door: input?.door ?? '',
    visitors: 0,
    weather: null,
    openUntil: null,
    patienceUntil: null,
    trouble: null,
  }),
  initial: 'closed',
  on: {
    'visitor.came': { actions: 'countVisitor' },
    'weather.changed': { actions: { type: 'noteWeather', params: ({ event }) => event.weather } },
    'house.demolished': '.demolished',
    'keeper.leaving': '.closing',
    'keeper.confused': [
      {
        guard: { type: 'by', params: ({ event }) => ({ by: event.by, is: 'input' }) },
        target: '.misreading',
      },
      {
        guard: { type: 'by', params: ({ event }) => ({ by: event.by, is: 'deadline' }) },
        target: '.miscounting',
      },
      { guard: { type: 'confusing', params: ({ event }) => event.by }, actions: 'beConfused' },
    ],
    'clock.striking': '.striking',
  },
  states: {
    closed: {
      tags: ['atRest'],
      on: {
        'bell.rung': {
          target: 'opening',
          actions: { type: 'notePatience', params: ({ event }) => event.patienceUntil },
        },
      },
    },
    opening: {
      after: {
        patienceOver: { target: 'stuck', actions: { type: 'noteTrouble', params: 'out of patience' } },
      },
      invoke: {
        id: 'unlock',
        src: 'unlock',
        input: ({ context }) => ({ door: context.door }),
        onDone: {
          guard: { type: 'unlocked', params: ({ event }) => event.output },
          target: 'open',
          actions: { type: 'noteOpen', params: ({ event }) => event.output },
        },
        onError: {
          target: 'stuck',
          actions: {
            type: 'noteTrouble',
            params: ({ event }) => (event.error as { message: string }).message,
          },
        },
      },
    },
    open: {
      initial: 'quiet',
      after: { closeDue: 'closing' },
      states: {
        quiet: { on: { 'visitor.came': { target: 'greeting', actions: 'countVisitor' } } },
        greeting: {},
      },
    },
    closing: {
      // Without an `onError`: a lock that fails for good is more than this machine can bear.
      invoke: {
        id: 'lock',
        src: 'lock',
        input: { gently: true },
        onDone: { target: 'closed', actions: 'forget' },
      },
    },
    stuck: { on: { 'door.mended': { target: 'closed', actions: 'forget' } } },
    misreading: {
      invoke: { id: 'unlock', src: 'unlock', input: confusion, onDone: 'open', onError: 'stuck' },
    },
    miscounting: { after: { confusion: 'closed' } },
    /** A timer that is due again as soon as it has fired. */
    striking: { after: { striking: { actions: 'countVisitor' } } },
    demolished: { type: 'final' },
  },
});

/** The kind with the given effects; `changes` replaces any part of it. */
export function doorkeeper(effects: DoorEffects, changes: Partial<ActorKind> = {}): ActorKind {
  return {
    name: 'doorkeeper',
    version: 1,
    machine,
    contextSchema,
    eventSchema,
    migrations: {},
    deadlines: {
      closeDue: ({ openUntil }: DoorContext) => openUntil,
      patienceOver: ({ patienceUntil }: DoorContext) => patienceUntil,
      confusion,
      striking: () => 1,
    },
    effects,
    patience: () => 3,
    factsEvent(text, context) {
      const { weather } = JSON.parse(text) as { weather: string };
      return weather === (context as DoorContext).weather ? null : { type: 'weather.changed', weather };
    },
    holdsSlot: (snapshot) => !snapshot.hasTag('atRest') && snapshot.status === 'active',
    episode: () => 1,
    ...changes,
  };
}

/** One call of an effect, as its implementation saw it. */
export interface Called {
  readonly effect: string;
  readonly input: unknown;
  readonly call: EffectCall;
}

/** Effects that succeed at once and note their calls. An unlocked door stays open until `openUntil`. */
export function willing(openUntil: number, calls: Called[] = []): DoorEffects {
  return {
    async unlock(input, call) {
      calls.push({ effect: 'unlock', input, call });
      return { kind: 'unlocked', openUntil };
    },
    async lock(input, call) {
      calls.push({ effect: 'lock', input, call });
      return { locked: true };
    },
  };
}
