/** How a session went through the lifecycle's top-level states, from its timeline. */
import type { Stay } from '../details.js';
import { topOf } from '../diagrams/chart.js';
import { clean, timeTaken, widthOf } from './text.js';
import { fold } from './timeline.js';

/** A time in one top-level state, whatever it did inside. */
export type Leg = Pick<Stay, 'state' | 'since' | 'ms' | 'cause'>;

export function legsOf(timeline: readonly Stay[]): Leg[] {
  const legs: Leg[] = [];
  for (const { state, since, ms, cause } of timeline) {
    const top = topOf(state);
    const last = legs.at(-1);
    if (last?.state === top) legs[legs.length - 1] = { ...last, ms: last.ms + ms };
    else legs.push({ state: top, since, ms, cause });
  }
  return legs;
}

/** In words, broken between two legs so that lines are at most `width` columns wide. */
export function legsInLines(legs: readonly Leg[], width: number): string[] {
  const words = fold(legs.map((leg) => ({ ...leg, cause: '' }))).map(({ stays, rounds, ms }) => {
    const states = stays.map(({ state }) => clean(state)).join(' ⇄ ');
    return `${rounds === 1 ? '' : `${rounds} × `}${states} ${timeTaken(ms)}`;
  });
  const lines: string[] = [];
  for (const [index, word] of words.entries()) {
    const piece = index === words.length - 1 ? word : `${word} →`;
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + widthOf(piece) < width)
      lines[lines.length - 1] = `${last} ${piece}`;
    else lines.push(piece);
  }
  return lines;
}
