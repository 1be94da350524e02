/** What the outcome of an episode means to a person. Which of them count against the session: see `guards.ts`. */
import type { Outcome } from './context.js';

export const outcomeMeanings: Readonly<Record<Outcome, string>> = {
  ended: 'Devin says `terminated`: the session will never come back, and its files are deleted.',
  closed:
    'Devin says that the session is over (`exit`, `error`, or over when it was claimed); its files are kept.',
  suspended: 'The session fell asleep. It is claimed again when it wakes up.',
  gone: "Devin's queue has no such row any more; the files are kept for as long as snapshots are.",
  exited: "The remote ended by itself, and Devin's final word never came.",
  claimLost: 'Another acceptor has the claim.',
  cancelled: 'Kept for rows of earlier versions; nothing ends so now.',
  stopped: 'An operator asked for it.',
  drained: 'The orchestrator was shut down and took its sessions off their vms.',
  neverSettled: 'The sandbox neither came up nor went down in time.',
  neverConnected: 'The remote was started, but did not connect to Devin in time.',
  claimExpired: 'The claim ran out before the remote was started.',
  remoteCrashed: 'The remote crashed more often than it is started again.',
  vmLost: 'Too many vms went away in one episode.',
  unlaunchable: 'The remote could not be started, and another try would end alike.',
  foreignSandbox: "A sandbox that is not this session's stands under its name.",
  snapshotFailed: 'The vm stopped without saving its disk.',
  failed: 'An effect failed after all its tries.',
};
