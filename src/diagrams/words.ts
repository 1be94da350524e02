/**
 * What causes are called on a diagram for newcomers.
 *
 * Those that tell most come first, because a label has room for three. A cause
 * that is not listed is called by its name in the machine, in plain letters.
 */
import type { Cause } from './chart.js';

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
  ['seenAlive', 'stray vm seen'],
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
  ['remoteStarting', 'still starting'],
  ['restartsSpent', 'crashed too often'],
  ['restartPending', 'restart is due later'],
  ['connected', 'row says running'],
  ['becameConnected', 'row says running'],
  ['doorbell.rung', 'doorbell'],
  ['seenDown', 'vm seen down'],
  ['seenDrifted', 'vm’s policy has drifted'],
  ['overOrMissing', 'seems over or gone'],
  ['seemsSuspended', 'seems asleep'],
  ['doubtUnderWay', 'asleep, says one read'],
  ['readSuspended', 'asleep'],
  ['claimSeemsLost', 'claim seems lost'],
  ['policyOutdated', 'allow list changed'],
  ['stillRunning', 'still running'],
  ['endUnconfirmed', 'remote exited by itself'],
  ['readGone', 'session gone'],
  ['readsSpent', 'no final word'],
  ['noDisk', 'no files left'],
  ['renewDue', 'claim ends soon'],
  ['lookDue', 'time to look'],
  ['probeDue', 'time to look'],
  ['secureDue', 'time to try again'],
  ['retryDue', 'pause over'],
  ['retryBy', 'an hour later'],
  ['ownDeployment', 'own deployment'],
  ['forProject', 'somebody’s project'],
  ['writtenPartly', 'written in part'],
  ['done', 'done'],
  ['claimSession otherwise', 'session over'],
  ['renewClaim otherwise', 'session over'],
  ['launchRemote otherwise', 'session over'],
  ['extendSandbox otherwise', 'extended'],
  ['settling', 'not settled yet'],
  ['connecting', 'false alarm'],
  ['confirmingEnd', 'session over or gone'],
  ['looking', 'session over or gone'],
  ['waiting', 'not down yet'],
  ['deciding', 'end is known'],
  ['awaitingEnd', 'not final yet'],
  ['resting', 'claim given back'],
  ['standing', 'secrets deleted'],
  ['failed', 'episode failed'],
  ['effectFailed', 'failed'],
]);

const RANK = [...WORDS.keys()];

/** Each once, what tells most first. */
export function wordsOf(causes: Cause[]): string[] {
  const place = ({ name }: Cause) => (WORDS.has(name) ? RANK.indexOf(name) : RANK.length);
  return [...new Set([...causes].sort((a, b) => place(a) - place(b)).map(words))];
}

function words({ kind, name, guard }: Cause): string {
  const guarded = WORDS.get(guard ?? '');
  if (guarded !== undefined) return guarded;
  const plain = name.replace(/\./g, ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return WORDS.get(name) ?? (kind === 'deadline' ? `after ${plain}` : plain);
}
