/**
 * What it means that the program dies while an effect of a session is pending.
 *
 * Whatever the instant, the saved state still names the effect, and the next
 * driver performs it again; each sentence says why that does no harm.
 */
import type { SessionEffectName } from './effects.js';

export const sessionCrashes: Readonly<Record<SessionEffectName, string>> = {
  claimSession: 'It claims again under the same acceptor: a claim whose answer was lost is renewed.',
  renewClaim: 'It renews again, which only moves the deadline.',
  openSandbox: 'It opens again: a vm that is up already is taken over, one that boots is waited for.',
  launchRemote:
    'It gives the same launch again: whoever holds the launch lock in the vm stays, so one remote runs.',
  lookAtRemote: 'It looks again, which changes nothing.',
  secureSandbox: 'It claims again and sets the allow list of that answer, which may be set twice.',
  extendSandbox: 'It asks for the same instant again: a vm that has so much time already gets no more.',
  stopSandbox:
    'It looks first: a vm that stops or has stopped is left alone, any other is asked to stop again.',
  lookAtStop: 'It looks again, which changes nothing.',
  readRow: 'It reads again, which changes nothing.',
  releaseClaim:
    'It gives the claim back again: one that is not ours any more, or gone, counts as given back.',
  discardSandbox: 'It deletes again: a sandbox that is not there counts as deleted.',
};
