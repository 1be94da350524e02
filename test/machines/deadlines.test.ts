import { describe, expect, it } from 'vitest';
import { sessionPatches } from '../../machines/session/actions.js';
import { freshContext, type SessionContext } from '../../machines/session/context.js';
import { extendTo, sessionDeadlines } from '../../machines/session/deadlines.js';
import { sessionRules } from '../../machines/session/rules.js';
import { vm as vmOf } from '../../machines/session/words.js';
import { input, start, step } from './walk.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const rules = sessionRules();
const at = sessionDeadlines(rules);
const context = (patch: Partial<SessionContext>): SessionContext => ({ ...freshContext(input), ...patch });
const vm = (patch: Partial<NonNullable<SessionContext['vm']>> = {}) => ({
  vmId: 'sbx_1',
  startedAt: 0,
  expiresAt: 20 * MINUTE,
  limited: false,
  policyDigest: null,
  ...patch,
});
const ours = {
  ...input.facts,
  phase: 'claimed',
  status: 'running',
  acceptorId: 'vercel-1-1-1',
} as const;

describe('the deadlines of a session', () => {
  it('nothing claimed, nothing booted -> none is armed', () => {
    const fresh = context({});
    expect(Object.values(at).map((deadline) => deadline(fresh))).toEqual(Object.keys(at).map(() => null));
    expect(extendTo(fresh, rules)).toBe(0);
    expect(vmOf({ context: fresh })).toMatchObject({ vmId: '' });
  });

  it('a vm with 20 minutes -> extended when 10 are left, to 20 minutes later', () => {
    const c = context({ vm: vm() });
    expect(at.extendDue(c)).toBe(10 * MINUTE);
    expect(extendTo(c, rules)).toBe(40 * MINUTE);
  });

  it('a failed extension -> tried again after its pause, not at once', () => {
    expect(at.extendDue(context({ vm: vm(), extendAgainAt: 11 * MINUTE }))).toBe(11 * MINUTE);
  });

  it('the plan ends the vm at 24 hours -> extended no further than that, rolled over five minutes before', () => {
    const late = context({ vm: vm({ expiresAt: 24 * HOUR - 5 * MINUTE }) });
    expect(extendTo(late, rules)).toBe(24 * HOUR);
    expect(at.rollOverDue(late)).toBe(24 * HOUR - 5 * MINUTE);
    expect(at.extendDue(context({ vm: vm({ expiresAt: 24 * HOUR }) }))).toBeNull();
  });

  it('the plan refused to extend -> never asked again, rolled over before the end that stays', () => {
    const limited = context({ vm: vm({ expiresAt: 45 * MINUTE, limited: true }) });
    expect(at.extendDue(limited)).toBeNull();
    expect(at.rollOverDue(limited)).toBe(40 * MINUTE);
  });

  it('a vm that lives shorter than the margin -> rolled over at half its life, not at its birth', () => {
    expect(at.rollOverDue(context({ vm: vm({ expiresAt: 4 * MINUTE, limited: true }) }))).toBe(2 * MINUTE);
  });

  it('between a launch and `running` -> no renewal and no claim deadline: only the connection is awaited', () => {
    const launched = context({ launchedAt: 0, claimDeadlineAt: 4 * MINUTE, renewAt: 3 * MINUTE });
    expect([at.renewDue(launched), at.claimDeadline(launched)]).toEqual([null, null]);
    expect(at.connectBy(launched)).toBe(4 * MINUTE);
    expect(at.connectBy({ ...launched, claimDeadlineAt: null })).toBe(5 * MINUTE);
  });

  it('the row says running under our claim -> the connection is not awaited any more', () => {
    const launched = context({ launchedAt: 0, facts: ours });
    expect(at.connectBy(launched)).toBeNull();
    const connected = { ...launched, connected: true, claimDeadlineAt: 5 * MINUTE, renewAt: 4 * MINUTE };
    expect([at.connectBy(connected), at.renewDue(connected)]).toEqual([null, 4 * MINUTE]);
  });

  it('a deadline passed while something stood in the way -> the outcome says what', () => {
    const granted = step(start(), { type: 'slot.granted' }).next;
    const claim = { claimDeadlineAt: 1, policyKey: 'open' };
    const done = { type: 'xstate.done.actor.claimSession', output: { kind: 'claimed', at: 0, claim } };
    const claimed = step(granted, done).next;
    const timer = { type: 'xstate.after.claimDeadline.session.provisioning', cause: 'create: 402 (billing)' };
    expect(step(claimed, timer).next.context).toMatchObject({
      outcome: 'claimExpired',
      detail: 'create: 402 (billing)',
    });
  });
});

describe('what is noted when a vm stops', () => {
  const patch = sessionPatches(sessionRules({ keepMs: null }));

  it('saved state that is kept for ever -> no deadline', () => {
    expect(patch.stop(context({ vm: vm() }), { kind: 'stopped', at: 1, saved: true })).toMatchObject({
      keepUntil: null,
    });
  });

  it('a disk lost in a roll-over -> said, and the roll-over goes on', () => {
    const rolling = context({ vm: vm(), stopFor: 'rollOver' });
    const noted = patch.stop(rolling, { kind: 'stopped', at: 1, saved: false });
    expect(noted.detail).toBe('the vm stopped without saving its disk');
    expect(noted.outcome).toBeUndefined();
  });
});
