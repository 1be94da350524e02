/** Environments in which everything that a mode needs is there, and short ways to read what came of one. */
import { describeProblems, type Mode, parseConfig } from '../../src/config/index.js';

export const NOW = Date.UTC(2026, 8, 1);
const DEVIN = { DEVIN_OUTPOSTS_TOKEN: 'cog_x', DEVIN_OUTPOST_ID: 'outpost_env-1' };
const POSTGRES = { DATABASE_URL: 'postgres://u:p@h/d' };
const VERCEL = { VERCEL_TOKEN: 'vcp_x', VERCEL_TEAM_ID: 'team_1', VERCEL_PROJECT_ID: 'prj_1' };

export const COMPLETE: Record<Mode, Record<string, string>> = {
  embedded: {},
  local: { ...DEVIN, ...VERCEL },
  server: { ...DEVIN, ...VERCEL, ...POSTGRES },
  vercel: {
    ...DEVIN,
    DEVIN_CREDENTIALS_FROM_ENV: 'true',
    ...POSTGRES,
    CRON_SECRET: '0123456789abcdef',
    DEVIN_CONNECTION_SECRET: 'r'.repeat(32),
    OPERATOR_SECRET: 'o'.repeat(16),
    VERCEL: '1',
    VERCEL_ENV: 'production',
    VERCEL_PROJECT_ID: 'prj_1',
    VERCEL_URL: 'outposts-abc123-acme.vercel.app',
    VERCEL_PROJECT_PRODUCTION_URL: 'outposts.example.com',
  },
};
export const MODES = Object.keys(COMPLETE) as Mode[];

type Env = Record<string, string | undefined>;

/** What parses `mode`'s complete environment with `changes` to it; undefined takes a variable out. */
export function parse(mode: Mode, changes: Env = {}) {
  return parseConfig({ ...COMPLETE[mode], ...changes }, { mode, now: NOW });
}

export function configOf(mode: Mode, changes: Env = {}) {
  const result = parse(mode, changes);
  if (result.kind === 'problems') throw new Error(describeProblems(result.problems));
  return result.config;
}

export function problemsOf(mode: Mode, changes: Env = {}) {
  const result = parse(mode, changes);
  return result.kind === 'problems' ? result.problems : [];
}

export const namesOf = (problems: readonly { variable: string }[]) =>
  problems.map(({ variable }) => variable);

/** An unsigned token with these claims. */
export const oidc = (claims: object) =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
