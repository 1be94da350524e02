/** What is new in a view compared with the one before: for logs, which tell every change once. */
import type { FleetView, SessionView } from '../dashboard/view.js';

export type Change =
  /** `from` is null for a session seen for the first time. */
  | { readonly kind: 'moved'; readonly session: SessionView; readonly from: string | null }
  /** A session's problem or quarantine came up. */
  | { readonly kind: 'troubled'; readonly session: SessionView; readonly trouble: string }
  | { readonly kind: 'problem'; readonly problem: string }
  | { readonly kind: 'mended'; readonly problem: string };

/** Answers a function to call with each view, in their order. */
export function createChanges(): (view: FleetView) => Change[] {
  let known = new Map<string, SessionView>();
  let problems: readonly string[] = [];
  return (view) => {
    const changes = [
      ...problemChanges(problems, view.problems),
      ...view.sessions.flatMap((session) => sessionChanges(known.get(session.id), session)),
    ];
    known = new Map(view.sessions.map((session) => [session.id, session]));
    problems = view.problems;
    return changes;
  };
}

function problemChanges(before: readonly string[], now: readonly string[]): Change[] {
  return [
    ...now
      .filter((problem) => !before.includes(problem))
      .map((problem): Change => ({ kind: 'problem', problem })),
    ...before
      .filter((problem) => !now.includes(problem))
      .map((problem): Change => ({ kind: 'mended', problem })),
  ];
}

function sessionChanges(before: SessionView | undefined, session: SessionView): Change[] {
  const changes: Change[] = [];
  const moved = before?.state !== session.state || before.episode !== session.episode;
  if (moved) changes.push({ kind: 'moved', session, from: before?.state ?? null });
  const trouble = troubleOf(session);
  if (trouble !== null && trouble !== (before ? troubleOf(before) : null))
    changes.push({ kind: 'troubled', session, trouble });
  return changes;
}

function troubleOf({ quarantine, problem }: SessionView): string | null {
  return quarantine === null ? problem : `set aside: ${quarantine}`;
}
