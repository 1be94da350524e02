/**
 * One scripted session as Devin's cloud knows it, and the view of it that
 * tests and pages read.
 *
 * Instants here are the world's clock; the cloud's own skew is added only on
 * the wire. Connect tokens are part of the record and never part of the view.
 */
import { z } from 'zod';
import { type Step, stepSchema } from './script.js';

export const sessionSpecSchema = z.strictObject({
  id: z.string().min(1).max(200).optional(),
  script: z.array(stepSchema).optional(),
  policy: z.looseObject({ enabled: z.boolean(), allow: z.array(z.unknown()).optional() }).optional(),
  remoteSha: z.string().nullable().optional(),
  platform: z.string().nullable().optional(),
  kind: z.enum(['new', 'resume']).optional(),
  /** What the row says until a remote connects. */
  queuedStatus: z.enum(['pending', 'running', 'new']).optional(),
  outpostId: z.string().optional(),
});
export type SessionSpec = z.infer<typeof sessionSpecSchema>;

/** The row in the queue while there is one. */
interface Entry {
  phase: 'pending' | 'claimed';
  acceptorId: string | null;
  claimedAt: number | null;
  deadlineAt: number | null;
  /** Connect tokens given out under the claim; all stay valid until it ends. */
  readonly tokens: Set<string>;
  /** Whether a remote connected under the claim. */
  attached: boolean;
  readonly createdAt: number;
  /** Unique and growing over the whole cloud: the order of the queue. */
  updatedAt: number;
}

/** One devin-remote process that was ever heard of. */
export interface Remote {
  readonly instance: string;
  readonly pid: number;
  readonly build: string;
  readonly cwd: string;
  readonly envNames: readonly string[];
  /** How often a remote was started with this state directory, itself included. */
  readonly starts: number;
  readonly acceptorId: string | null;
  /** Refused because another one was connected, or the build is not the pinned one. */
  readonly refused: boolean;
  readonly firstSeq: number;
  lastSeq: number;
  readonly connectedAt: number;
  lastSeenAt: number;
  connected: boolean;
  connections: number;
  /** Told by the remote when it ends as asked; null when it vanished. */
  exitCode: number | null;
}

export interface Order {
  readonly id: string;
  readonly order: 'run' | 'sleep' | 'end' | 'crash' | 'hang';
  readonly command?: string;
  readonly code?: number;
  readonly by: 'script' | 'say' | 'cloud';
  /** The instance that was told the order; one that ends or deafens it is done when that one is gone. */
  toldTo: string | null;
  settle(result: { code: number; output: string }): void;
  fail(error: Error): void;
}

export interface SessionEvent {
  /** Grows by one with each event of the cloud. */
  readonly seq: number;
  readonly at: number;
  readonly kind:
    | 'queued'
    | 'claimed'
    | 'renewed'
    | 'released'
    | 'lapsed'
    | 'left'
    | 'status'
    | 'connected'
    | 'refused'
    | 'disconnected'
    | 'wish'
    | 'step'
    | 'output'
    | 'givenUp';
  readonly text: string;
}

export interface Session {
  readonly id: string;
  readonly outpostId: string;
  kind: 'new' | 'resume';
  readonly platform: string | null;
  readonly policy: SessionSpec['policy'] | null;
  readonly remoteSha: string | null;
  readonly script: readonly Step[];
  readonly queuedStatus: string;
  status: string;
  /** What the session is on its way to; its status follows. */
  wish: 'run' | 'sleep' | 'end';
  /** Reads left that show `suspended` while the remote still flushes. */
  flickerReads: number;
  entry: Entry | null;
  /** Steps of the script that were taken. */
  position: number;
  readonly orders: Order[];
  readonly remotes: Remote[];
  readonly claims: { acceptorId: string; at: number; renewal: boolean; ofEnded: boolean }[];
  readonly outputs: { command: string; code: number; output: string; at: number; by: 'script' | 'say' }[];
  readonly events: SessionEvent[];
  /** Aborted when the session is over for good. */
  readonly over: AbortController;
}

const ENDED = new Set(['suspended', 'terminated', 'exit', 'error']);

/** Whether the status says that the session runs no more (for now or for good). */
export const isEnded = (session: Session): boolean => ENDED.has(session.status);

export const isConnected = (session: Session): boolean => session.remotes.some((remote) => remote.connected);

export function createSession(id: string, outpostId: string, spec: SessionSpec): Session {
  return {
    id,
    outpostId: spec.outpostId ?? outpostId,
    kind: spec.kind ?? 'new',
    platform: spec.platform === undefined ? 'linux' : spec.platform,
    policy: spec.policy ?? null,
    remoteSha: spec.remoteSha ?? null,
    script: spec.script ?? [],
    queuedStatus: spec.queuedStatus ?? 'pending',
    status: spec.queuedStatus ?? 'pending',
    wish: 'run',
    flickerReads: 0,
    entry: null,
    position: 0,
    orders: [],
    remotes: [],
    claims: [],
    outputs: [],
    events: [],
    over: new AbortController(),
  };
}

export type SessionView = ReturnType<typeof viewOf>;

/** A copy for outsiders: plain JSON, no secrets. */
export function viewOf(session: Session) {
  const { entry } = session;
  return {
    id: session.id,
    kind: session.kind,
    status: session.status,
    wish: session.wish,
    phase: entry?.phase ?? null,
    acceptor: entry?.acceptorId ?? null,
    claimDeadlineAt: entry?.deadlineAt ?? null,
    step: session.position,
    steps: session.script.length,
    claims: session.claims.map((claim) => ({ ...claim })),
    remotes: {
      ever: session.remotes.filter((remote) => !remote.refused).length,
      now: session.remotes.filter((remote) => remote.connected).length,
      maxAtOnce: mostAtOnce(session.remotes),
      list: session.remotes.map(({ firstSeq, lastSeq, ...remote }) => ({ ...remote })),
    },
    outputs: session.outputs.map((output) => ({ ...output })),
    events: [...session.events],
  };
}

/**
 * The most processes that were alive at one moment, as far as the gateway can
 * know: one that comes back after a dropped connection lived in between.
 */
function mostAtOnce(remotes: readonly Remote[]): number {
  const aliveAt = (seq: number) =>
    remotes.filter((remote) => remote.firstSeq <= seq && (remote.connected || remote.lastSeq >= seq)).length;
  return Math.max(0, ...remotes.map((remote) => aliveAt(remote.firstSeq)));
}
