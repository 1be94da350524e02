/**
 * Turns the environment into a configuration, or into every problem it has.
 *
 * Never stops at the first problem, never prints a secret and never reads the
 * environment itself: see environment.ts for `.env`.
 */
import { z } from 'zod';
import { type Accounts, accountProblems, accountsOf, strayCredentials, unusedAccounts } from './accounts.js';
import {
  type ConnectSettings,
  connectProblems,
  connectSettings,
  type OperatorSettings,
  operatorSettings,
} from './connect.js';
import { FIELDS } from './fields.js';
import { databaseProblems, missingCronSecret, silentDoorbell } from './hosting.js';
import { misspelt } from './misspelt.js';
import { PLAN_BOUNDS, PLANS, type Plan } from './plans.js';
import type { Secret } from './secret.js';
import { type Environment, type Given, readValues, type Values } from './values.js';
import type { Mode, VariableName } from './variables.js';

export interface Config {
  readonly mode: Mode;
  /** The two accounts; null in the embedded world, which has none. */
  readonly accounts: Accounts | null;
  readonly connect: ConnectSettings;
  readonly operators: OperatorSettings;
  readonly acceptorId: string;
  readonly databaseUrl: Secret;
  readonly plan: Plan;
  /** Null where no cron calls, or where nobody has set it: then the cron's route answers nobody. */
  readonly cronSecret: Secret | null;
  /** Where sandboxes reach this orchestrator, without the last slash; null = no doorbell. */
  readonly publicUrl: string | null;
  /** Whether sessions with a restricted network may reach `publicUrl` too. */
  readonly doorbellForRestricted: boolean;
  readonly sandbox: {
    /** Exactly one of `runtime` and `image` is set. */
    readonly runtime: string | null;
    readonly image: string | null;
    /** Null = Vercel chooses. */
    readonly region: string | null;
    readonly vcpus: number;
    readonly timeoutMs: number;
    readonly maxLifetimeMs: number;
    /** 0 = never. */
    readonly snapshotExpirationMs: number;
  };
  readonly maxConcurrent: number;
  readonly pollIntervalMs: number;
  readonly probeIntervalMs: number;
  /** The same while a sandbox's doorbell has not been heard; never longer. */
  readonly unheardProbeIntervalMs: number;
  readonly claimRenewMarginMs: number;
  readonly port: number;
}

export interface Problem {
  readonly variable: string;
  /** What it should be; reads on after the variable's name. */
  readonly problem: string;
}

export type ConfigResult =
  | { readonly kind: 'ok'; readonly config: Config; readonly warnings: readonly Problem[] }
  | {
      readonly kind: 'problems';
      readonly problems: readonly Problem[];
      readonly warnings: readonly Problem[];
    };

const schema = z.object(FIELDS).partial({
  DEVIN_OUTPOSTS_TOKEN: true,
  DEVIN_OUTPOST_ID: true,
  DEVIN_CONNECTION_SECRET: true,
  DEVIN_CONNECTION_SECRET_PREVIOUS: true,
  OPERATOR_SECRET: true,
  VIEWER_SECRET: true,
  DEVIN_OAUTH_CALLBACK_URL: true,
  DEVIN_API_HOSTS: true,
  VERCEL_INTEGRATION_CLIENT_ID: true,
  VERCEL_INTEGRATION_CLIENT_SECRET: true,
  VERCEL_TOKEN: true,
  VERCEL_TEAM_ID: true,
  VERCEL_PROJECT_ID: true,
  VERCEL_OIDC_TOKEN: true,
  CRON_SECRET: true,
  PUBLIC_URL: true,
  SANDBOX_IMAGE: true,
  SANDBOX_REGION: true,
  UNHEARD_PROBE_INTERVAL_MS: true,
});
export type Fields = z.infer<typeof schema>;

