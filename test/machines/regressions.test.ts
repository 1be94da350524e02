/** Situations that once went wrong, each told as it happened. */

import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { SessionContext, SessionFacts } from '../../machines/session/context.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionMachine } from '../../machines/session.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import { doneEvent, pendingEffect, timers } from '../../src/runtime/level.js';
import { stateOf } from '../../src/runtime/saved.js';
import { input, kind as walked } from './walk.js';

const MINUTE = 60_000;
const kind: ActorKind = { ...walked, machine: createSessionMachine(sessionRules()) };
const start = (): AnyMachineSnapshot => initialTransition(kind.machine, input)[0];
const step = (snapshot: AnyMachineSnapshot, event: { type: string }) => ({
  next: transition(kind.machine, snapshot, event as never)[0] as AnyMachineSnapshot,
});
const row = (patch: Partial<SessionFacts> = {}) => ({
  type: 'queue.changed',
  facts: {
    ...input.facts,
    phase: 'claimed',
    status: 'running',
    acceptorId: 'vercel-1-1-1',
    ...patch,
  },
});
const context = (snapshot: AnyMachineSnapshot) => snapshot.context as SessionContext;

/** Answers the pending effect. */
function answer(snapshot: AnyMachineSnapshot, output: object): AnyMachineSnapshot {
  const effect = pendingEffect(kind, snapshot);
  if (effect === null) throw new Error(`${stateOf(snapshot)} has no effect`);
  return step(snapshot, doneEvent(effect, output)).next;
}
/** Fires the timer of that name. */
function fire(snapshot: AnyMachineSnapshot, delay: string): AnyMachineSnapshot {
  const timer = timers(kind, snapshot).find(({ event }) => event.type.startsWith(`xstate.after.${delay}.`));
  if (timer === undefined) throw new Error(`${stateOf(snapshot)} does not wait for ${delay}`);
  return step(snapshot, timer.event).next;
}
const armed = (snapshot: AnyMachineSnapshot) =>
  timers(kind, snapshot).map(({ event }) => event.type.split('.')[2]);

/** A session that is claimed since minute 0; its vm is not up yet. */
const opening = () =>
  answer(step(start(), { type: 'slot.granted' }).next, {
    kind: 'claimed',
    at: 0,
    claim: { claimDeadlineAt: 5 * MINUTE, policyKey: 'open' },
  });
/** Its vm is up; nothing was launched yet. */
const launching = (from = opening()) =>
  answer(from, {
    kind: 'running',
    at: 0,
    claim: null,
    vmId: 'sbx_1',
    startedAt: 0,
    expiresAt: 20 * MINUTE,
    policyDigest: 'p',
    origin: 'created',
  });
/** The command runs in the vm. */
const confirming = (from = launching()) => answer(from, { kind: 'launched', at: 0, claim: null });
/** A session that is served since minute 0. */
function serving(from = confirming()): AnyMachineSnapshot {
  return step(answer(fire(from, 'lookDue'), { kind: 'running', at: 0 }), row()).next;
}
/** The same session while its vm is exchanged for a new one. */
const rollingOver = () =>
  answer(fire(serving(), 'rollOverDue'), { kind: 'stopped', at: 24 * 60 * MINUTE, saved: true });
const probe = (snapshot: AnyMachineSnapshot, output: object) => answer(fire(snapshot, 'probeDue'), output);

