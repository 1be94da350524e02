/**
 * Turns the environment into a configuration, or into every problem it has.
 *
 * Never stops at the first problem, never prints a secret and never reads the
 * environment itself: see environment.ts for `.env`.
 */
import { z } from 'zod';
import {
  accountsOf,
  type DevinSettings,
  missingAccounts,
  unusableOidc,
  unusedAccounts,
  type VercelSettings,
} from './accounts.js';
import { FIELDS } from './fields.js';
import { misspelt } from './misspelt.js';
import type { Secret } from './secret.js';
import { VARIABLES, type VariableName } from './variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;
/** `embedded`: emulators, no accounts. `local`: real Devin and Vercel, driven from this machine. */
export type Mode = 'embedded' | 'local';

export interface Config {
  readonly mode: Mode;
  /** The two accounts; null in the embedded world, which has none. */
  readonly accounts: { readonly devin: DevinSettings; readonly vercel: VercelSettings } | null;
  readonly acceptorId: string;
  readonly databaseUrl: Secret;
  readonly sandbox: {
    /** Exactly one of `runtime` and `image` is set. */
    readonly runtime: string | null;
    readonly image: string | null;
    readonly vcpus: number;
    readonly timeoutMs: number;
    readonly maxLifetimeMs: number;
    /** 0 = never. */
    readonly snapshotExpirationMs: number;
  };
  readonly maxConcurrent: number;
  readonly pollIntervalMs: number;
  readonly probeIntervalMs: number;
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

const ACCOUNTS = VARIABLES.filter(({ group, name }) => group === 'Vercel' || name.startsWith('DEVIN_'));
const schema = z.object(FIELDS).partial({
  DEVIN_OUTPOSTS_TOKEN: true,
  DEVIN_OUTPOST_ID: true,
  VERCEL_TOKEN: true,
  VERCEL_TEAM_ID: true,
  VERCEL_PROJECT_ID: true,
  VERCEL_OIDC_TOKEN: true,
  SANDBOX_IMAGE: true,
});
export type Fields = z.infer<typeof schema>;

/** Reads `env` (blank counts as unset). `now` is the wall clock, to see that a token has expired. */
export function parseConfig(env: Environment, options: { mode: Mode; now?: number }): ConfigResult {
  const { mode, now = Date.now() } = options;
  const given = nonBlank(env);
  const values = { ...defaults(mode), ...(mode === 'embedded' ? without(ACCOUNTS, given) : given) };
  const parsed = schema.safeParse(values);
  const malformed = (parsed.error?.issues ?? []).map((issue) => ({
    variable: String(issue.path[0]),
    problem: issue.message,
  }));
  const warnings = [...misspelt(env), ...(mode === 'embedded' ? unusedAccounts(given) : [])];
  const problems = [
    ...malformed,
    ...disagreements(given),
    ...impossibleTimes(values),
    ...(mode === 'local' ? [...missingAccounts(given), ...unusableOidc(values, now)] : []),
  ];
  if (problems.length > 0 || !parsed.success) return { kind: 'problems', problems, warnings };
  return { kind: 'ok', config: build(mode, parsed.data), warnings };
}

/** Problems as lines for a terminal. */
export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ variable, problem }) => `  ${variable} ${problem}`).join('\n');
}

export type Given = Partial<Record<VariableName, string>>;

function nonBlank(env: Environment): Given {
  const given: Given = {};
  for (const { name } of VARIABLES) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '') given[name] = value;
  }
  return given;
}

function defaults(mode: Mode): Given {
  const values: Given = {};
  for (const variable of VARIABLES)
    if (variable.default !== null) values[variable.name] = variable.default.replace('<mode>', mode);
  return values;
}

function without(names: readonly { name: VariableName }[], given: Given): Given {
  const rest = { ...given };
  for (const { name } of names) delete rest[name];
  return rest;
}

function disagreements(given: Given): Problem[] {
  if (!given.SANDBOX_IMAGE || !given.SANDBOX_RUNTIME) return [];
  return [
    { variable: 'SANDBOX_IMAGE', problem: 'should not be set together with SANDBOX_RUNTIME: keep one' },
  ];
}

function impossibleTimes(values: Given): Problem[] {
  const timeout = FIELDS.SANDBOX_TIMEOUT_MS.safeParse(values.SANDBOX_TIMEOUT_MS).data ?? 0;
  const longest = FIELDS.SANDBOX_MAX_LIFETIME_MS.safeParse(values.SANDBOX_MAX_LIFETIME_MS).data ?? timeout;
  if (timeout <= longest) return [];
  const problem = `should be at most SANDBOX_MAX_LIFETIME_MS, which is ${longest}`;
  return [{ variable: 'SANDBOX_TIMEOUT_MS', problem }];
}

function build(mode: Mode, fields: Fields): Config {
  return {
    mode,
    accounts: mode === 'embedded' ? null : accountsOf(fields),
    acceptorId: fields.ACCEPTOR_ID,
    databaseUrl: fields.DATABASE_URL,
    sandbox: {
      runtime: fields.SANDBOX_IMAGE ? null : fields.SANDBOX_RUNTIME,
      image: fields.SANDBOX_IMAGE ?? null,
      vcpus: fields.SANDBOX_VCPUS,
      timeoutMs: fields.SANDBOX_TIMEOUT_MS,
      maxLifetimeMs: fields.SANDBOX_MAX_LIFETIME_MS,
      snapshotExpirationMs: fields.SANDBOX_SNAPSHOT_EXPIRATION_MS,
    },
    maxConcurrent: fields.MAX_CONCURRENT,
    pollIntervalMs: fields.POLL_INTERVAL_MS,
    probeIntervalMs: fields.PROBE_INTERVAL_MS,
    port: fields.PORT,
  };
}
