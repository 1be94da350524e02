import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type AnyStateMachine, type AnyStateNode, createMachine } from 'xstate';
import { createConnectionMachine } from '../../machines/connection.js';
import { createSessionMachine } from '../../machines/session.js';

const MACHINES: [string, AnyStateMachine][] = [
  ['session', createSessionMachine()],
  ['connection', createConnectionMachine()],
];

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../visualizations/${name}.json`, import.meta.url), 'utf8'));

interface Named {
  type: string;
}
const nameOf = (named: unknown) =>
  typeof named === 'object' && named !== null ? (named as Named).type : named;

/** Everything of a machine that can be seen without running it. */
function graphOf(node: AnyStateNode): unknown {
  const transitions = [...node.transitions.values(), node.always ?? []].flat();
  return {
    id: node.id,
    type: node.type,
    order: node.order,
    initial: node.type === 'compound' ? node.initial.target.map(({ id }) => id) : null,
    description: node.description,
    tags: node.tags,
    effects: node.invoke.map(({ id, src }) => ({ id, src })),
    delays: node.after.map(({ delay }) => delay),
    transitions: transitions.map(({ eventType, target, guard, actions, reenter }) => ({
      eventType,
      target: target?.map(({ id }) => id),
      guard: nameOf(guard),
      actions: actions.map(nameOf),
      reenter,
    })),
    states: Object.values(node.states).map(graphOf),
  };
}

it.each(MACHINES)(
  '%s.json imported again -> the same graph to the last guard, in the same order',
  (name, machine) => {
    const imported = createMachine(read(name));
    expect(graphOf(imported.root)).toEqual(graphOf(machine.root));
  },
);

it.each(MACHINES)('%s.json names its version, and no code is in it', (name, machine) => {
  const config = read(name);
  expect(config).toMatchObject({ id: name, version: machine.version, initial: machine.config.initial });
  expect(JSON.stringify(config)).not.toMatch(/=>|function/);
});
