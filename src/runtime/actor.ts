/**
 * What the durable interpreter needs to know of a kind of actor.
 *
 * A kind pairs a machine with what surrounds it: the schema of its saved
 * context, its deadlines, and one implementation for every effect that the
 * machine invokes. A missing or mistyped implementation does not compile.
 */
import type {
  AnyActorLogic,
  AnyMachineSnapshot,
  AnyStateMachine,
  InputFrom,
  OutputFrom,
  StateValue,
} from 'xstate';
import type { z } from 'zod';

/** One call of an effect. */
export interface EffectCall {
  /** The same for every repetition of this effect, whoever drives, unless news moved the actor in between. */
  readonly key: string;
  /** 1 for the first try. */
  readonly attempt: number;
  /** Now, by the orchestrator's clock. */
  now(): number;
  /** Aborts when the lease is lost, the time for one effect is over, or the process stops. */
  readonly signal: AbortSignal;
  /** Throws `StaleDriverError` unless this driver still holds lease and rev. Await it right before a bold act. */
  fence(): Promise<void>;
}

/** One implementation for each declared effect. */
export type Effects<Declared extends Record<string, AnyActorLogic>> = {
  readonly [K in keyof Declared]: (
    input: InputFrom<Declared[K]>,
    call: EffectCall,
  ) => Promise<OutputFrom<Declared[K]>>;
};

/** What is kept of a snapshot. `context` is checked by the kind's schema after its migrations. */
export interface SavedSnapshot {
  readonly status: 'active' | 'done';
  readonly value: StateValue;
  readonly context: unknown;
}

/** As much of a kind as reading its rows takes. */
export type ReadableKind = Omit<ActorKind, 'effects'>;

export interface ActorKind {
  readonly name: string;
  /** Version of the chart and of the context's shape. */
  readonly version: number;
  readonly machine: AnyStateMachine;
  readonly contextSchema: z.ZodType;
  readonly eventSchema: z.ZodType<{ type: string }>;
  /** Old saved state and context to new, by the version they come from; applied one after the other. */
  readonly migrations: Readonly<Record<number, (saved: SavedSnapshot) => SavedSnapshot>>;
  readonly deadlines: Readonly<Record<string, (context: never) => number | null>>;
  readonly effects: Readonly<Record<string, (input: never, call: EffectCall) => Promise<unknown>>>;
  /** Failed tries of an effect before the machine's `onError` hears of it. */
  patience(effect: string): number;
  /** The event that tells the actor what the queue's facts (JSON text) are, or null when it knows them already. */
  factsEvent(facts: string, context: unknown): { type: string } | null;
  holdsSlot(snapshot: AnyMachineSnapshot): boolean;
  episode(context: unknown): number;
}
