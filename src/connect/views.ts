/** What pages show of a connection's saved actor. Reads nothing, and knows no secret. */
import type { ConnectionContext } from '../../machines/connection/context.js';
import type { Credentials } from '../ports/connect.js';
import type { AttemptView, ConnectionView } from '../ports/connector.js';
import type { ActorRow } from '../ports/store.js';
import type { ActorKind } from '../runtime/actor.js';
import { restore } from '../runtime/saved.js';

export interface Seen {
  readonly row: ActorRow;
  readonly context: ConnectionContext;
}

export const WAITING = 'authorizing.waiting';
export const RETRYABLE = 'failed.open';

/** Null: there is no record, or it does not read. */
export function seenIn(kind: ActorKind, row: ActorRow | null): Seen | null {
  const restored = row === null || row.quarantine !== null ? null : restore(kind, row);
  if (row === null || restored?.kind !== 'restored') return null;
  return { row, context: restored.snapshot.context as ConnectionContext };
}

/** Whether something of it is being exchanged, stored or deleted, which no other attempt disturbs. */
export const isAtWork = (state: string): boolean => WORK.includes(topOf(state));

/** `hasCode`: the browser is back already, and the actor has yet to hear of it. */
export function attemptView(attemptId: string, seen: Seen | null, hasCode: boolean): AttemptView {
  const nothing = { problem: null, retryable: false, expiresAt: null, project: null, outpost: null };
  if (seen === null || seen.row.state === 'ended')
    return { attemptId, kind: 'gone', state: 'gone', ...nothing };
  const { row, context } = seen;
  const { project, granted, current, problem } = context;
  if (context.attemptId !== attemptId) return { attemptId, kind: 'superseded', state: row.state, ...nothing };
  const outpost = granted ?? current;
  const kind = hasCode && row.state === WAITING ? 'working' : kindOf(row.state);
  return {
    attemptId,
    kind,
    state: row.state,
    problem,
    retryable: row.state === RETRYABLE && granted !== null,
    expiresAt: kind === 'waiting' ? context.authorizeBy : null,
    project: project && {
      projectId: project.projectId,
      teamId: project.teamId,
      name: project.name,
      written: project.written,
    },
    outpost: kind === 'connected' && outpost ? { id: outpost.outpostId, name: outpost.outpostName } : null,
  };
}

function kindOf(state: string): AttemptView['kind'] {
  if (state === 'authorizing.installing') return 'preparing';
  if (state === WAITING) return 'waiting';
  return ENDS.find((end) => end === topOf(state)) ?? 'working';
}

const ENDS = ['connected', 'expired', 'refused', 'failed'] as const;
const WORK = ['exchanging', 'configuring', 'disconnecting'];
const topOf = (state: string): string => state.split('.')[0] ?? '';

export function ownView(
  kind: ActorKind,
  row: ActorRow | null,
  sessions: number,
  /** What is in the vault, which is what connects, whatever the record says. */
  kept: Credentials | 'unreadable' | null,
  environment: { readonly outpostId: string; readonly apiHost: string } | null,
): ConnectionView {
  const seen = seenIn(kind, row);
  const current = seen?.context.current ?? null;
  const state = row?.state ?? 'idle';
  const browser = kept === null || kept === 'unreadable' ? null : kept;
  const problem = seen !== null ? seen.context.problem : row !== null ? whyUnread(row) : null;
  return {
    state,
    source: kept !== null ? 'browser' : environment !== null ? 'environment' : 'none',
    outpostId: browser?.outpostId ?? (kept === null ? (environment?.outpostId ?? null) : null),
    apiHost: browser ? new URL(browser.apiUrl).host : kept === null ? (environment?.apiHost ?? null) : null,
    fallsBack: browser !== null && environment?.outpostId === browser.outpostId,
    since: kept !== null ? (current?.since ?? null) : null,
    problem: kept === 'unreadable' ? UNREADABLE : problem,
    working: seen !== null && isAtWork(state),
    sessions,
  };
}

const UNREADABLE =
  'the token that is kept does not open: DEVIN_CONNECTION_SECRET was changed. Set DEVIN_CONNECTION_SECRET_PREVIOUS to the one before, or connect again';

const whyUnread = ({ quarantine }: ActorRow): string =>
  quarantine === null
    ? 'its record does not read, and connecting again puts another in its place: was it written by a newer version of this program?'
    : `its record was set aside, and connecting again tries it once more: ${quarantine}`;
