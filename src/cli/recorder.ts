/** What a run did, session by session, taken from its transitions. */
import type { SessionContext } from '../../machines/session/context.js';
import type { Transition } from '../runtime/drive.js';

export interface SessionRecord {
  readonly path: readonly string[];
  readonly episodes: number;
  readonly state: string;
  readonly outcome: string | null;
  readonly claimedAt: number | null;
  readonly connectedAt: number | null;
  readonly endedAt: number | null;
}

export interface Recorder {
  note(transition: Transition): void;
  of(id: string): SessionRecord | null;
  /** When anything last moved; 0 before that. */
  lastAt(): number;
}

export function createRecorder(): Recorder {
  const records = new Map<string, SessionRecord>();
  let last = 0;
  const blank: SessionRecord = {
    path: [],
    episodes: 1,
    state: 'queued',
    outcome: null,
    claimedAt: null,
    connectedAt: null,
    endedAt: null,
  };
  return {
    note({ id, from, to, at, context }) {
      last = at;
      const { episode, outcome } = context as SessionContext;
      const record = records.get(id) ?? blank;
      records.set(id, {
        path: [...record.path, to],
        episodes: episode,
        state: to,
        outcome: outcome ?? record.outcome,
        claimedAt: record.claimedAt ?? (from === 'claiming' && to.startsWith('provisioning') ? at : null),
        connectedAt: record.connectedAt ?? (to === 'serving.monitoring' ? at : null),
        endedAt: to === 'ended' ? at : null,
      });
    },
    of: (id) => records.get(id) ?? null,
    lastAt: () => last,
  };
}
