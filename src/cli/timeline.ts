/**
 * A session's timeline as lines: when, in which state, for how long, and what
 * led there. What repeats itself, such as probes, is told once and counted.
 */
import { stateInWords } from '../dashboard/lifecycle.js';
import type { Stay } from '../details.js';
import { clean, columns, timeTaken } from './text.js';
import { clockTime, dayOf } from './times.js';

/** Oldest first, with a line where a day begins. */
export function timelineInLines(stays: readonly Stay[]): string[] {
  const folded = fold(stays);
  const lines = columns(folded.map(cells));
  return folded.flatMap(({ stays: [first] }, index) => {
    const day = first === undefined ? null : dayOf(first.since);
    const before = folded[index - 1]?.stays[0];
    const isNew = before === undefined || dayOf(before.since) !== day;
    return [...(isNew && day !== null ? [day] : []), lines[index] ?? ''];
  });
}

export interface Folded<Each> {
  /** One round of what repeats itself. */
  readonly stays: readonly Each[];
  readonly rounds: number;
  readonly ms: number;
}

function cells({ stays, rounds, ms }: Folded<Stay>): string[] {
  const [first] = stays;
  if (first === undefined) return [];
  const states = stays.map(({ state }) => stateInWords(state)).join(' → ');
  const causes = [...new Set(stays.map(({ cause }) => cause))].join(', ');
  const times = rounds === 1 ? '' : `${rounds} × `;
  return [clockTime(first.since), `${times}${states}`, timeTaken(ms), causes].map(clean);
}

/** A round is at most so many entries long, and is told once when it comes at least so often in a row. */
const LONGEST_ROUND = 4;
const ROUNDS_TOLD = 3;

type Repeatable = Pick<Stay, 'state' | 'cause' | 'ms'>;

/** Rounds of the same states for the same causes, put together. */
export function fold<Each extends Repeatable>(stays: readonly Each[]): Folded<Each>[] {
  const folded: Folded<Each>[] = [];
  for (let at = 0; at < stays.length; ) {
    const { length, rounds } = roundAt(stays, at);
    const all = stays.slice(at, at + length * rounds);
    folded.push({ stays: all.slice(0, length), rounds, ms: all.reduce((sum, { ms }) => sum + ms, 0) });
    at += all.length;
  }
  return folded;
}

/** The shortest round that repeats itself from here on; else one entry, once. */
function roundAt(stays: readonly Repeatable[], at: number): { length: number; rounds: number } {
  for (let length = 1; length <= LONGEST_ROUND; length++) {
    const alike = (index: number) => {
      const [here, before] = [stays[index], stays[index - length]];
      return here !== undefined && here.state === before?.state && here.cause === before.cause;
    };
    let end = at + length;
    while (alike(end)) end++;
    const rounds = Math.floor((end - at) / length);
    if (rounds >= ROUNDS_TOLD) return { length, rounds };
  }
  return { length: 1, rounds: 1 };
}
