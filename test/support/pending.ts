/** What Devin's queue says of a session that waits and may be claimed. */
import type { SessionFacts } from '../../machines/session/context.js';

export const pending: SessionFacts = {
  presence: 'present',
  phase: 'pending',
  status: 'pending',
  acceptorId: null,
  hasClaimDeadline: false,
  policyKey: 'open',
};
