/**
 * Network policies on the wire: what may be asked for, and how it is answered.
 *
 * Only recorded and reported, never enforced: plain processes share the
 * machine's network. Header values of transforms are secrets: the answer keeps
 * their names only.
 */
import { isIP } from 'node:net';
import { z } from 'zod';

const DOMAIN =
  /^(\*|(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)$/i;

const domain = z.string().max(253).regex(DOMAIN, 'is not a domain');
const cidr = z.string().refine(isCidr, 'is not a CIDR');
const rule = z.looseObject({
  match: z.looseObject({}).optional(),
  transform: z.array(z.object({ headers: z.record(z.string(), z.string()).optional() })).optional(),
  forwardURL: z.url().optional(),
  response: z.looseObject({ statusCode: z.number().int().min(200).max(599) }).optional(),
});

/** What create, update and network-policy take. */
export const policyRequest = z.union([
  z.object({ mode: z.enum(['allow-all', 'deny-all']) }),
  z
    .strictObject({
      allow: z.union([z.array(domain), z.record(domain, z.array(rule))]).optional(),
      subnets: z.strictObject({ allow: z.array(cidr).optional(), deny: z.array(cidr).optional() }).optional(),
    })
    .transform((custom) => ({ mode: 'custom' as const, ...custom })),
]);
export type PolicyRequest = z.output<typeof policyRequest>;

interface DomainRule {
  readonly domain: string;
  readonly match?: unknown;
}
export type PolicyAnswer =
  | { readonly mode: 'allow-all' | 'deny-all' }
  | {
      readonly mode: 'custom';
      readonly allowedDomains?: readonly string[];
      readonly allowedCIDRs?: readonly string[];
      readonly deniedCIDRs?: readonly string[];
      readonly injectionRules?: readonly (DomainRule & { readonly headerNames: readonly string[] })[];
      readonly forwardRules?: readonly (DomainRule & { readonly forwardURL: string })[];
    };

export function policyAnswer(request: PolicyRequest): PolicyAnswer {
  if (request.mode !== 'custom') return { mode: request.mode };
  const { allow, subnets } = request;
  const rules = allow === undefined || Array.isArray(allow) ? [] : Object.entries(allow);
  const injectionRules = rules.flatMap(([name, list]) =>
    list.flatMap(({ transform, match }) =>
      (transform ?? []).map(({ headers }) => ({
        domain: name,
        headerNames: Object.keys(headers ?? {}),
        ...(match && { match }),
      })),
    ),
  );
  const forwardRules = rules.flatMap(([name, list]) =>
    list.flatMap(({ forwardURL, match }) =>
      forwardURL === undefined ? [] : [{ domain: name, forwardURL, ...(match && { match }) }],
    ),
  );
  return {
    mode: 'custom',
    ...(allow && { allowedDomains: Array.isArray(allow) ? allow : Object.keys(allow) }),
    ...(subnets?.allow && { allowedCIDRs: subnets.allow }),
    ...(subnets?.deny && { deniedCIDRs: subnets.deny }),
    ...(injectionRules.length > 0 && { injectionRules }),
    ...(forwardRules.length > 0 && { forwardRules }),
  };
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  return (
    rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  );
}
