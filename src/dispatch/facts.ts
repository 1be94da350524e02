/** What decisions need of a queue entry, in a stable form: equal facts are equal text. */
import type { SessionFacts } from '../../machines/session/context.js';
import { policyKey } from '../effects/policy-key.js';
import type { QueueEntry } from '../ports/fleet.js';

export function factsOf(entry: QueueEntry): SessionFacts {
  return {
    presence: 'present',
    phase: entry.phase,
    status: entry.status,
    acceptorId: entry.acceptorId,
    hasClaimDeadline: entry.hasClaimDeadline,
    policyKey: policyKey(entry.policy),
  };
}
