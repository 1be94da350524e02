/**
 * The text of every setting: what the environment gives, and for the rest what
 * the table says for this mode and plan. Judges nothing: see parse.ts.
 */
import { PLANS, type Plan } from './plans.js';
import { type Mode, VARIABLES, type Variable, type VariableName } from './variables.js';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Given = Partial<Record<VariableName, string>>;

/** Variables that a mode does not read, whatever they say. */
const UNREAD: Readonly<Record<Mode, readonly VariableName[]>> = {
  embedded: [
    'DEVIN_OUTPOSTS_TOKEN',
    'DEVIN_OUTPOST_ID',
    'DEVIN_CREDENTIALS_FROM_ENV',
    'DEVIN_API_URL',
    'DEVIN_WORKER_STATIC_BASE_URL',
    'VERCEL_TOKEN',
    'VERCEL_TEAM_ID',
    'VERCEL_PROJECT_ID',
    'VERCEL_OIDC_TOKEN',
  ],
  local: [],
  server: [],
  vercel: ['VERCEL_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_OIDC_TOKEN'],
};

/** A deployment uses them only when told to: they may have come there by mistake. */
const OPT_IN: readonly VariableName[] = ['DEVIN_OUTPOSTS_TOKEN', 'DEVIN_OUTPOST_ID'];
const isOptedIn = (given: Given): boolean => given.DEVIN_CREDENTIALS_FROM_ENV?.trim() === 'true';

export interface Values {
  /** What is set and not blank, read or not. */
  readonly given: Given;
  /** What holds, defaults included; without what the mode does not read. */
  readonly values: Given;
  /** Set, but not read in this mode, or not without another. */
  readonly unread: readonly VariableName[];
  readonly plan: Plan;
}

export function readValues(env: Environment, mode: Mode): Values {
  const given: Given = {};
  for (const { name } of VARIABLES) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '') given[name] = value;
  }
  const plan = planOf(given);
  const values: Given = {};
  const unread = [...UNREAD[mode], ...(mode === 'vercel' && !isOptedIn(given) ? OPT_IN : [])];
  for (const variable of VARIABLES) {
    const read = !unread.includes(variable.name);
    const value = (read ? given[variable.name] : undefined) ?? defaultOf(variable, { mode, plan, env });
    if (value !== null) values[variable.name] = value;
  }
  return { given, values, unread: unread.filter((name) => given[name] !== undefined), plan };
}

/** What a variable is when it is unset; null when it then has no value. */
export function defaultOf(
  variable: Variable,
  { mode, plan, env }: { mode: Mode; plan: Plan; env: Environment },
): string | null {
  const stated = variable.default;
  const text = typeof stated === 'object' ? (stated?.[mode] ?? stated?.[plan] ?? null) : stated;
  if (text === null) return null;
  const missing = [...text.matchAll(REFERENCE)].some(([, name]) => !env[name ?? '']?.trim());
  return missing ? null : text.replaceAll(REFERENCE, (_, name: string) => env[name] ?? '');
}

const REFERENCE = /\$([A-Z_]+)/g;

/** The plan that bounds other settings. One that does not exist is told elsewhere, and bounds nothing. */
function planOf(given: Given): Plan {
  const plan = given.VERCEL_PLAN ?? VARIABLES.find(({ name }) => name === 'VERCEL_PLAN')?.default;
  return (Object.keys(PLANS) as Plan[]).find((known) => known === plan) ?? 'enterprise';
}
