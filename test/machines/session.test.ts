import { describe, expect, it } from 'vitest';
import { type SessionContext, sessionContextSchema } from '../../machines/session/context.js';
import { pendingEffect, timers } from '../../src/runtime/level.js';
import { stateOf } from '../../src/runtime/saved.js';
import { kind, marks, type Situation, step, walk } from './walk.js';

const taken = new Map<string, number>();
const problems = new Map<string, string>();
let steps = 0;
const situations = walk(
  (from, to, transitions) => {
    steps += 1;
    for (const name of transitions) taken.set(name, (taken.get(name) ?? 0) + 1);
    if (to.to.status === 'error')
      problems.set(`error after ${to.event.type} in ${stateOf(from.snapshot)}`, '');
  },
  { most: 9_000 },
);
const active = situations.filter(({ snapshot }) => snapshot.status === 'active');
const context = ({ snapshot }: Situation) => snapshot.context as SessionContext;
const told = (found: Situation[]) =>
  found.slice(0, 3).map((s) => `${stateOf(s.snapshot)} after ${s.path.map((p) => p.event.type).join(', ')}`);

describe('the session machine, walked over the situations that decisions can tell apart, nearest first', () => {
  it('takes every transition, none with an error', () => {
    const untaken = marks.filter((mark) => !taken.has(mark));
    console.log(
      `session machine: ${situations.length} situations, ${steps} steps, ` +
        `${taken.size} of ${marks.length} transitions taken`,
    );
    expect([...problems.keys()]).toEqual([]);
    expect(untaken).toEqual([]);
  });

  it('every situation has an effect or a timer that moves it on, or is a state of rest', () => {
    const stuck = active.filter(
      ({ snapshot }) =>
        pendingEffect(kind, snapshot) === null &&
        timers(kind, snapshot).length === 0 &&
        !snapshot.hasTag('atRest'),
    );
    expect(told(stuck)).toEqual([]);
  });

  it('due timers lead to an effect or to rest: they never chase each other', () => {
    const chasing = active.filter((situation) => {
      let { snapshot } = situation;
      for (let fired = 0; fired < 12; fired++) {
        const [due] = timers(kind, snapshot);
        if (due === undefined || snapshot.status !== 'active') return false;
        snapshot = step(snapshot, due.event).next;
      }
      return true;
    });
    expect(told(chasing)).toEqual([]);
  });

  it('what is saved comes back the same', () => {
    const broken = active.filter((situation) => {
      const saved: unknown = JSON.parse(JSON.stringify(context(situation)));
      return !sessionContextSchema.safeParse(saved).success;
    });
    expect(told(broken)).toEqual([]);
  });

  it('a vm is known only where a slot is held', () => {
    const leaking = active.filter((s) => context(s).vm !== null && !s.snapshot.hasTag('holdsSlot'));
    expect(told(leaking)).toEqual([]);
  });

  it('an effect on a vm always names one', () => {
    const nameless = active.filter(({ snapshot }) => {
      const input = pendingEffect(kind, snapshot)?.input as { vm?: { vmId: string } } | undefined;
      return input?.vm !== undefined && input.vm.vmId === '';
    });
    expect(told(nameless)).toEqual([]);
  });

  it('from every situation, a session that ends for good comes to nothing', () => {
    const left = active.filter((situation) => !windsDown(situation));
    expect(told(left)).toEqual([]);
  });
});

/** The session is terminated, effects succeed, time passes: does the actor end? */
function windsDown({ snapshot: from }: Situation): boolean {
  const facts = {
    ...(from.context as SessionContext).facts,
    presence: 'present',
    phase: 'pending',
    status: 'terminated',
  };
  let snapshot = step(from, { type: 'queue.changed', facts } as never).next;
  const calm: Record<string, unknown> = {
    claimSession: { kind: 'over', at: 1 },
    renewClaim: { kind: 'claimed', at: 1, claim: { claimDeadlineAt: null, policyKey: 'open' } },
    openSandbox: { kind: 'over', at: 1 },
    launchRemote: { kind: 'over', at: 1 },
    lookAtRemote: { kind: 'running', at: 1 },
    secureSandbox: {
      kind: 'secured',
      at: 1,
      policyDigest: 'p',
      claim: { claimDeadlineAt: null, policyKey: 'open' },
    },
    extendSandbox: { kind: 'extended', at: 1, expiresAt: 1e12 },
    stopSandbox: { kind: 'stopped', at: 1, saved: true },
    lookAtStop: { kind: 'stopped', at: 1, saved: true },
    readRow: { at: 1, status: 'terminated' },
    releaseClaim: { at: 1 },
    discardSandbox: { at: 1 },
  };
  for (let moves = 0; moves < 60; moves++) {
    if (snapshot.status === 'done') return true;
    const effect = pendingEffect(kind, snapshot);
    const [timer] = timers(kind, snapshot);
    const event =
      effect !== null ? { type: `xstate.done.actor.${effect.id}`, output: calm[effect.name] } : timer?.event;
    if (event === undefined) return false;
    snapshot = step(snapshot, event as { type: string }).next;
  }
  return false;
}
