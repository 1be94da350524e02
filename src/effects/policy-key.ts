/** A short digest of a session's allow list, to notice that Devin changed it. Order and repetition do not count. */
import { createHash } from 'node:crypto';
import type { SessionPolicy } from '../ports/fleet.js';

export function policyKey(policy: SessionPolicy): string {
  if (!policy.enabled) return 'open';
  const normal = [unique(policy.hosts), unique(policy.subnets)];
  return createHash('sha256').update(JSON.stringify(normal)).digest('hex').slice(0, 16);
}

const unique = (items: readonly string[]): string[] => [...new Set(items)].sort();
