/**
 * Devin's queue, as the orchestrator needs it.
 *
 * Every instant that crosses this port is in the orchestrator's own time: the
 * adapter converts with the offset it learnt. Unknown enum values become
 * `unknown`, and `unknown` never means "finished". Errors: see src/errors.ts.
 */
import type { SessionStatus } from '../../machines/session/context.js';

export { SESSION_STATUSES, type SessionStatus } from '../../machines/session/context.js';

/** What a session may reach. Hostnames may be globs (`*.example.com`); subnets are addresses or CIDRs. */
export type SessionPolicy =
  | { readonly enabled: false }
  | { readonly enabled: true; readonly hosts: readonly string[]; readonly subnets: readonly string[] };

/** One row of the queue. */
export interface QueueEntry {
  readonly sessionId: string;
  readonly outpostId: string;
  readonly kind: 'new' | 'resume' | 'unknown';
  /** `linux` when Devin sends none. */
  readonly platform: string;
  /** Hex, or null for the latest published remote. */
  readonly remoteSha: string | null;
  readonly policy: SessionPolicy;
  readonly phase: 'pending' | 'claimed' | 'unknown';
  readonly acceptorId: string | null;
  /** Whether the claim lapses unless renewed. The instant itself is only taken from a claim's answer. */
  readonly hasClaimDeadline: boolean;
  readonly status: SessionStatus | null;
}

/** Secrets of one claim. Stay in the driving process's memory; never stored, logged, journalled. */
export interface ConnectGrant {
  readonly gatewayUrl: string;
  readonly connectToken: string;
}

export type ClaimAnswer =
  | {
      readonly kind: 'claimed';
      readonly entry: QueueEntry;
      /** End of the claim, milliseconds in our time; null when it does not lapse. */
      readonly claimDeadlineAt: number | null;
      readonly grant: ConnectGrant;
    }
  /** 409: another acceptor holds it. */
  | { readonly kind: 'taken' }
  /** 404: no such row. */
  | { readonly kind: 'gone' };

/** A watch's event is a hint: it says "look", and may carry the row as it was. */
export interface WatchHint {
  readonly change: 'modified' | 'deleted';
  readonly sessionId: string;
  readonly entry: QueueEntry | null;
}

export interface Fleet {
  /**
   * Walks the whole queue of the outpost once.
   * `complete` is false when the walk met a repeated cursor, its page cap or an unreadable row: absence then
   * means nothing.
   */
  list(signal: AbortSignal): Promise<{ entries: readonly QueueEntry[]; complete: boolean }>;
  /** One row; null when the queue does not have it. */
  read(sessionId: string, signal: AbortSignal): Promise<QueueEntry | null>;
  /** Claims, or renews when `acceptorId` holds the claim already. Safe to repeat. */
  claim(sessionId: string, acceptorId: string, signal: AbortSignal): Promise<ClaimAnswer>;
  /** Gives the claim back. Not ours and gone both count as released. */
  release(sessionId: string, acceptorId: string, signal: AbortSignal): Promise<void>;
  /**
   * Yields hints until the stream ends (by design after at most five minutes) or `signal` aborts, which throws
   * its reason. A stream that breaks off throws `TransientError`.
   * The caller opens the next one; a list always runs beside it.
   */
  watch(signal: AbortSignal): AsyncIterable<WatchHint>;
}
