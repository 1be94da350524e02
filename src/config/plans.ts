/**
 * What Vercel's plans allow a sandbox and a team.
 * https://vercel.com/docs/sandbox/pricing
 */

export type Plan = 'hobby' | 'pro' | 'enterprise';

export const PLANS = {
  hobby: { SANDBOX_MAX_LIFETIME_MS: 2_700_000, SANDBOX_VCPUS: 4, MAX_CONCURRENT: 10 },
  pro: { SANDBOX_MAX_LIFETIME_MS: 86_400_000, SANDBOX_VCPUS: 8, MAX_CONCURRENT: 2000 },
  enterprise: { SANDBOX_MAX_LIFETIME_MS: 86_400_000, SANDBOX_VCPUS: 32, MAX_CONCURRENT: 2000 },
} as const satisfies Record<Plan, Record<PlanBound, number>>;

/** Variables whose largest value is the plan's. */
export const PLAN_BOUNDS = ['SANDBOX_MAX_LIFETIME_MS', 'SANDBOX_VCPUS', 'MAX_CONCURRENT'] as const;
export type PlanBound = (typeof PLAN_BOUNDS)[number];