/** Reads `env` (blank counts as unset). `now` is the wall clock, to see that a token has expired. */
export function parseConfig(env: Environment, options: { mode: Mode; now?: number }): ConfigResult {
  const { mode, now = Date.now() } = options;
  const read = readValues(env, mode);
  const parsed = schema.safeParse(read.values);
  const warnings = [
    ...misspelt(env),
    ...(mode === 'embedded' ? unusedAccounts(read) : []),
    ...(mode === 'vercel' ? strayCredentials(read) : []),
    ...silentDoorbell(read, mode),
  ];
  const problems = [
    ...malformed(parsed.error?.issues ?? [], read.values),
    ...disagreements(read.given),
    ...overThePlan(read),
    ...impossibleTimes(read),
    ...accountProblems(read, mode, now),
    ...databaseProblems(read, mode, env),
    ...missingCronSecret(read, mode),
    ...connectProblems(read),
  ];
  if (problems.length > 0 || !parsed.success) return { kind: 'problems', problems, warnings };
  return { kind: 'ok', config: build(mode, parsed.data), warnings };
}

/** Problems as lines for a terminal. */
export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ variable, problem }) => `  ${variable} ${problem}`).join('\n');
}

/** What is there and not as it should be; what is not there is told with the reason why it is needed. */
function malformed(issues: readonly z.core.$ZodIssue[], values: Given): Problem[] {
  return issues
    .map((issue) => ({ variable: String(issue.path[0]), problem: issue.message }))
    .filter(({ variable }) => values[variable as VariableName] !== undefined);
}

function disagreements(given: Given): Problem[] {
  if (!given.SANDBOX_IMAGE || !given.SANDBOX_RUNTIME) return [];
  return [
    { variable: 'SANDBOX_IMAGE', problem: 'should not be set together with SANDBOX_RUNTIME: keep one' },
  ];
}

function overThePlan({ values, plan }: Values): Problem[] {
  return PLAN_BOUNDS.flatMap((variable) => {
    const value = FIELDS[variable].safeParse(values[variable]).data ?? 0;
    const most = PLANS[plan][variable];
    return value > most
      ? [{ variable, problem: `should be at most ${most} on the ${plan} plan (see VERCEL_PLAN)` }]
      : [];
  });
}

function impossibleTimes({ given, values, plan }: Values): Problem[] {
  const timeout = FIELDS.SANDBOX_TIMEOUT_MS.safeParse(values.SANDBOX_TIMEOUT_MS).data ?? 0;
  const longest = FIELDS.SANDBOX_MAX_LIFETIME_MS.safeParse(values.SANDBOX_MAX_LIFETIME_MS).data ?? timeout;
  if (timeout <= longest) return [];
  const why = given.SANDBOX_MAX_LIFETIME_MS ? '' : ` on the ${plan} plan (see VERCEL_PLAN)`;
  const problem = `should be at most SANDBOX_MAX_LIFETIME_MS, which is ${longest}${why}`;
  return [{ variable: 'SANDBOX_TIMEOUT_MS', problem }];
}

function build(mode: Mode, fields: Fields): Config {
  return {
    mode,
    accounts: accountsOf(fields, mode),
    connect: connectSettings(fields),
    operators: operatorSettings(fields),
    acceptorId: fields.ACCEPTOR_ID,
    databaseUrl: fields.DATABASE_URL,
    plan: fields.VERCEL_PLAN,
    cronSecret: fields.CRON_SECRET ?? null,
    publicUrl: fields.PUBLIC_URL ?? null,
    doorbellForRestricted: fields.DOORBELL_FOR_RESTRICTED,
    sandbox: {
      runtime: fields.SANDBOX_IMAGE ? null : fields.SANDBOX_RUNTIME,
      image: fields.SANDBOX_IMAGE ?? null,
      region: fields.SANDBOX_REGION ?? null,
      vcpus: fields.SANDBOX_VCPUS,
      timeoutMs: fields.SANDBOX_TIMEOUT_MS,
      maxLifetimeMs: fields.SANDBOX_MAX_LIFETIME_MS,
      snapshotExpirationMs: fields.SANDBOX_SNAPSHOT_EXPIRATION_MS,
    },
    maxConcurrent: fields.MAX_CONCURRENT,
    pollIntervalMs: fields.POLL_INTERVAL_MS,
    probeIntervalMs: fields.PROBE_INTERVAL_MS,
    unheardProbeIntervalMs: unheardProbeMs(fields.UNHEARD_PROBE_INTERVAL_MS, fields.PROBE_INTERVAL_MS),
    claimRenewMarginMs: fields.CLAIM_RENEW_MARGIN_MS,
    port: fields.PORT,
  };
}

/** What is heard of less is never looked at more rarely. */
export function unheardProbeMs(unheard: number | undefined, probe: number): number {
  return Math.min(unheard ?? probe, probe);
}
