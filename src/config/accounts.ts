/**
 * The accounts at Devin and at Vercel: whether they are all there, and what is
 * wrong with them. The embedded world has none.
 */
import { BugError } from '../errors.js';
import { FIELDS } from './fields.js';
import { readOidcClaims } from './oidc.js';
import type { Fields, Given, Problem } from './parse.js';
import type { Secret } from './secret.js';
import type { VariableName } from './variables.js';

export interface DevinSettings {
  readonly apiUrl: string;
  readonly token: Secret;
  readonly outpostId: string;
  readonly staticBaseUrl: string;
}

export interface VercelSettings {
  /** Which variable the token came from: what to name when it is refused. */
  readonly source: 'VERCEL_TOKEN' | 'VERCEL_OIDC_TOKEN';
  readonly token: Secret;
  readonly teamId: string;
  readonly projectId: string;
}

/** The accounts of a configuration without problems. */
export function accountsOf(fields: Fields): { devin: DevinSettings; vercel: VercelSettings } {
  return { devin: devinSettings(fields), vercel: vercelSettings(fields) };
}

/** What local mode lacks. */
export function missingAccounts(given: Given): Problem[] {
  const missing = (names: readonly VariableName[], why: string) =>
    names.filter((name) => !given[name]).map((variable) => ({ variable, problem: `is missing: ${why}` }));
  const trio = ['VERCEL_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_PROJECT_ID'] as const;
  const devin = missing(['DEVIN_OUTPOSTS_TOKEN', 'DEVIN_OUTPOST_ID'], 'local mode serves a real outpost');
  if (given.VERCEL_OIDC_TOKEN && !given.VERCEL_TOKEN) return devin;
  return [...devin, ...missing(trio, `${trio.join(', ')} belong together, or set VERCEL_OIDC_TOKEN instead`)];
}

export function unusableOidc(values: Given, now: number): Problem[] {
  const variable = 'VERCEL_OIDC_TOKEN';
  const token = FIELDS[variable].safeParse(values[variable]).data;
  if (!token || values.VERCEL_TOKEN) return [];
  const claims = readOidcClaims(token);
  if (!claims)
    return [{ variable, problem: 'should name its team and project: get it with `vercel env pull`' }];
  if (claims.expiresAt > now) return [];
  return [{ variable, problem: 'has expired: get a new one with `vercel env pull`' }];
}

export function unusedAccounts(given: Given): Problem[] {
  if (!given.DEVIN_OUTPOSTS_TOKEN) return [];
  const problem = 'is not used here: the embedded world has no accounts. `npm run start:local` uses it';
  return [{ variable: 'DEVIN_OUTPOSTS_TOKEN', problem }];
}

function devinSettings(fields: Fields): DevinSettings {
  const { DEVIN_OUTPOSTS_TOKEN: token, DEVIN_OUTPOST_ID: outpostId } = fields;
  if (!token || !outpostId) throw new BugError('configuration: missing Devin settings were not reported');
  return {
    apiUrl: fields.DEVIN_API_URL,
    token,
    outpostId,
    staticBaseUrl: fields.DEVIN_WORKER_STATIC_BASE_URL,
  };
}

function vercelSettings(fields: Fields): VercelSettings {
  const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = fields;
  if (token && teamId && projectId) return { source: 'VERCEL_TOKEN', token, teamId, projectId };
  const oidc = fields.VERCEL_OIDC_TOKEN;
  const claims = oidc ? readOidcClaims(oidc) : null;
  if (!oidc || !claims) throw new BugError('configuration: missing Vercel settings were not reported');
  return { source: 'VERCEL_OIDC_TOKEN', token: oidc, teamId: claims.teamId, projectId: claims.projectId };
}
