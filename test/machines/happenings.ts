/** Everything that can happen to a session in a given state, with a few telling variants of each answer. */
import { acceptorOf, type SessionContext, type SessionFacts } from '../../machines/session/context.js';
import type { SessionEffectName, SessionEffectOutput } from '../../machines/session/effects.js';
import type { SessionEvent } from '../../machines/session/events.js';
import { pending } from '../support/pending.js';

/** The instant of every answer: fixed, so that the space of states stays finite. */
export const AT = 1_000_000;
const MINUTE = 60_000;

const terms = { claimDeadlineAt: AT + 5 * MINUTE, policyKey: 'open' };
const refusals = [
  { kind: 'taken', at: AT },
  { kind: 'gone', at: AT },
  { kind: 'over', at: AT },
] as const;
const claims = [
  { kind: 'claimed', at: AT, claim: terms },
  { kind: 'claimed', at: AT, claim: { claimDeadlineAt: null, policyKey: 'narrow' } },
  ...refusals,
] as const;
const opened = {
  kind: 'running',
  at: AT,
  claim: null,
  vmId: 'sbx_1',
  startedAt: AT,
  expiresAt: AT + 20 * MINUTE,
  policyDigest: 'p1',
  origin: 'restored',
} as const;
const stops = [
  { kind: 'stopped', at: AT, saved: true },
  { kind: 'stopped', at: AT, saved: false },
  { kind: 'absent', at: AT },
  { kind: 'stopping', at: AT },
  { kind: 'running', at: AT },
] as const;

export const answers: { readonly [K in SessionEffectName]: readonly SessionEffectOutput<K>[] } = {
  claimSession: claims,
  renewClaim: claims,
  openSandbox: [
    opened,
    { ...opened, origin: 'cold', claim: terms },
    { kind: 'settling', at: AT },
    { kind: 'foreign', at: AT },
    ...refusals,
  ],
  launchRemote: [
    { kind: 'launched', at: AT, claim: null },
    { kind: 'launched', at: AT, claim: terms },
    { kind: 'vmGone', at: AT },
    ...refusals,
  ],
  lookAtRemote: [
    { kind: 'running', at: AT },
    // Long after the launch: crashes are forgiven.
    { kind: 'running', at: AT + 11 * MINUTE },
    { kind: 'starting', at: AT },
    { kind: 'absent', at: AT },
    { kind: 'vmGone', at: AT },
    { kind: 'exited', at: AT, code: 0 },
    { kind: 'exited', at: AT, code: 1 },
    { kind: 'unlaunchable', at: AT, reason: 'checksum', permanent: true },
    { kind: 'unlaunchable', at: AT, reason: 'network', permanent: false },
  ],
  secureSandbox: [
    { kind: 'secured', at: AT, policyDigest: 'p2', claim: { ...terms, policyKey: 'narrow' } },
    { kind: 'vmGone', at: AT },
    ...refusals,
  ],
  extendSandbox: [
    { kind: 'extended', at: AT, expiresAt: AT + 40 * MINUTE },
    { kind: 'limited', at: AT, expiresAt: AT + 20 * MINUTE },
    { kind: 'vmGone', at: AT },
  ],
  stopSandbox: stops,
  lookAtStop: stops,
  readRow: (['terminated', 'exit', 'suspended', 'gone', 'running'] as const).map((status) => ({
    at: AT,
    status,
  })),
  releaseClaim: [{ at: AT }],
  discardSandbox: [{ at: AT }],
};
export const failure = { message: 'it failed', at: AT };

/** The rows that tell situations apart, as seen under the claim of `context`. */
export function factsVariants(context: SessionContext): SessionFacts[] {
  const ours = acceptorOf(context);
  const claimed: SessionFacts = {
    ...pending,
    phase: 'claimed',
    status: 'running',
    acceptorId: ours,
    hasClaimDeadline: true,
  };
  return [
    pending,
    { ...pending, status: 'suspended' },
    { ...pending, status: 'terminated' },
    { ...claimed, status: 'claimed' },
    claimed,
    { ...claimed, hasClaimDeadline: false },
    { ...claimed, hasClaimDeadline: false, policyKey: 'narrow' },
    { ...claimed, status: 'suspended' },
    { ...claimed, status: 'terminated' },
    { ...claimed, status: 'error' },
    { ...claimed, acceptorId: 'another' },
    { ...pending, presence: 'missing' },
  ];
}

export function outsideEvents(context: SessionContext): SessionEvent[] {
  const seen = {
    type: 'sandbox.seen',
    startedAt: AT,
    expiresAt: AT + 20 * MINUTE,
    policyDigest: 'p1',
  } as const;
  return [
    { type: 'slot.granted' },
    ...factsVariants(context).map((facts) => ({ type: 'queue.changed', facts }) as const),
    { type: 'doorbell.rung' },
    { ...seen, vmId: 'sbx_1', alive: true },
    { ...seen, vmId: 'sbx_1', alive: true, policyDigest: 'drifted' },
    { ...seen, vmId: 'sbx_1', alive: false, expiresAt: null },
    { ...seen, vmId: 'sbx_stray', alive: true, expiresAt: null, policyDigest: null },
    { type: 'stop.requested' },
    { type: 'retry.requested' },
    { type: 'drain.requested' },
  ];
}
