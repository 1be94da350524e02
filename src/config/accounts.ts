/**
 * The accounts at Devin and at Vercel: whether they are all there, and what is
 * wrong with them. The embedded world has none; a Vercel deployment needs no
 * token of Vercel's, because each of its requests brings one.
 */
import { BugError } from '../errors.js';
import { FIELDS } from './fields.js';
import { readOidcClaims } from './oidc.js';
import type { Fields, Problem } from './parse.js';
import type { Secret } from './secret.js';
import type { Given, Values } from './values.js';
import type { Mode, VariableName } from './variables.js';

export interface DevinSettings {
  readonly apiUrl: string;
  readonly staticBaseUrl: string;
  /** Null: only a connection made in the browser brings them. */
  readonly credentials: { readonly token: Secret; readonly outpostId: string } | null;
}

export type VercelSettings =
  | {
      /** Which variable the token came from: what to name when it is refused. */
      readonly source: 'VERCEL_TOKEN' | 'VERCEL_OIDC_TOKEN';
      readonly token: Secret;
      readonly teamId: string;
      readonly projectId: string;
    }
  /** The deployment's own identity (OIDC), which comes with each request. */
  | { readonly source: 'deployment'; readonly token: null; readonly projectId: string };

export interface Accounts {
  readonly devin: DevinSettings;
  readonly vercel: VercelSettings;
}

/** The accounts of a configuration without problems; null in the embedded world. */
export function accountsOf(fields: Fields, mode: Mode): Accounts | null {
  if (mode === 'embedded') return null;
  return { devin: devinSettings(fields), vercel: vercelSettings(fields, mode) };
}

/** What is missing or of no use where real sessions are served. `now` is the wall clock. */
export function accountProblems(read: Values, mode: Mode, now: number): Problem[] {
  const { given } = read;
  if (mode === 'embedded') return [];
  if (mode === 'vercel') return [...missingDevin(read, mode), ...missingProject(given)];
  return [...missingDevin(read, mode), ...missingCredentials(given), ...unusableOidc(given, now)];
}

/** Says which accounts the embedded world leaves alone. */
export function unusedAccounts({ unread }: Values): Problem[] {
  if (unread.length === 0) return [];
  const [are, them] = unread.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const problem = `${are} not used here: the embedded world has no accounts. \`npm run start:local\` uses ${them}`;
  return [{ variable: unread.join(', '), problem }];
}

/** What was added to a Vercel deployment that has no use for it. */
export function strayCredentials({ given, unread }: Values): Problem[] {
  const ignored = (['VERCEL_TOKEN', 'VERCEL_TEAM_ID'] as const).filter((name) => given[name]);
  const problems: Problem[] = ignored.map((variable) => ({
    variable,
    problem: 'is ignored: a deployment has its own identity (OIDC). Remove it from the project and redeploy',
  }));
  if (given.DEVIN_CONNECTION_SECRET && unread.includes('DEVIN_OUTPOSTS_TOKEN'))
    problems.push({
      variable: 'DEVIN_OUTPOSTS_TOKEN',
      problem: 'is not used: set DEVIN_CREDENTIALS_FROM_ENV to true as well, or remove it from the project',
    });
  const oidc = FIELDS.VERCEL_OIDC_TOKEN.safeParse(given.VERCEL_OIDC_TOKEN).data;
  const own = oidc ? readOidcClaims(oidc)?.projectId : undefined;
  // Vercel sets this one too: only another project's is a mistake.
  if (own && given.VERCEL_PROJECT_ID && given.VERCEL_PROJECT_ID !== own)
    problems.push({
      variable: 'VERCEL_PROJECT_ID',
      problem: "is another project's, and hides what Vercel sets. Remove it from the project and redeploy",
    });
  return problems;
}

/** Both together, or neither where an administrator connects in the browser. */
function missingDevin({ values, unread }: Values, mode: Mode): Problem[] {
  const names = ['DEVIN_OUTPOSTS_TOKEN', 'DEVIN_OUTPOST_ID'] as const;
  const none = names.every((name) => !values[name]);
  if (none && mode !== 'local' && values.DEVIN_CONNECTION_SECRET) return [];
  if (mode !== 'vercel') return missing(values, names, 'a real outpost is served here');
  if (!none) return missing(values, names, `the two belong together. ${ADD}`);
  if (names.some((name) => unread.includes(name)))
    return [
      {
        variable: 'DEVIN_CREDENTIALS_FROM_ENV',
        problem: `should be true for a deployment to use DEVIN_OUTPOSTS_TOKEN and DEVIN_OUTPOST_ID. ${ADD}`,
      },
    ];
  const problem = `is missing: with it an administrator connects Devin in the browser. Use 32 or more random characters. Or give it a token: DEVIN_OUTPOSTS_TOKEN, DEVIN_OUTPOST_ID, and DEVIN_CREDENTIALS_FROM_ENV=true. ${ADD}`;
  return [{ variable: 'DEVIN_CONNECTION_SECRET', problem }];
}

const ADD = "Add it to the project's environment variables and redeploy";

function missingCredentials(given: Given): Problem[] {
  if (given.VERCEL_OIDC_TOKEN && !given.VERCEL_TOKEN) return [];
  const trio = ['VERCEL_TOKEN', 'VERCEL_TEAM_ID', 'VERCEL_PROJECT_ID'] as const;
  return missing(given, trio, `${trio.join(', ')} belong together, or set VERCEL_OIDC_TOKEN instead`);
}

function missingProject(given: Given): Problem[] {
  const why =
    "Vercel sets it. Enable access to system environment variables in the project's settings and redeploy";
  return missing(given, ['VERCEL_PROJECT_ID'], why);
}

function unusableOidc(given: Given, now: number): Problem[] {
  const variable = 'VERCEL_OIDC_TOKEN';
  const token = FIELDS[variable].safeParse(given[variable]).data;
  if (!token || given.VERCEL_TOKEN) return [];
  const claims = readOidcClaims(token);
  if (!claims)
    return [{ variable, problem: 'should name its team and project: get it with `vercel env pull`' }];
  if (claims.expiresAt > now) return [];
  return [{ variable, problem: 'has expired: get a new one with `vercel env pull`' }];
}

function missing(given: Given, names: readonly VariableName[], why: string): Problem[] {
  return names
    .filter((name) => !given[name])
    .map((variable) => ({ variable, problem: `is missing: ${why}` }));
}

function devinSettings(fields: Fields): DevinSettings {
  const { DEVIN_OUTPOSTS_TOKEN: token, DEVIN_OUTPOST_ID: outpostId } = fields;
  return {
    apiUrl: fields.DEVIN_API_URL,
    staticBaseUrl: fields.DEVIN_WORKER_STATIC_BASE_URL,
    credentials: token && outpostId ? { token, outpostId } : null,
  };
}

function vercelSettings(fields: Fields, mode: Mode): VercelSettings {
  const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = fields;
  if (mode === 'vercel' && projectId) return { source: 'deployment', token: null, projectId };
  if (token && teamId && projectId) return { source: 'VERCEL_TOKEN', token, teamId, projectId };
  const oidc = fields.VERCEL_OIDC_TOKEN;
  const claims = oidc ? readOidcClaims(oidc) : null;
  if (!oidc || !claims) throw new BugError('configuration: missing Vercel settings were not reported');
  return { source: 'VERCEL_OIDC_TOKEN', token: oidc, teamId: claims.teamId, projectId: claims.projectId };
}
