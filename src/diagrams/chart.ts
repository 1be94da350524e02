/**
 * A machine as its diagrams need it: states within states, and for every
 * transition what causes it and where it leads.
 *
 * Read from the machine that runs, in the order in which the machine states
 * things. Leaves nothing out; what a diagram shows of it is the diagram's choice.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

export interface State {
  /** Dotted, `serving.monitoring`; empty for the machine itself. */
  path: string;
  name: string;
  description: string;
  tags: string[];
  /** The effect that is pending while the state is active. */
  effect: string | null;
  deadlines: string[];
  final: boolean;
  /** The inner state in which it begins. */
  initial: string | null;
  inner: State[];
  transitions: Transition[];
}

export interface Transition {
  from: string;
  /** Null: something is noted, and the state stays. */
  to: string | null;
  cause: Cause;
  guard: string | null;
  /** How an episode ends by it, as far as the machine's text says so. */
  outcome: string | null;
}

/**
 * What was heard, which deadline came, what an effect answered, that it failed,
 * or what holds. What no guard names is called by the inner state that it leads
 * to or comes from.
 */
export interface Cause {
  kind: 'event' | 'deadline' | 'answer' | 'failure' | 'condition';
  name: string;
  /** Of an event: what it must say besides to count. */
  guard: string | null;
}

export function chart(machine: AnyStateMachine): State {
  return stateOf(machine.root);
}

function stateOf(node: AnyStateNode): State {
  const own: AnyTransitionDefinition[] = [...node.transitions.values(), node.always ?? []].flat();
  const initial = node.config.initial;
  return {
    path: node.path.join('.'),
    name: node.key,
    description: node.description ?? '',
    tags: [...node.tags],
    effect: node.invoke[0] === undefined ? null : String(node.invoke[0].src),
    deadlines: [...new Set(node.after.map(({ delay }) => String(delay)))],
    final: node.type === 'final',
    initial: typeof initial === 'string' ? initial : null,
    inner: Object.values(node.states).map(stateOf),
    transitions: own.map(transitionOf),
  };
}

function transitionOf(definition: AnyTransitionDefinition): Transition {
  const target = definition.target?.[0];
  return {
    from: definition.source.path.join('.'),
    to: target?.path.join('.') ?? null,
    cause: causeOf(definition, target),
    guard: nameOf(definition.guard),
    outcome: outcomeOf(definition.actions),
  };
}

function causeOf(
  { eventType, guard, source }: AnyTransitionDefinition,
  target: AnyStateNode | undefined,
): Cause {
  const guarded = nameOf(guard);
  const cause = (kind: Cause['kind'], name: string): Cause => ({
    kind,
    name,
    guard: kind === 'event' ? guarded : null,
  });
  if (eventType === '') return cause('condition', guarded ?? source.key);
  if (eventType.startsWith('xstate.error.')) return cause('failure', 'effectFailed');
  if (eventType.startsWith('xstate.done.')) {
    const inner = target && target.path.length > 1 ? target.key : null;
    const isOnly = source.transitions.get(eventType)?.length === 1;
    return cause('answer', guarded ?? inner ?? (isOnly ? 'done' : `${source.invoke[0]?.src} otherwise`));
  }
  const deadline = source.after.find((timer) => timer.eventType === eventType);
  return deadline ? cause('deadline', String(deadline.delay)) : cause('event', eventType);
}

function outcomeOf(actions: readonly unknown[]): string | null {
  const outcomes = actions.flatMap((action) => {
    const { params } = typeof action === 'object' ? (action as { params?: unknown }) : {};
    return typeof params === 'object' && params !== null && 'outcome' in params
      ? [String(params.outcome)]
      : [];
  });
  return outcomes[0] ?? null;
}

/** Of a guard; null when there is none. */
function nameOf(named: unknown): string | null {
  if (typeof named === 'string') return named;
  return typeof named === 'object' && named !== null && 'type' in named ? String(named.type) : null;
}

/** All transitions of a state and of the states within it. */
export const transitionsWithin = ({ transitions, inner }: State): Transition[] => [
  ...transitions,
  ...inner.flatMap(transitionsWithin),
];

/** A state and all states within it, each before those within it. */
export const statesWithin = (state: State): State[] => [state, ...state.inner.flatMap(statesWithin)];

/** The top-level state that a path is in. */
export const topOf = (path: string): string => path.split('.')[0] ?? path;
