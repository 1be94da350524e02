/** `session <id>`: where it is, what it waits for, what it has, and how it came there. */
import { durationInWords } from '../dashboard/assets/format.js';
import { inWords, stateInWords } from '../dashboard/lifecycle.js';
import { type Episode, type SessionDetails, sessionDetails } from '../details.js';
import { facts } from './facts.js';
import { runLook } from './look.js';
import type { LookOptions } from './look-options.js';
import { clean, columns, timeTaken } from './text.js';
import { timelineInLines } from './timeline.js';
import { clockTime, timeOf } from './times.js';
import { sayUnknown } from './unknown.js';

export function runSession(id: string, options: LookOptions): Promise<number> {
  return runLook(options, async (look) => {
    const details = await sessionDetails(look, id, timeOf);
    if (details === null) return sayUnknown(look, id);
    if (options.json) look.printJson(details);
    else look.print(inLines(details).join('\n'));
    return 0;
  });
}

function inLines(details: SessionDetails): string[] {
  const { at, session, waiting, episodes, timeline } = details;
  return [
    clean(session.id),
    clean(
      `${stateInWords(session.state)} for ${durationInWords(at - session.stateSince)}, episode ${session.episode}`,
    ),
    ...(waiting === null ? [] : [clean(waiting.clauses.join('; '))]),
    ...[session.problem, session.quarantine && `set aside: ${session.quarantine}`].flatMap((trouble) =>
      trouble ? [`! ${clean(trouble)}`] : [],
    ),
    ...section('Facts', columns(facts(details))),
    ...section('Episodes', columns(episodes.map((episode) => episodeCells(episode, at)))),
    ...section('Timeline', timelineInLines(timeline)),
  ];
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];

function episodeCells(
  { episode, since, until, claimedAt, connectedAt, outcome }: Episode,
  now: number,
): string[] {
  const after = (what: string, at: number | null) =>
    at === null ? '' : `${what} after ${timeTaken(at - since)}`;
  return [
    String(episode),
    `${timeOf(now)(since)}:${clockTime(since).slice(-2)}`,
    timeTaken((until ?? now) - since),
    after('claimed', claimedAt),
    after('connected', connectedAt),
    outcome === null ? (until === null ? 'goes on' : '') : inWords(outcome),
  ].map(clean);
}
