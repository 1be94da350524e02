import { describe, expect, it } from 'vitest';
import { freshContext, type SessionContext } from '../../machines/session/context.js';
import { sessionDeadlines } from '../../machines/session/deadlines.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionMachine } from '../../machines/session.js';
import { chart, statesWithin } from '../../src/diagrams/chart.js';
import { waiting } from '../../src/waiting.js';
import { input } from '../machines/walk.js';

const [SECOND, MINUTE] = [1_000, 60_000];
const NOW = Date.UTC(2026, 0, 1, 13, 42);
const timeOf = (at: number) => new Date(at).toISOString().slice(11, 16);
const states = statesWithin(chart(createSessionMachine()));
const leaves = states.filter(({ inner }) => inner.length === 0);
const deadlineNames = Object.keys(sessionDeadlines(sessionRules()));

type Armed = Readonly<Record<string, number>>;
function words(
  state: string,
  changes: Partial<SessionContext> = {},
  armed: Armed = {},
  retryAt: number | null = null,
) {
  const deadlines = Object.entries(armed)
    .map(([name, at]) => ({ name, at }))
    .sort((a, b) => a.at - b.at);
  const context = { ...freshContext(input), ...changes };
  return waiting({ state, context, deadlines, retryAt, now: NOW }, timeOf);
}
const vm = (leftMs: number) => ({
  vmId: 'sbx_1',
  startedAt: NOW - MINUTE,
  expiresAt: NOW + leftMs,
  limited: false,
  policyDigest: null,
});

describe('every state of the machine', () => {
  const unknown = words('from the future').briefly;

  it.each(leaves.map(({ path }) => path))('%s -> has words of its own', (path) => {
    const { briefly, clauses } = words(path);
    expect(briefly).not.toBe(unknown);
    expect(briefly).toMatch(/^[a-zA-Z]/);
    expect(clauses[0]).not.toBe('');
  });

  it.each(leaves.filter(({ effect }) => effect !== null).map(({ path }) => path))(
    '%s acts -> it waits for nothing',
    (path) => {
      expect(words(path).waitsFor).toBeNull();
    },
  );

  it.each(leaves.filter(({ deadlines }) => deadlines.length > 0).map(({ path }) => path))(
    '%s with all its deadlines armed -> each of them is told, with when',
    (path) => {
      const above = states.filter((state) => path.startsWith(`${state.path}.`) || state.path === path);
      for (const name of new Set(above.flatMap(({ deadlines }) => deadlines))) {
        expect(deadlineNames).toContain(name);
        const changes = { vm: vm(20 * MINUTE), hasDisk: true, claimDeadlineAt: NOW + 7 * MINUTE };
        const [without, having] = [words(path, changes), words(path, changes, { [name]: NOW + 3 * MINUTE })];
        // The end of the claim is told of every claim.
        if (name === 'claimDeadline') expect(without.clauses.join()).toContain('claim ends 13:49');
        // The pause after a lost claim ends unseen: the row is looked at as before.
        else expect(having.clauses.join()).toMatch(/in 3 min 00 s|13:45/);
      }
    },
  );

  it('a state of another version -> told as such, not guessed at', () => {
    expect(words('from.the.future')).toEqual({
      waitsFor: null,
      briefly: 'is in a state that this version has no words for',
      clauses: ['is in a state that this version has no words for'],
    });
  });
});

describe('a session that is served', () => {
  it('all is well -> the next probe, what becomes of the sandbox, and the claim', () => {
    const armed = {
      probeDue: NOW + 41.9 * SECOND,
      extendDue: NOW + 10 * MINUTE,
      rollOverDue: NOW + 900 * MINUTE,
    };
    const { briefly, waitsFor, clauses } = words('serving.monitoring', { vm: vm(20 * MINUTE) }, armed);
    expect(clauses.join('; ')).toBe(
      'serving; next probe in 41 s; sandbox expires 14:02, will be extended at 13:52; claim has no deadline',
    );
    expect(waitsFor).toBe('the next probe');
    expect(briefly).toBe('the next probe, in 41 s');
  });

  it('the claim has a deadline -> when it ends, and when it is renewed', () => {
    const changes = { claimDeadlineAt: NOW + 5 * MINUTE };
    const { briefly, clauses } = words('serving.monitoring', changes, { renewDue: NOW + 4 * MINUTE });
    expect(clauses).toContain('claim ends 13:47, will be renewed in 4 min 00 s');
    expect(briefly).toBe('the renewal of the claim, in 4 min 00 s');
  });

  it('the vm may live no longer -> when it moves to a new one', () => {
    const armed = { rollOverDue: NOW + 15 * MINUTE };
    const { clauses } = words('serving.monitoring', { vm: { ...vm(20 * MINUTE), limited: true } }, armed);
    expect(clauses).toContain('sandbox expires 14:02, moves to a new vm at 13:57');
  });

  it('what is due is overdue -> now, never a negative time', () => {
    const armed = { probeDue: NOW - MINUTE, extendDue: NOW - 2 * MINUTE };
    const { briefly, clauses } = words('serving.monitoring', { vm: vm(-MINUTE) }, armed);
    expect(clauses).toEqual([
      'serving',
      'next probe now',
      'sandbox expired 13:41, will be extended now',
      'claim has no deadline',
    ]);
    expect(briefly).toBe("the extension of the vm's time, now");
  });

  it('the remote is not connected yet -> until when it is waited for; the claim is not renewed', () => {
    const changes = { launchedAt: NOW - MINUTE, claimDeadlineAt: NOW + 4 * MINUTE };
    const { clauses } = words('serving.connecting', changes, { connectBy: NOW + 4 * MINUTE });
    expect(clauses).toEqual([
      'waits for Devin to report the remote connected',
      'given up in 4 min 00 s unless it connects',
      'claim ends 13:46, will not be renewed before the remote connects',
    ]);
  });
});

describe('elsewhere', () => {
  it('an effect that failed -> when it is tried again', () => {
    const { briefly, clauses } = words('claiming', {}, {}, NOW + 8 * SECOND);
    expect(clauses).toEqual(['claims the session', 'failed, next try in 8 s']);
    expect(briefly).toBe('failed, next try in 8 s');
  });

  it('a vm that is being stopped -> it will not be extended', () => {
    const { clauses } = words('snapshotting.waiting', { vm: vm(20 * MINUTE) }, { lookDue: NOW + 2 * SECOND });
    expect(clauses).toEqual([
      'waits for the vm to be seen stopped',
      'next look in 2 s',
      'sandbox expires 14:02, will not be extended',
    ]);
  });

  it('asleep with its files -> until when they are kept', () => {
    const { clauses } = words('released.resting', { hasDisk: true }, { keepDue: NOW + 3 * MINUTE });
    expect(clauses).toEqual(['waits for the session to be resumed', 'files are kept until 13:45']);
  });

  it('queued but not to be claimed -> it waits for the queue, not for a slot', () => {
    const facts = { ...input.facts, status: 'suspended' } as const;
    expect(words('queued').waitsFor).toBe('a free slot');
    expect(words('queued', { facts }).waitsFor).toBe('the queue');
  });
});
