/**
 * What an actor waits for, read off its active states.
 *
 * Never from the actions of the last transition: those die with the process,
 * while the saved state is still there. So the saved state is the outbox.
 */
import { type AnyMachineSnapshot, type AnyStateNode, getStateNodes } from 'xstate';
import { BugError } from '../errors.js';
import type { ReadableKind } from './actor.js';

export interface PendingEffect {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}
export interface Timer {
  readonly at: number;
  readonly event: { readonly type: string };
}

/** Each once: XState names the ancestors of a nested state repeatedly. */
const activeNodes = (kind: ReadableKind, snapshot: AnyMachineSnapshot): AnyStateNode[] =>
  snapshot.status === 'active' ? [...new Set(getStateNodes(kind.machine.root, snapshot.value))] : [];

/** The effect that the active states invoke; null when they invoke none. At most one is active at a time. */
export function pendingEffect(kind: ReadableKind, snapshot: AnyMachineSnapshot): PendingEffect | null {
  const [invoked] = activeNodes(kind, snapshot).flatMap((node) => node.invoke);
  if (invoked === undefined) return null;
  const { input } = invoked;
  return {
    id: invoked.id,
    name: String(invoked.src),
    input: typeof input === 'function' ? input({ context: snapshot.context } as never) : input,
  };
}

/** The armed timers of the active states, soonest first. */
export function timers(kind: ReadableKind, snapshot: AnyMachineSnapshot): Timer[] {
  return activeNodes(kind, snapshot)
    .flatMap((node) => node.after)
    .flatMap((transition): Timer[] => {
      const deadline = kind.deadlines[String(transition.delay)];
      if (deadline === undefined) {
        throw new BugError(`no deadline '${transition.delay}' in '${kind.name}'`);
      }
      const at = deadline(snapshot.context as never);
      return at === null ? [] : [{ at, event: { type: transition.eventType } }];
    })
    .sort((a, b) => a.at - b.at);
}

export const doneEvent = (effect: PendingEffect, output: unknown) => ({
  type: `xstate.done.actor.${effect.id}`,
  output,
});
export const errorEvent = (effect: PendingEffect, error: { message: string; at: number }) => ({
  type: `xstate.error.actor.${effect.id}`,
  error,
});

/** Whether an actor in this state (dotted) waits for the outside world only: it has ended, or is tagged `atRest`. */
export function isAtRest(kind: ReadableKind, state: string): boolean {
  let node: AnyStateNode = kind.machine.root;
  const tags = new Set<string>();
  for (const key of state.split('.')) {
    const below: AnyStateNode | undefined = node.states[key];
    if (below === undefined) throw new BugError(`no state '${state}' in '${kind.name}'`);
    node = below;
    for (const tag of node.tags) tags.add(tag);
  }
  return node.type === 'final' || tags.has('atRest');
}
