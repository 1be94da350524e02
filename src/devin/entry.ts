/**
 * One row of Devin's queue, from the wire into the port's words.
 *
 * Forgives what may vary (unknown fields and values, absent hints), refuses
 * what decides: who the row belongs to and what its session may reach. A policy
 * that cannot be read must never become "allow all".
 */
import { z } from 'zod';
import { type QueueEntry, SESSION_STATUSES, type SessionPolicy } from '../ports/fleet.js';
import { CONNECTION_IDS } from '../ports/store.js';
import { sessionPath } from './paths.js';

const policySchema = z.object({ enabled: z.boolean(), allow: z.array(z.unknown()).nullish() });

const rowSchema = z.object({
  metadata: z.object({
    session_id: z.string().refine((id) => sessionPath(id) !== null && !id.startsWith(CONNECTION_IDS)),
    outpost_id: z.string(),
    updated_at: z.unknown().optional(),
  }),
  spec: z.object({
    kind: z.enum(['new', 'resume', 'unknown']).catch('unknown'),
    platform: z.string().nullish(),
    remote_binary_sha: z.string().nullish(),
    network_policy: policySchema.nullish(),
  }),
  status: z.object({
    phase: z.enum(['pending', 'claimed', 'unknown']).catch('unknown'),
    acceptor_id: z.string().nullish(),
    claim_deadline: z.unknown().optional(),
    session_status: z.enum(SESSION_STATUSES).nullish().catch('unknown'),
  }),
});

/** A row that was read: what the port passes on, and the instants that stay behind it. */
export interface Row {
  readonly entry: QueueEntry;
  /** As written by the remote; see `instantOf`. */
  readonly updatedAt: unknown;
  readonly claimDeadline: unknown;
  /** Items of the allow list that are no host and no address. Dropping them only narrows what is reachable. */
  readonly unreadableAllowItems: number;
}

export type RowReading =
  | { readonly kind: 'row'; readonly row: Row }
  /** `path`: the first field that could not be read. */
  | { readonly kind: 'unreadable'; readonly path: string };

export function readRow(value: unknown): RowReading {
  const parsed = rowSchema.safeParse(value);
  if (!parsed.success) return { kind: 'unreadable', path: failingPath(parsed.error) };
  const { metadata, spec, status } = parsed.data;
  const { policy, unreadable } = readPolicy(spec.network_policy ?? null);
  const entry: QueueEntry = {
    sessionId: metadata.session_id,
    outpostId: metadata.outpost_id,
    kind: spec.kind,
    platform: spec.platform ?? 'linux',
    remoteSha: spec.remote_binary_sha || null,
    policy,
    phase: status.phase,
    acceptorId: status.acceptor_id || null,
    hasClaimDeadline: (status.claim_deadline ?? null) !== null,
    status: status.session_status ?? null,
  };
  const { updated_at: updatedAt } = metadata;
  const { claim_deadline: claimDeadline } = status;
  return { kind: 'row', row: { entry, updatedAt, claimDeadline, unreadableAllowItems: unreadable } };
}

/** Whose row it is, of a row that could not be read; null when not even that. */
export function readIdentity(value: unknown): { sessionId: string; outpostId: string | null } | null {
  const parsed = identitySchema.safeParse(value);
  if (!parsed.success) return null;
  return { sessionId: parsed.data.metadata.session_id, outpostId: parsed.data.metadata.outpost_id };
}

const identitySchema = z.object({
  metadata: z.object({
    session_id: rowSchema.shape.metadata.shape.session_id,
    outpost_id: z.string().nullable().catch(null),
  }),
});

/** Where zod stopped. The path only: messages could quote what was received. */
export function failingPath(error: z.ZodError): string {
  return error.issues[0]?.path.map(String).join('.') || 'the top level';
}

const itemSchema = z.object({
  hostname: z.string().nullish(),
  ipv4: z.string().nullish(),
  ipv6: z.string().nullish(),
});

function readPolicy(policy: z.infer<typeof policySchema> | null): {
  policy: SessionPolicy;
  unreadable: number;
} {
  if (!policy?.enabled) return { policy: { enabled: false }, unreadable: 0 };
  const hosts: string[] = [];
  const subnets: string[] = [];
  let unreadable = 0;
  for (const value of policy.allow ?? []) {
    const { hostname, ipv4, ipv6 } = itemSchema.safeParse(value).data ?? {};
    if (hostname) hosts.push(hostname);
    if (ipv4) subnets.push(ipv4);
    if (ipv6) subnets.push(ipv6);
    if (!hostname && !ipv4 && !ipv6) unreadable += 1;
  }
  return { policy: { enabled: true, hosts, subnets }, unreadable };
}
