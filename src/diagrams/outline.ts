/**
 * A machine's outline: its top-level states, and one edge for each pair of them
 * that a transition anywhere inside connects, with what causes it.
 *
 * Read from the machine that runs, in the order in which the machine states
 * things. Steps inside a top-level state are left out.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

export interface Outline {
  initial: string;
  states: OutlineState[];
  edges: Edge[];
}

export interface OutlineState {
  name: string;
  description: string;
  final: boolean;
}

export interface Edge {
  from: string;
  to: string;
  causes: Cause[];
}

/**
 * What was heard, which deadline came, what an effect answered, that it failed,
 * or what holds. What no guard names is called by the inner state that it leads
 * to or comes from.
 */
export interface Cause {
  kind: 'event' | 'deadline' | 'answer' | 'failure' | 'condition';
  name: string;
}

export function outline(machine: AnyStateMachine): Outline {
  const { root } = machine;
  const states = Object.values(root.states);
  return {
    initial: String(root.config.initial),
    states: states.map((state) => ({
      name: state.key,
      description: state.description ?? '',
      final: state.type === 'final',
    })),
    edges: states.flatMap((state) => edgesFrom(state, Object.keys(root.states))),
  };
}

function edgesFrom(state: AnyStateNode, order: string[]): Edge[] {
  const found = exits(state);
  return order.flatMap((to) => {
    const causes = found.filter((exit) => exit.to === to).map(({ cause }) => cause);
    return to === state.key || causes.length === 0 ? [] : [{ from: state.key, to, causes }];
  });
}

interface Exit {
  to: string;
  cause: Cause;
}

/** The transitions of a state and of the states within it, by the top-level state that each leads to. */
function exits(node: AnyStateNode): Exit[] {
  const own: AnyTransitionDefinition[] = [...node.transitions.values(), node.always ?? []].flat();
  const leading = own.flatMap((transition) =>
    (transition.target ?? []).map((target) => ({
      to: String(target.path[0]),
      cause: causeOf(transition, target),
    })),
  );
  return [...leading, ...Object.values(node.states).flatMap(exits)];
}

function causeOf({ eventType, guard, source }: AnyTransitionDefinition, target: AnyStateNode): Cause {
  if (eventType === '') return { kind: 'condition', name: guardName(guard) ?? source.key };
  if (eventType.startsWith('xstate.error.')) return { kind: 'failure', name: 'failed' };
  if (eventType.startsWith('xstate.done.')) {
    const inner = target.path.length > 1 ? target.key : 'done';
    return { kind: 'answer', name: guardName(guard) ?? inner };
  }
  const deadline = source.after.find((timer) => timer.eventType === eventType);
  return deadline ? { kind: 'deadline', name: String(deadline.delay) } : { kind: 'event', name: eventType };
}

function guardName(guard: AnyTransitionDefinition['guard']): string | undefined {
  return typeof guard === 'object' ? guard.type : typeof guard === 'string' ? guard : undefined;
}