describe('a session that is served', () => {
  it('its remote crashes after an hour, the row goes back to pending -> started again, not given up', () => {
    const crashed = probe(serving(), { kind: 'exited', at: 60 * MINUTE, code: 137 });
    const waiting = step(crashed, row({ status: 'pending' })).next;
    const launching = fire(waiting, 'restartDue');
    expect(stateOf(launching)).toBe('provisioning.launching');
    expect(armed(launching)).not.toContain('connectBy');
  });

  it('its claim is renewed while the crashed remote cools down -> the restart is still due', () => {
    const crashed = probe(step(serving(), row({ hasClaimDeadline: true })).next, {
      kind: 'exited',
      at: 1,
      code: 1,
    });
    const renewed = answer(fire(crashed, 'renewDue'), {
      kind: 'claimed',
      at: 2,
      claim: { claimDeadlineAt: 5 * MINUTE, policyKey: 'open' },
    });
    expect(stateOf(renewed)).toBe('serving.coolingDown');
    expect(armed(renewed)).toContain('restartDue');
  });

  it('a doorbell between two reads of `suspended` -> the pause before the next read is kept', () => {
    const doubting = answer(step(serving(), row({ status: 'suspended' })).next, {
      at: 0,
      status: 'suspended',
    });
    const rung = step(doubting, { type: 'doorbell.rung' }).next;
    const looked = probe(rung, { kind: 'running', at: 100 });
    expect(stateOf(looked)).toBe('serving.doubting');
    expect(context(looked)).toMatchObject({ reads: 1, lookAt: 3_000 });
  });

  it('`suspended` read twice, then running in the queue -> the reads are counted anew', () => {
    let snapshot = answer(step(serving(), row({ status: 'suspended' })).next, { at: 0, status: 'suspended' });
    snapshot = answer(fire(snapshot, 'lookDue'), { at: 3_000, status: 'suspended' });
    snapshot = step(snapshot, row()).next;
    expect(context(snapshot).reads).toBe(0);
  });

  it('a renewal or a read that cannot be had -> its vm is extended all the same', () => {
    const renewing = fire(step(serving(), row({ hasClaimDeadline: true })).next, 'renewDue');
    expect(armed(renewing)).toContain('extendDue');
    const reading = step(serving(), row({ status: 'terminated' })).next;
    expect(stateOf(reading)).toBe('serving.confirmingEnd');
    expect(armed(reading)).toContain('extendDue');
  });

  it('an extension or a renewal that moves nothing -> not asked for again at once', () => {
    const extended = answer(fire(serving(), 'extendDue'), {
      kind: 'extended',
      at: 10 * MINUTE,
      expiresAt: 20 * MINUTE,
    });
    expect(kind.deadlines.extendDue?.(context(extended) as never)).toBeGreaterThan(10 * MINUTE);
    const renewed = answer(fire(step(serving(), row({ hasClaimDeadline: true })).next, 'renewDue'), {
      kind: 'claimed',
      at: 4 * MINUTE,
      claim: { claimDeadlineAt: 4 * MINUTE, policyKey: 'open' },
    });
    expect(context(renewed).renewAt).toBeGreaterThan(4 * MINUTE);
  });

  it('another acceptor took the claim -> never renewed on the way down', () => {
    const renewing = fire(step(serving(), row({ hasClaimDeadline: true })).next, 'renewDue');
    const taken = answer(renewing, { kind: 'taken', at: 4 * MINUTE });
    const waiting = answer(taken, { kind: 'stopping', at: 4 * MINUTE });
    expect(armed(waiting)).toEqual(['lookDue']);
  });

  it('the static host is away when the remote is started again -> tried again, not released', () => {
    const crashed = probe(serving(), { kind: 'exited', at: 1, code: 1 });
    const launched = answer(fire(crashed, 'restartDue'), { kind: 'launched', at: 2, claim: null });
    const looked = answer(fire(launched, 'lookDue'), {
      kind: 'unlaunchable',
      at: 3,
      reason: 'network',
      permanent: false,
    });
    expect(stateOf(looked)).toBe('serving.coolingDown');
  });
});

describe('a session whose claim was lost', () => {
  it('the holder lets go between two looks, so that the row reads as before -> tried again after a pause', () => {
    const granted = step(start(), { type: 'slot.granted' }).next;
    const lost = answer(granted, { kind: 'taken', at: 0 });
    expect(stateOf(lost)).toBe('lost');
    expect(stateOf(fire(lost, 'retryDue'))).toBe('queued');
  });
});

describe('a session on its way to rest', () => {
  it('an operator stops it while its claim goes back -> parked, not claimed again', () => {
    const exited = probe(serving(), { kind: 'exited', at: 1, code: 0 });
    const stopped = answer(exited, { kind: 'stopped', at: 2, saved: true });
    expect(stateOf(stopped)).toBe('released.readingEnd');
    const asked = step(stopped, { type: 'stop.requested' }).next;
    const read = answer(asked, { at: 3, status: 'suspended' });
    expect(stateOf(answer(read, { at: 4 }))).toBe('parked');
  });

  it('its claim answered that it has ended, and the row still says otherwise -> not claimed in a circle', () => {
    const granted = step(start(), { type: 'slot.granted' }).next;
    const over = answer(granted, { kind: 'over', at: 0 });
    expect(stateOf(answer(over, { at: 1 }))).toBe('released.resting');
  });
});

