/**
 * Rows and cursors as they travel.
 *
 * The only place that knows how Devin writes instants; everything inside
 * counts milliseconds of the world's clock.
 */
import type { Session } from './session.js';

export type TimestampStyle = 'seconds' | 'float' | 'ms' | 'numericString' | 'iso';

/** Writes `at` (milliseconds, skew included) in the style. */
export function writeInstant(at: number, style: TimestampStyle): number | string {
  switch (style) {
    case 'seconds':
      return Math.floor(at / 1000);
    case 'float':
      return at / 1000;
    case 'ms':
      return at;
    case 'numericString':
      return String(at / 1000);
    case 'iso':
      return new Date(at).toISOString();
  }
}

export interface WireOptions {
  readonly style: TimestampStyle;
  readonly skewMs: number;
}

export type WireRow = {
  metadata: Record<string, unknown> & { session_id: string };
  spec: Record<string, unknown>;
  status: Record<string, unknown>;
};

/** The row of a session that has an entry. */
export function writeRow(session: Session, options: WireOptions): WireRow {
  const { entry } = session;
  const skewed = (at: number) => at + options.skewMs;
  const metaStyle = options.style === 'seconds' ? 'seconds' : 'float';
  return {
    metadata: {
      session_id: session.id,
      outpost_id: session.outpostId,
      created_at: entry ? writeInstant(skewed(entry.createdAt), metaStyle) : null,
      updated_at: entry ? writeInstant(skewed(entry.updatedAt), metaStyle) : null,
    },
    spec: {
      kind: session.kind,
      platform: session.platform,
      remote_binary_sha: session.remoteSha,
      ...(session.policy ? { network_policy: session.policy } : {}),
    },
    status: {
      phase: entry?.phase ?? 'pending',
      acceptor_id: entry?.acceptorId ?? null,
      claim_deadline:
        entry?.deadlineAt == null ? null : writeInstant(skewed(entry.deadlineAt), options.style),
      session_status: session.status,
    },
  };
}

/** A place in the order of the queue. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

export const writeCursor = (place: Place): string =>
  Buffer.from(JSON.stringify([place.at, place.id])).toString('base64url');

/** Null when the text is no cursor of ours. */
export function readCursor(text: string): Place | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (!Array.isArray(value)) return null;
    const [at, id] = value;
    return typeof at === 'number' && typeof id === 'string' ? { at, id } : null;
  } catch {
    return null;
  }
}

/** Negative when `a` comes first. */
export const comparePlaces = (a: Place, b: Place): number =>
  a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
