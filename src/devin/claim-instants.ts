/**
 * The instants of a claim's answer: what they teach of the remote's clock, and
 * the claim's end in our time.
 *
 * A claim changes its row, so the row's update is the remote's "now", unless
 * the remote left it as it was (a renewal may). Therefore it remembers how rows
 * were last seen, and believes an update only when it moved.
 */
import type { RemoteClock } from '../remote-clock.js';
import type { Row } from './entry.js';
import { instantOf } from './instant.js';

export interface ClaimInstants {
  /** Notes how a row looks, before anyone claims it. */
  saw(row: Row): void;
  /** The last known update of a row, to be asked before the claim is sent; null when it was never seen. */
  lastUpdate(sessionId: string): number | null;
  /** Learns from a claim's answer; answers the claim's end in our time, null when it does not lapse. */
  take(claim: {
    readonly row: Row;
    readonly updateBefore: number | null;
    readonly sentAt: number;
    readonly receivedAt: number;
    readonly onUnreadable: (text: string) => void;
  }): number | null;
}

/** What an unreadable deadline is taken for: claims live about so long. */
const ASSUMED_CLAIM_MS = 300_000;
/** So many rows are remembered, the latest seen. */
const REMEMBERED_ROWS = 20_000;

export function createClaimInstants(remoteClock: RemoteClock): ClaimInstants {
  const updates = new Map<string, number>();

  const saw = (row: Row) => {
    const updatedAt = instantOf(row.updatedAt);
    const { sessionId } = row.entry;
    updates.delete(sessionId);
    if (updatedAt !== null) updates.set(sessionId, updatedAt);
    const [oldest] = updates.keys();
    if (updates.size > REMEMBERED_ROWS && oldest !== undefined) updates.delete(oldest);
  };

  return {
    saw,
    lastUpdate: (sessionId) => updates.get(sessionId) ?? null,
    take({ row, updateBefore, sentAt, receivedAt, onUnreadable }) {
      saw(row);
      const updatedAt = instantOf(row.updatedAt);
      const moved = updateBefore === null ? remoteClock.offsetMs() === null : updateBefore !== updatedAt;
      if (updatedAt !== null && moved) remoteClock.learn(updatedAt, sentAt, receivedAt);
      if (!row.entry.hasClaimDeadline) return null;
      const deadline = instantOf(row.claimDeadline);
      if (deadline !== null) return remoteClock.toLocal(deadline);
      onUnreadable(`unreadable claim_deadline, taken for ${ASSUMED_CLAIM_MS / 1_000} s after the request`);
      return sentAt + ASSUMED_CLAIM_MS;
    },
  };
}
