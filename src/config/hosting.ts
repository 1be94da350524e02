/**
 * What a place that serves many must have and its operator has to bring: a
 * database that outlives the process and, on Vercel, the secret of its cron.
 */
import type { Problem } from './parse.js';
import type { Environment, Values } from './values.js';
import type { Mode } from './variables.js';

/** The database that is missing, or that a deployment cannot keep. */
export function databaseProblems({ values }: Values, mode: Mode, env: Environment): Problem[] {
  const variable = 'DATABASE_URL';
  const url = values[variable];
  if (url?.startsWith('file:') && mode === 'vercel')
    return [{ variable, problem: `should be postgres://…: a function's files do not last. ${ADD_DATABASE}` }];
  if (url !== undefined) return [];
  const others = Object.keys(env).filter((name) => /^postgres(ql)?:\/\//.test(env[name] ?? ''));
  const copy = others.length > 0 ? `. Or give it the value of ${others.sort().join(' or ')}` : '';
  const add = mode === 'vercel' ? ADD_DATABASE : 'postgres://<user>:<password>@<host>/<database>';
  return [{ variable, problem: `is missing: ${add}${copy}` }];
}

const ADD_DATABASE =
  "open the project's Storage tab, click Create Database (Neon, for example), connect it, and redeploy";

/** On Vercel, where nobody but the cron may start a pass. */
export function missingCronSecret({ given }: Values, mode: Mode): Problem[] {
  if (mode !== 'vercel' || given.CRON_SECRET) return [];
  const problem =
    "is missing: without it /api/cron answers nobody. Add 16 or more random characters to the project's environment variables and redeploy";
  return [{ variable: 'CRON_SECRET', problem }];
}

/** Elsewhere an address to ring at is of no use without the secret that the keys of doorbells are made of. */
export function silentDoorbell({ given }: Values, mode: Mode): Problem[] {
  if (mode === 'vercel' || !given.PUBLIC_URL || given.CRON_SECRET) return [];
  return [{ variable: 'PUBLIC_URL', problem: 'does nothing without CRON_SECRET: set both, or neither' }];
}
