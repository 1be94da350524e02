/**
 * What a session's actor remembers between two moments that move it.
 *
 * The schema is the contract of a saved session: a row that does not parse is
 * set aside, never guessed at. Holds no secret and nothing large, and every
 * instant is in our own time.
 */
import { z } from 'zod';

const instant = z.number().nullable();
const count = z.int().min(0);

/** Devin's words for how a session is; `unknown` stands for any other and never means that it is over. */
export const SESSION_STATUSES = [
  'pending',
  'new',
  'claimed',
  'running',
  'resuming',
  'suspended',
  'terminated',
  'exit',
  'error',
  'unknown',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** The queue's latest word on the session, reduced to what decisions need. Written by the dispatcher. */
export const factsSchema = z.strictObject({
  /** `missing` only after two complete walks of the queue without the row. */
  presence: z.enum(['present', 'missing']),
  phase: z.enum(['pending', 'claimed', 'unknown']),
  status: z.enum(SESSION_STATUSES).nullable(),
  acceptorId: z.string().nullable(),
  /** Whether Devin will take the claim back unless it is renewed. */
  hasClaimDeadline: z.boolean(),
  /** Digest of the session's allow list, to notice a change. */
  policyKey: z.string(),
});
export type SessionFacts = z.infer<typeof factsSchema>;

export const OUTCOMES = [
  'ended',
  'closed',
  'suspended',
  'gone',
  'exited',
  'claimLost',
  'cancelled',
  'stopped',
  'drained',
  'neverSettled',
  'neverConnected',
  'claimExpired',
  'remoteCrashed',
  'vmLost',
  'unlaunchable',
  'foreignSandbox',
  'snapshotFailed',
  'failed',
] as const;
/** How an episode ended; see `visualizations/` for the meaning of each. */
export type Outcome = (typeof OUTCOMES)[number];

export const sessionContextSchema = z.strictObject({
  sessionId: z.string().min(1),
  outpostId: z.string(),
  sandboxName: z.string().min(1),
  /** `<ACCEPTOR_ID>-<installation>-<session hash>`; the episode completes it. */
  acceptorPrefix: z.string().min(1),
  facts: factsSchema,
  /** Facts that a closer look has already answered; kept so that the same suspicion is not raised again. */
  dismissed: z.string().nullable(),

  /** Counts the claim-to-release cycles. */
  episode: z.int().min(1),
  claimDeadlineAt: instant,
  renewAt: instant,
  /** Digest of the allow list in the latest claim's answer. */
  policyKey: z.string().nullable(),
  /** Digest in the queue's row that a correction has already answered. */
  policyAnswered: z.string().nullable(),

  vm: z
    .strictObject({
      vmId: z.string().min(1),
      startedAt: z.number(),
      expiresAt: z.number(),
      /** The plan refused to extend further. */
      limited: z.boolean(),
      policyDigest: z.string().nullable(),
    })
    .nullable(),
  /** Whether a sandbox with a disk of this session may exist. */
  hasDisk: z.boolean(),
  extendAgainAt: instant,
  secureAgainAt: instant,

  launches: count,
  launchedAt: instant,
  /** The row reported `running` under our claim since the latest launch. */
  connected: z.boolean(),
  /** Word has come from the vm since the latest launch: its end will be told at once. */
  bellHeard: z.boolean(),
  probeAt: instant,
  restartAt: instant,
  restarts: count,
  vmLosses: count,

  /** Since when a sandbox that should run has been booting or stopping. */
  settlingSince: instant,
  /** Looks since something started to settle, and when the next is due. */
  looks: count,
  lookAt: instant,
  /** Consecutive single reads of the row that agreed. */
  reads: count,

  /** What follows when the vm is seen stopped. */
  stopFor: z.enum(['release', 'rollOver', 'tidy']),
  outcome: z.enum(OUTCOMES).nullable(),
  detail: z.string().max(300).nullable(),
  /** Failed episodes in a row. */
  strikes: count,
  retryAt: instant,
  keepUntil: instant,
});
export type SessionContext = z.infer<typeof sessionContextSchema>;

export interface SessionInput {
  readonly sessionId: string;
  readonly outpostId: string;
  readonly sandboxName: string;
  readonly acceptorPrefix: string;
  readonly facts: SessionFacts;
}

const unseen: SessionFacts = {
  presence: 'present',
  phase: 'pending',
  status: null,
  acceptorId: null,
  hasClaimDeadline: false,
  policyKey: '',
};

/** The context a session starts with. Null-safe: XState asks for it without input on every pure transition. */
export function freshContext(input?: SessionInput): SessionContext {
  return {
    sessionId: input?.sessionId ?? '',
    outpostId: input?.outpostId ?? '',
    sandboxName: input?.sandboxName ?? '',
    acceptorPrefix: input?.acceptorPrefix ?? '',
    facts: input?.facts ?? unseen,
    episode: 1,
    hasDisk: false,
    strikes: 0,
    keepUntil: null,
    ...freshEpisode,
  };
}

/** What every episode starts with. */
export const freshEpisode = {
  dismissed: null,
  claimDeadlineAt: null,
  renewAt: null,
  policyKey: null,
  policyAnswered: null,
  vm: null,
  extendAgainAt: null,
  secureAgainAt: null,
  launches: 0,
  launchedAt: null,
  connected: false,
  bellHeard: false,
  probeAt: null,
  restartAt: null,
  restarts: 0,
  vmLosses: 0,
  settlingSince: null,
  looks: 0,
  lookAt: null,
  reads: 0,
  stopFor: 'release',
  outcome: null,
  detail: null,
  retryAt: null,
} as const satisfies Partial<SessionContext>;

/** The acceptor of the current episode: one holder per claim, saved before the first claim. */
export const acceptorOf = (context: Pick<SessionContext, 'acceptorPrefix' | 'episode'>): string =>
  `${context.acceptorPrefix}-${context.episode}`;
