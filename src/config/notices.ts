/**
 * What the operator of a deployment has to know besides its problems: what does
 * not work where it is, or on its plan, each with the way out.
 *
 * Names variables and places, never a value that may be secret. Looks at each
 * setting by itself, so that one that is wrong hides no notice about another.
 */
import { strayCredentials } from './accounts.js';
import { FIELDS } from './fields.js';
import { missingCronSecret, silentDoorbell } from './hosting.js';
import { readOidcClaims } from './oidc.js';
import { type Problem, unheardProbeMs } from './parse.js';
import { PLANS } from './plans.js';
import { type Environment, readValues, type Values } from './values.js';
import type { Mode } from './variables.js';

/**
 * The notices, the most pressing first. `now` is the wall clock. A file written by `vercel env pull`
 * says VERCEL=1 as well: who knows better where this runs passes `mode`.
 */
export function deploymentNotices(
  env: Environment,
  now: number,
  mode: 'server' | 'vercel' = env.VERCEL === '1' ? 'vercel' : 'server',
): Problem[] {
  const read = readValues(env, mode);
  return [
    ...(mode === 'vercel' ? noCronHere(env) : []),
    ...missingCronSecret(read, mode),
    ...(mode === 'vercel' ? nobodySignsIn(read) : []),
    ...(mode === 'vercel' ? strayCredentials(read) : endingToken(read, now)),
    ...hobby(read, mode),
    ...silentDoorbell(read, mode),
    ...doorbell(read, mode, env),
  ];
}

function noCronHere(env: Environment): Problem[] {
  const place = ['preview', 'development'].find((name) => name === env.VERCEL_ENV);
  if (place === undefined) return [];
  const problem = `is ${place}: Vercel Cron calls production deployments only, so nothing is served here. Promote this deployment to production`;
  return [{ variable: 'VERCEL_ENV', problem }];
}

function nobodySignsIn({ given }: Values): Problem[] {
  if (given.OPERATOR_SECRET) return [];
  const problem =
    "is not set: nobody can act on the pages here. Add 16 or more random characters to the project's environment variables and redeploy";
  return [{ variable: 'OPERATOR_SECRET', problem }];
}

function endingToken({ given }: Values, now: number): Problem[] {
  const token = FIELDS.VERCEL_OIDC_TOKEN.safeParse(given.VERCEL_OIDC_TOKEN).data;
  const claims = token && !given.VERCEL_TOKEN ? readOidcClaims(token) : null;
  if (!claims) return [];
  const ends = `${claims.expiresAt > now ? 'ends' : 'has ended'} at ${new Date(claims.expiresAt).toISOString()}`;
  const problem = `${ends}: where no one renews it, set VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID instead`;
  return [{ variable: 'VERCEL_OIDC_TOKEN', problem }];
}

function hobby({ plan }: Values, mode: Mode): Problem[] {
  if (plan !== 'hobby') return [];
  const minutes = PLANS.hobby.SANDBOX_MAX_LIFETIME_MS / 60_000;
  const vms = `is hobby: a VM ends after ${minutes} minutes, and a longer session is moved to a fresh one each time`;
  const cron =
    'is hobby: Vercel Cron runs at most once a day. Let a scheduler elsewhere call /api/cron each minute, with the header Authorization: Bearer and the value of CRON_SECRET';
  const problems = mode === 'vercel' ? [cron, vms] : [vms];
  return problems.map((problem) => ({ variable: 'VERCEL_PLAN', problem }));
}

function doorbell({ values }: Values, mode: Mode, env: Environment): Problem[] {
  const variable = 'PUBLIC_URL';
  const probe = FIELDS.PROBE_INTERVAL_MS.safeParse(values.PROBE_INTERVAL_MS).data;
  const unheard = FIELDS.UNHEARD_PROBE_INTERVAL_MS.safeParse(values.UNHEARD_PROBE_INTERVAL_MS).data;
  const often = probe ? `every ${unheardProbeMs(unheard, probe) / 1000} seconds` : 'more often';
  const instead = `so each is looked at ${often} instead`;
  if (values[variable] === undefined) {
    const problem = `is not set: sandboxes have no doorbell to ring when they are done, ${instead}. Set it to the address of this service`;
    return [{ variable, problem }];
  }
  const url = FIELDS[variable].safeParse(values[variable]).data;
  if (url === undefined || mode !== 'vercel') return [];
  const { protocol, host } = new URL(url);
  if (protocol === 'http:')
    return [
      { variable, problem: `is on the sandbox's own machine: it cannot ring there, ${instead}. Remove it` },
    ];
  if (host === env.VERCEL_URL?.toLowerCase())
    return [
      { variable, problem: 'is the address of this one deployment, which the next replaces. Remove it' },
    ];
  return [];
}
