/**
 * Drives one session as a durable run: wake up, drive, sleep until something is due.
 *
 * A thin shell. What a session does next is in its row, which every wake-up
 * reads anew; the run holds the session's id and nothing else, so it may be
 * lost, repeated or replaced at any point. No secret crosses a step boundary.
 *
 * The hook's token is the lock: one run at a time drives a session. A run ends
 * when its actor rests, and hands over to a fresh one before its log grows long.
 */
import { createHook, sleep } from 'workflow';
import { startSessionRun, workflowRuns } from './runs.js';
import { hookToken, type Ring } from './token.js';
import { type Turn, takeTurn } from './turn.js';

/**
 * Wake-ups after which a run hands over. Each costs five to seven events, so a run ends with some 600 of the
 * 25,000 that the engine allows, and a replay reads no more than that.
 */
export const WAKE_UPS_PER_RUN = 100;

export type RunEnd =
  | { readonly kind: 'rests' | 'handedOver' | 'dismissed'; readonly wakeUps: number }
  /** Another run drives the session. */
  | { readonly kind: 'deduplicated'; readonly holder: string };

export async function sessionRun(
  sessionId: string,
  wakeUpsPerRun: number = WAKE_UPS_PER_RUN,
): Promise<RunEnd> {
  'use workflow';
  const hook = createHook<Ring>({ token: hookToken(sessionId) });
  const conflict = await hook.getConflict();
  if (conflict !== null) {
    await ringHolder(sessionId);
    return { kind: 'deduplicated', holder: conflict.runId };
  }
  // One receive stays pending until it is answered: one that lost a race would swallow the next ring.
  const receive = () => hook.then((ring) => ring);
  let ringing = receive();
  for (let wakeUps = 1; ; wakeUps++) {
    const turn = await driveSession(sessionId);
    if (turn.kind === 'rests' || wakeUps === wakeUpsPerRun) {
      hook.dispose();
      // What was rung between the last look and now found this run and is lost with it.
      await continueSession(sessionId, turn.kind === 'rests');
      return { kind: turn.kind === 'rests' ? 'rests' : 'handedOver', wakeUps };
    }
    // An instant that a step told, not a duration: the engine would add it to a clock that rings in between move,
    // and a replay that adds up differently breaks the run.
    const asleep = sleep(new Date(turn.untilAt)).then(() => null);
    let ring: Ring | null;
    do {
      ring = await Promise.race([ringing, asleep]);
      if (ring !== null) ringing = receive();
      // What was sent while the wake-up was under way queues up; it told nothing new, and each would cost another.
    } while (ring?.type === 'look' && ring.sentAt < turn.seenAt);
    if (ring?.type === 'leave') {
      hook.dispose();
      return { kind: 'dismissed', wakeUps };
    }
  }
}

/** One wake-up. */
export async function driveSession(sessionId: string): Promise<Turn> {
  'use step';
  return takeTurn(sessionId);
}

/** Starts the next run, unless the session still rests when it is read once more. */
export async function continueSession(sessionId: string, rested: boolean): Promise<void> {
  'use step';
  if (rested && (await takeTurn(sessionId)).kind === 'rests') return;
  await startSessionRun(sessionId);
}

export async function ringHolder(sessionId: string): Promise<void> {
  'use step';
  await workflowRuns().ring(sessionId);
}