describe('a session that is being provisioned', () => {
  it('suspended after its claim and before its vm is up -> no boot: it rests', () => {
    const asleep = step(opening(), row({ status: 'suspended' })).next;
    expect(stateOf(asleep)).toBe('snapshotting.stopping');
    const released = answer(answer(asleep, { kind: 'absent', at: 1 }), { at: 2 });
    expect(stateOf(released)).toBe('released.resting');
    expect(context(released).outcome).toBe('suspended');
    const pending = row({ phase: 'pending', status: 'pending', acceptorId: null });
    expect(stateOf(step(released, pending).next)).toBe('queued');
  });

  it('suspended when its vm has just come up -> nothing is launched in it', () => {
    const asleep = step(launching(), row({ status: 'suspended' })).next;
    expect(stateOf(asleep)).toBe('snapshotting.stopping');
  });

  it('the row reads suspended once something was launched, or during a roll-over -> the launch goes on', () => {
    const suspended = row({ status: 'suspended' });
    expect(stateOf(step(confirming(), suspended).next)).toBe('provisioning.confirming');
    const booting = step(rollingOver(), suspended).next;
    expect(stateOf(booting)).toBe('provisioning.opening');
    expect(stateOf(step(launching(booting), suspended).next)).toBe('provisioning.launching');
  });

  it('its sandbox never settles -> given up after 15 minutes, and the claim is not kept alive any longer', () => {
    let snapshot = answer(opening(), { kind: 'settling', at: MINUTE });
    expect(kind.deadlines.settleBy?.(context(snapshot) as never)).toBe(16 * MINUTE);
    snapshot = answer(fire(snapshot, 'lookDue'), { kind: 'settling', at: 10 * MINUTE });
    expect(kind.deadlines.settleBy?.(context(snapshot) as never)).toBe(16 * MINUTE);
    const stopping = fire(snapshot, 'settleBy');
    expect(context(stopping)).toMatchObject({ outcome: 'neverSettled', stopFor: 'release' });
    const waiting = answer(stopping, { kind: 'stopping', at: 16 * MINUTE });
    expect([stateOf(waiting), ...armed(waiting)]).toEqual(['snapshotting.waiting', 'lookDue']);
    const released = answer(fire(waiting, 'lookDue'), { kind: 'stopped', at: 17 * MINUTE, saved: false });
    expect(stateOf(answer(released, { at: 17 * MINUTE }))).toBe('released.coolingOff');
  });

  it('its sandbox settles in time -> the next wait is counted anew', () => {
    const settled = launching(fire(answer(opening(), { kind: 'settling', at: MINUTE }), 'lookDue'));
    expect(kind.deadlines.settleBy?.(context(settled) as never)).toBeNull();
  });

  it('the row says running under its claim -> looked at at once, and only once for the same word', () => {
    const looking = step(confirming(), row()).next;
    expect(stateOf(looking)).toBe('provisioning.looking');
    const again = step(answer(looking, { kind: 'starting', at: 1 }), row({ hasClaimDeadline: true })).next;
    expect(stateOf(again)).toBe('provisioning.confirming');
  });

  it('its doorbell rings -> looked at at once', () => {
    expect(stateOf(step(confirming(), { type: 'doorbell.rung' }).next)).toBe('provisioning.looking');
  });
});

describe('a session whose end may be told by a doorbell', () => {
  const rules = sessionRules({ probeEveryMs: 60 * MINUTE, unheardProbeEveryMs: 1_000 });
  const chart = createSessionMachine(rules);
  /** The same situation under these rules. */
  const under = ({ value, context }: AnyMachineSnapshot): AnyMachineSnapshot =>
    chart.resolveState({ value, context });
  const ring = (snapshot: AnyMachineSnapshot) => step(snapshot, { type: 'doorbell.rung' }).next;
  const running = { kind: 'running', at: 0 };

  it('not heard yet -> probed often; heard -> seldom; started anew -> often again until it is heard', () => {
    const silent = answer(fire(under(confirming()), 'lookDue'), running);
    expect(context(silent).probeAt).toBe(1_000);
    const heard = probe(ring(silent), running);
    expect(context(heard)).toMatchObject({ bellHeard: true, probeAt: 60 * MINUTE });
    const crashed = probe(heard, { kind: 'exited', at: 1, code: 1 });
    const relaunched = confirming(fire(crashed, 'restartDue'));
    const again = answer(fire(relaunched, 'lookDue'), running);
    expect(context(again)).toMatchObject({ bellHeard: false, probeAt: 1_000 });
  });

  it('rung while the launch was still being confirmed -> heard', () => {
    expect(context(answer(ring(under(confirming())), running)).probeAt).toBe(60 * MINUTE);
  });

  it('a look that fails -> repeated no later than the next would be due', () => {
    const silent = answer(fire(under(confirming()), 'lookDue'), running);
    const tired = { ...silent, context: { ...context(silent), looks: 20 } } as AnyMachineSnapshot;
    expect(context(probe(tired, { kind: 'starting', at: 0 })).probeAt).toBe(1_000);
  });

  it('no pause of its own given -> probed as often as any other', () => {
    expect(sessionRules({ probeEveryMs: 7 }).unheardProbeEveryMs).toBe(7);
  });
});
