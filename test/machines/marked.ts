/** The session machine with a mark on every transition, so that a walk can tell which of them it took. */
import { type AnyStateMachine, createMachine } from 'xstate';
import type { SessionRules } from '../../machines/session/rules.js';
import { createSessionMachine } from '../../machines/session.js';

type Config = Record<string, unknown>;

export interface MarkedMachine {
  readonly machine: AnyStateMachine;
  /** One name per transition: `serving.monitoring after renewDue #0`. */
  readonly marks: readonly string[];
}

export function markedSessionMachine(rules: SessionRules): MarkedMachine {
  const original = createSessionMachine(rules);
  const marks: string[] = [];
  const mark = (name: string) => {
    marks.push(name);
    return { type: 'mark', params: { name } };
  };
  const transitions = (given: unknown, name: string): unknown =>
    (Array.isArray(given) ? given : [given]).map((one: unknown, index) => {
      const transition = typeof one === 'string' ? { target: one } : (one as Config);
      const actions = [transition.actions ?? []].flat();
      return { ...transition, actions: [...actions, mark(`${name} #${index}`)] };
    });
  const each = (given: unknown, name: string): Config =>
    Object.fromEntries(
      Object.entries((given ?? {}) as Config).map(([key, value]) => [
        key,
        transitions(value, `${name} ${key}`),
      ]),
    );
  const node = (config: Config, path: string): Config => ({
    ...config,
    ...(config.on ? { on: each(config.on, `${path} on`) } : {}),
    ...(config.after ? { after: each(config.after, `${path} after`) } : {}),
    ...(config.always ? { always: transitions(config.always, `${path} always`) } : {}),
    ...(config.invoke ? { invoke: invoke(config.invoke as Config, path) } : {}),
    ...(config.states
      ? {
          states: Object.fromEntries(
            Object.entries(config.states as Record<string, Config>).map(([key, child]) => [
              key,
              node(child, path === '' ? key : `${path}.${key}`),
            ]),
          ),
        }
      : {}),
  });
  const invoke = (config: Config, path: string): Config => ({
    ...config,
    onDone: transitions(config.onDone, `${path} done`),
    onError: transitions(config.onError, `${path} error`),
  });
  const machine = createMachine(node(original.config as unknown as Config, '') as never).provide({
    ...original.implementations,
    actions: { ...original.implementations.actions, mark: () => undefined },
  } as never);
  return { machine, marks };
}
