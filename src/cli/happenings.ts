/** What has happened to sessions since the look before, from their journal and their rows. */
import { causeInWords } from '../causes.js';
import type { FleetView, SessionView } from '../dashboard/view.js';
import { CONNECTION_IDS, type JournalRow } from '../ports/store.js';
import { createChanges } from './changes.js';
import type { Look } from './look.js';
import { clean } from './text.js';

export type Happening = { readonly at: number; readonly words: string } & (Seen | Moved | Troubled);

/** It is there: told at the beginning, and of those that come into the queue. */
interface Seen {
  readonly type: 'seen';
  readonly session: SessionView;
}

/** An entry of its journal; `from` and `to` are the same when only something was noted. */
interface Moved {
  readonly type: 'moved';
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly event: unknown;
}

/** An operator has to act: a problem came up, or it was set aside. */
interface Troubled {
  readonly type: 'troubled';
  readonly id: string;
  readonly trouble: string;
}

/** Entries of the journal that one read brings. */
const PAGE = 500;

/** Answers a function to call again and again. Rejects with TransientError; nothing is lost then. */
export function createHappenings(
  { store }: Look,
  view: () => Promise<FleetView>,
): () => Promise<readonly Happening[]> {
  const known = new Set<string>();
  const changesOf = createChanges();
  let after: number | null = null;
  return async () => {
    after ??= await store.journalEnd();
    const moves: JournalRow[] = [];
    for (let page: readonly JournalRow[]; ; ) {
      page = await store.journal({ after: moves.at(-1)?.seq ?? after, limit: PAGE });
      moves.push(...page);
      if (page.length < PAGE) break;
    }
    const now = await view();
    after = moves.at(-1)?.seq ?? after;
    const moved = moves.filter(({ actorId }) => !actorId.startsWith(CONNECTION_IDS)).map(moveOf);
    for (const { id } of moved) known.add(id);
    const seen = now.sessions.filter(({ id }) => !known.has(id)).map((session) => seenAs(session, now.at));
    for (const { session } of seen) known.add(session.id);
    const troubled = changesOf(now).flatMap((change): Happening[] =>
      change.kind === 'troubled' ? [troubleOf(change.session.id, change.trouble, now.at)] : [],
    );
    return [...moved, ...seen, ...troubled];
  };
}

function moveOf({ actorId: id, at, from, to, event: text }: JournalRow) {
  const event: unknown = JSON.parse(text);
  const cause = causeInWords(event);
  const words = clean(`${id}  ${from === to ? to : `${from} → ${to}`}  (${cause})`);
  return { type: 'moved', at, id, from, to, cause, event, words } as const;
}

function seenAs(session: SessionView, at: number) {
  const { id, state, episode, waitsFor } = session;
  const waits = waitsFor === null ? '' : `, waits for ${waitsFor}`;
  return {
    type: 'seen',
    at,
    session,
    words: clean(`${id}  is in ${state}  (episode ${episode}${waits})`),
  } as const;
}

const troubleOf = (id: string, trouble: string, at: number) =>
  ({ type: 'troubled', at, id, trouble, words: clean(`${id}  ! ${trouble}`) }) as const;
