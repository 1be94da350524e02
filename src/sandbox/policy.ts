/**
 * A session's network policy in Sandbox's words.
 *
 * A restricted session reaches what its list allows and what it cannot do
 * without; nothing that cannot be read strictly opens anything. Both what is
 * sent and what the API reports reduce to one normal form, whose digest tells
 * whether the policy in force is still the one that was applied.
 */
import { createHash } from 'node:crypto';
import type { NetworkPolicy } from '@vercel/sandbox';
import { RefusedError } from '../errors.js';
import type { SessionPolicy } from '../ports/fleet.js';
import type { VmRef } from '../ports/sandbox.js';
import { canonicalHost, canonicalSubnet } from './address.js';
import type { Cloud } from './cloud.js';
import { BadRequestError, POLICY_REFUSED } from './failures.js';

/**
 * `needed`: URLs whose hosts are let through in any case. `onOddity` hears of every entry that was dropped.
 *
 * @throws RefusedError when a needed URL has no usable host.
 */
export function networkPolicy(
  policy: SessionPolicy,
  needed: readonly string[],
  onOddity: (message: string) => void,
): NetworkPolicy {
  if (!policy.enabled) return 'allow-all';
  const { domains, subnets } = allowList(policy, onOddity);
  for (const url of needed) {
    const { host, subnet } = placeOf(url);
    if (host === null && subnet === null) {
      throw new RefusedError('network policy: a host that every session needs cannot be read', {
        setting: 'DEVIN_WORKER_STATIC_BASE_URL, PUBLIC_URL or the gateway address that Devin sends',
      });
    }
    if (host !== null) domains.add(host);
    if (subnet !== null) subnets.add(subnet);
  }
  return {
    allow: [...domains].sort(),
    ...(subnets.size > 0 && { subnets: { allow: [...subnets].sort() } }),
  };
}

/** Whether a session's own list covers the URL's host. An address counts only where it is listed by itself. */
export function allowsHost(policy: SessionPolicy, url: string): boolean {
  if (!policy.enabled) return true;
  const { domains, subnets } = allowList(policy, () => {});
  const { host, subnet } = placeOf(url);
  if (host === null) return subnet !== null && subnets.has(subnet);
  const parents = host.split('.').map((_, index, labels) => `*.${labels.slice(index + 1).join('.')}`);
  return [host, ...parents].some((pattern) => domains.has(pattern));
}

/** What the session's own list opens, in canonical spelling. */
function allowList(policy: Extract<SessionPolicy, { enabled: true }>, onOddity: (message: string) => void) {
  const domains = new Set<string>();
  const subnets = new Set<string>();
  for (const entry of policy.hosts) {
    const { host, subnet } = place(entry);
    if (host !== null) domains.add(host);
    else if (subnet !== null) subnets.add(subnet);
    else onOddity(`network policy: dropped the host ${quoted(entry)}`);
  }
  for (const entry of policy.subnets) {
    const subnet = canonicalSubnet(entry);
    if (subnet !== null) subnets.add(subnet);
    else onOddity(`network policy: dropped the network ${quoted(entry)}`);
  }
  return { domains, subnets };
}

/** Short and comparable; spelling and order do not matter. */
export function policyDigest(policy: NetworkPolicy): string {
  return createHash('sha256')
    .update(JSON.stringify(normalForm(policy)))
    .digest('hex')
    .slice(0, 16);
}

/**
 * Puts a policy in force in a vm unless `inForce` is the same. Answers the digest of what the API reports then.
 *
 * @throws GoneError when the vm is not running any more.
 */
export async function applyNetworkPolicy(
  cloud: Cloud,
  vm: VmRef,
  policy: NetworkPolicy,
  inForce: NetworkPolicy | undefined,
  signal: AbortSignal,
): Promise<string> {
  const wanted = policyDigest(policy);
  if (inForce !== undefined && policyDigest(inForce) === wanted) return wanted;
  try {
    const reported = await cloud.onVm(vm, 'apply the network policy', signal, async (session, bounded) => {
      await session.update({ networkPolicy: policy }, { signal: bounded });
      return session.networkPolicy;
    });
    return reported === undefined ? wanted : policyDigest(reported);
  } catch (error) {
    // Nothing but the policy was sent.
    throw error instanceof BadRequestError ? new BadRequestError(error.message, POLICY_REFUSED) : error;
  }
}

function normalForm(policy: NetworkPolicy): unknown {
  if (typeof policy === 'string') return [policy];
  const { allow = [], subnets = {} } = policy;
  // Rules on a domain are never ours: they have to make a difference.
  const domains = Array.isArray(allow)
    ? allow.map((host) => canonicalHost(host) ?? host)
    : Object.entries(allow).map(([host, rules]) =>
        rules.length === 0 ? (canonicalHost(host) ?? host) : `${host} ruled`,
      );
  const networks = (list: readonly string[] = []) =>
    unique(list.map((entry) => canonicalSubnet(entry) ?? entry));
  return ['custom', unique(domains), networks(subnets.allow), networks(subnets.deny)];
}

const placeOf = (url: string) => place(URL.canParse(url) ? new URL(url).hostname : '');

function place(entry: string): { host: string | null; subnet: string | null } {
  const host = canonicalHost(entry);
  if (host !== null) return { host, subnet: null };
  const address = entry.replace(/^\[(.*)\]$/, '$1');
  return { host: null, subnet: address.includes('/') ? null : canonicalSubnet(address) };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** Entries come from outside: shown short and on one line. */
function quoted(entry: string): string {
  return JSON.stringify(entry.slice(0, 80));
}
