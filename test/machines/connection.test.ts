/** Every situation of a connection that can come about, and what must hold in each. */

import { expect, test } from 'vitest';
import { type AnyMachineSnapshot, type AnyStateNode, transition } from 'xstate';
import type { ConnectionContext } from '../../machines/connection/context.js';
import { pendingEffect, timers } from '../../src/runtime/level.js';
import { begin, stateOf } from '../../src/runtime/saved.js';
import {
  connectionEvents,
  connectionInputs,
  connectionKind,
  connectionSignature,
} from './connection-happenings.js';

interface Move {
  readonly from: AnyMachineSnapshot;
  readonly event: { readonly type: string; readonly attemptId?: string };
  readonly to: AnyMachineSnapshot;
}

const { machine } = connectionKind;

function walk(): { situations: AnyMachineSnapshot[]; moves: Move[] } {
  const situations = connectionInputs.map((input) => begin(connectionKind, input));
  const seen = new Set(situations.map(connectionSignature));
  const moves: Move[] = [];
  for (const from of situations) {
    if (from.status !== 'active') continue;
    for (const event of connectionEvents(from)) {
      const [to] = transition(machine, from, event as never);
      moves.push({ from, event, to });
      const sign = connectionSignature(to);
      if (seen.has(sign)) continue;
      seen.add(sign);
      situations.push(to);
    }
  }
  return { situations, moves };
}
const { situations, moves } = walk();
const contextOf = (snapshot: AnyMachineSnapshot) => snapshot.context as ConnectionContext;
const topOf = (snapshot: AnyMachineSnapshot) => stateOf(snapshot).split('.')[0];

test('every state that can be rested in -> comes about', () => {
  const leaves = (node: AnyStateNode): AnyStateNode[] => {
    const inner = Object.values(node.states);
    return inner.length === 0 ? [node] : inner.flatMap(leaves);
  };
  const all = leaves(machine.root).map(({ path }) => path.join('.'));
  const found = new Set(situations.map(stateOf));
  expect(all.filter((state) => !found.has(state))).toEqual([]);
});

test('every transition with a name of its own -> is taken', () => {
  const edges = new Set(moves.map(({ from, event, to }) => `${stateOf(from)} ${event.type} ${stateOf(to)}`));
  console.log(`connection: ${situations.length} situations, ${edges.size} moves by state and event`);
  expect(edges.size).toBeGreaterThan(60);
});

test('every context -> passes the schema that a restored one has to pass', () => {
  for (const { context } of situations)
    expect(connectionKind.contextSchema.safeParse(JSON.parse(JSON.stringify(context))).success).toBe(true);
});

test('nobody is stuck: each situation has an effect, a timer, or rests until somebody acts, or has ended', () => {
  for (const snapshot of situations) {
    const waits =
      pendingEffect(connectionKind, snapshot) !== null || timers(connectionKind, snapshot).length > 0;
    expect(waits || snapshot.hasTag('atRest') || snapshot.status === 'done', stateOf(snapshot)).toBe(true);
  }
});

test('left alone, with every effect answered -> each situation comes to rest, and a project’s record to its end', () => {
  for (const start of situations) {
    let snapshot = start;
    for (let moved = 0; snapshot.status === 'active'; moved++) {
      expect(moved, stateOf(start)).toBeLessThan(20);
      const [event] = connectionEvents(snapshot).filter(({ type }) => type.startsWith('xstate.'));
      if (event === undefined) break;
      [snapshot] = transition(machine, snapshot, event as never);
    }
    const rests =
      contextOf(start).project === null ? ['idle', 'connected', 'expired', 'refused', 'failed'] : ['ended'];
    expect(rests, stateOf(start)).toContain(topOf(snapshot));
  }
});

test('news of an attempt that does not count -> changes nothing, whatever the state', () => {
  const strange = moves.filter(
    ({ from, event }) =>
      event.attemptId !== undefined &&
      event.type !== 'authorization.requested' &&
      event.attemptId !== contextOf(from).attemptId,
  );
  expect(strange.length).toBeGreaterThan(50);
  for (const { from, to } of strange) expect(to).toBe(from);
});

test('what is connected -> stays so through every attempt, until another has been adopted or it is forgotten', () => {
  for (const { from, event, to } of moves) {
    const [before, after] = [contextOf(from).current, contextOf(to).current];
    if (before === after) continue;
    expect(['adoptConnection', 'configureProject', 'forgetConnection'], event.type).toContain(
      event.type.split('.').at(-1),
    );
  }
});

test('setting up a project -> never forgets the credentials of the deployment that does it', () => {
  const projects = situations.filter((situation) => contextOf(situation).project !== null);
  expect(projects.length).toBeGreaterThan(20);
  for (const situation of projects) expect(stateOf(situation)).not.toBe('disconnecting');
});

test('an attempt that is over -> its secrets are deleted before anything rests, unless another try may come', () => {
  const ends = ['connected', 'expired', 'refused', 'failed'];
  for (const { from, to } of moves) {
    if (!ends.includes(topOf(to) ?? '') || topOf(from) === topOf(to)) continue;
    const cleared = stateOf(to).endsWith('.clearing');
    expect(cleared || (stateOf(to) === 'failed.open' && contextOf(to).granted !== null), stateOf(to)).toBe(
      true,
    );
  }
});

test('exchanging and configuring -> are not disturbed by another attempt', () => {
  for (const { from, event, to } of moves) {
    if (!['exchanging', 'configuring'].includes(topOf(from) ?? '')) continue;
    if (event.type === 'authorization.requested') expect(to).toBe(from);
  }
});
