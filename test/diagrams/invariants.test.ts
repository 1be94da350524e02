/** The invariants that the chart's shape alone decides. */
import { expect, it } from 'vitest';
import type { connectionInvariants } from '../../machines/connection/invariants.js';
import { createConnectionMachine } from '../../machines/connection.js';
import type { sessionInvariants } from '../../machines/session/invariants.js';
import { createSessionMachine } from '../../machines/session.js';
import { chart, type State, statesWithin, topOf, transitionsWithin } from '../../src/diagrams/chart.js';

type Id = (typeof sessionInvariants)[number]['id'] | (typeof connectionInvariants)[number]['id'];
/** Named by the invariant that it is about. */
const holds = (id: Id, how: string, test: () => void) => it(`${id}: ${how}`, test);

const session = chart(createSessionMachine());
const connection = chart(createConnectionMachine());
const transitions = transitionsWithin(session);
const into = (top: string) =>
  transitions.filter(({ to, from }) => to !== null && topOf(to) === top && topOf(from) !== top);
const performing = (effect: string) => statesWithin(session).filter((state) => state.effect === effect);

holds('oneEffect', 'no state invokes one beside that of a state around it, nor two itself', () => {
  const effectsAlong = (state: State, above: number): number[] => {
    const here = above + (state.effect === null ? 0 : 1);
    return state.inner.length === 0 ? [here] : state.inner.flatMap((inner) => effectsAlong(inner, here));
  };
  for (const machine of [session, connection]) expect(Math.max(...effectsAlong(machine, 0))).toBe(1);
  const invoked = createSessionMachine();
  for (const { path } of statesWithin(session).slice(1)) {
    expect(invoked.getStateNodeById(`session.${path}`).invoke.length, path).toBeLessThan(2);
  }
});

holds('oneBoot', 'the sandbox is opened in provisioning only', () => {
  expect(performing('openSandbox').map(({ path }) => path)).toEqual(['provisioning.opening']);
});

holds('stopsFromTheStop', 'only a session that is served is extended', () => {
  expect(performing('extendSandbox').map(({ path }) => path)).toEqual(['extending']);
  expect(new Set(into('extending').map(({ from }) => topOf(from)))).toEqual(new Set(['serving']));
});

holds(
  'slots',
  'whatever may hold a vm holds a slot, until it is deleted; the way out is a vm seen stopped',
  () => {
    const tops = session.inner.filter(({ tags }) => tags.includes('mayHoldVm') && tags.includes('holdsSlot'));
    expect(tops.map(({ name }) => name)).toEqual(['provisioning', 'serving', 'extending', 'snapshotting']);
    const out = transitions.filter(
      ({ from, to }) =>
        to !== null &&
        tops.some(({ name }) => name === topOf(from)) &&
        !tops.some(({ name }) => name === topOf(to)),
    );
    const foreign = out.filter(({ guard }) => guard === 'foreign');
    expect(foreign.map(({ from }) => from)).toEqual(['provisioning.opening']);
    expect(new Set(out.filter((each) => !foreign.includes(each)).map(({ from }) => from))).toEqual(
      new Set(['snapshotting.stopped']),
    );
  },
);

holds('diskFirst', 'what snapshotting calls stopped was seen stopped', () => {
  const arrivals = transitions.filter(({ to }) => to === 'snapshotting.stopped');
  expect(arrivals.length).toBeGreaterThan(0);
  expect(new Set(arrivals.map(({ guard }) => guard))).toEqual(new Set(['stopped']));
});

holds(
  'confirmedEnd',
  'no news leads from serving to its end, unless an operator or a shutdown asks for it',
  () => {
    const news = transitions.filter(
      ({ from, to, cause }) =>
        topOf(from) === 'serving' && to === 'snapshotting' && ['event', 'condition'].includes(cause.kind),
    );
    expect(news.map(({ cause }) => cause.name)).toEqual(['stop.requested', 'drain.requested']);
  },
);

holds('filesAreKept', 'files are deleted after `terminated`, or when their time is over', () => {
  const causes = new Set(into('discarding').map(({ cause }) => cause.name));
  expect(causes).toEqual(new Set(['keepDue', 'terminated', 'endedForGood']));
});

holds('attemptThatCounts', 'what comes of an attempt is judged by a guard', () => {
  const news = transitionsWithin(connection).filter(({ cause }) =>
    ['code.returned', 'authorization.denied', 'retry.requested'].includes(cause.name),
  );
  expect(news.map(({ guard }) => guard)).toEqual(['ofThisAttempt', 'ofThisAttempt', 'retryable']);
});

holds(
  'secretsEnd',
  'every end of an attempt begins with deleting its secrets, but for a failure’s hour',
  () => {
    for (const name of ['connected', 'expired', 'refused']) {
      const end = connection.inner.find((state) => state.name === name);
      expect(end?.inner.find((state) => state.name === end.initial)?.effect, name).toBe('forgetAttempt');
    }
    const failed = connection.inner.find(({ name }) => name === 'failed');
    const [open] = failed?.inner ?? [];
    expect(open?.name).toBe(failed?.initial);
    expect(open?.deadlines).toEqual(['retryBy']);
  },
);
