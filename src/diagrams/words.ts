/**
 * What causes are called on a diagram for newcomers.
 *
 * Those that tell most come first, because a label has room for three. A cause
 * that is not listed is called by its name in the machine, in plain letters.
 */
import type { Cause } from './outline.js';

export const WORDS: ReadonlyMap<string, string> = new Map([
  ['remoteRunning', 'remote runs'],
  ['remoteExitedCleanly', 'remote exited'],
  ['readSuspendedEnough', 'session asleep or over'],
  ['readOver', 'session asleep or over'],
  ['readTerminated', 'session asleep or over'],
  ['over', 'session over'],
  ['sessionOver', 'session over'],
  ['endedForGood', 'session terminated'],
  ['terminated', 'session terminated'],
  ['rollOverDue', 'vm near plan’s limit'],
  ['rollingOver', 'on to a new vm'],
  ['connectBy', 'not up in time'],
  ['claimDeadline', 'not up in time'],
  ['settleBy', 'not up in time'],
  ['rowGone', 'session gone'],
  ['readGoneForGood', 'session gone'],
  ['coolingDown', 'crashed'],
  ['restartDue', 'restart'],
  ['extendDue', 'little time left'],
  ['keepDue', 'kept long enough'],
  ['claimTaken', 'claimed by another'],
  ['claimWasLost', 'claimed by another'],
  ['foreign', 'foreign sandbox'],
  ['stopped', 'vm stopped'],
  ['sandbox.seen', 'stray vm seen'],
  ['tidying', 'stray vm stopped'],
  ['tidiedWhileParked', 'stray vm stopped'],
  ['stop.requested', 'stop requested'],
  ['shouldPark', 'failed too often'],
  ['drain.requested', 'drain requested'],
  ['code.returned', 'back with a code'],
  ['authorization.requested', 'begun anew'],
  ['authorization.denied', 'declined'],
  ['authorizeBy', 'ten minutes over'],
  ['endsAt', 'a day later'],
  ['done', 'done'],
  ['failed', 'failed'],
]);

const RANK = [...WORDS.keys()];

/** Each once, what tells most first. */
export function wordsOf(causes: Cause[]): string[] {
  const place = ({ name }: Cause) => (WORDS.has(name) ? RANK.indexOf(name) : RANK.length);
  return [...new Set([...causes].sort((a, b) => place(a) - place(b)).map(words))];
}

function words({ kind, name }: Cause): string {
  const plain = name.replace(/\./g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return WORDS.get(name) ?? (kind === 'deadline' ? `after ${plain}` : plain);
}
