/**
 * Every variable of the environment that this program reads, in one table.
 *
 * `.env.example` and the README's settings are printed from it, and parse.ts
 * takes the defaults from it; what a value must look like is in fields.ts.
 */

export interface Variable {
  readonly name: string;
  /** What holds when it is unset or blank; null when there is none. */
  readonly default: string | null;
  readonly meaning: string;
  /** Its value never appears in messages, logs or pages. */
  readonly secret: boolean;
  readonly group: 'Devin' | 'Vercel' | 'Sandboxes' | 'Orchestrator';
}

export const VARIABLES = [
  {
    name: 'DEVIN_OUTPOSTS_TOKEN',
    default: null,
    meaning:
      'Token of a Devin service user, `cog_…`, with the scope account.outposts.machine. Needed in local mode.',
    secret: true,
    group: 'Devin',
  },
  {
    name: 'DEVIN_OUTPOST_ID',
    default: null,
    meaning: 'The outpost whose sessions are served, `outpost_env-…`. Needed in local mode.',
    secret: false,
    group: 'Devin',
  },
  {
    name: 'DEVIN_API_URL',
    default: 'https://api.devin.ai',
    meaning: "Devin's API: https, or http on this machine.",
    secret: false,
    group: 'Devin',
  },
  {
    name: 'DEVIN_WORKER_STATIC_BASE_URL',
    default: 'https://static.devin.ai/devin-rs/remote',
    meaning: 'Where sandboxes download devin-remote: https, or http on this machine.',
    secret: false,
    group: 'Devin',
  },
  {
    name: 'ACCEPTOR_ID',
    default: 'vercel',
    meaning: 'First part of the name under which sessions are claimed: 1 to 40 letters, digits, `_` or `-`.',
    secret: false,
    group: 'Devin',
  },
  {
    name: 'VERCEL_TOKEN',
    default: null,
    meaning: 'Vercel access token. Needed in local mode, with the next two, unless VERCEL_OIDC_TOKEN is set.',
    secret: true,
    group: 'Vercel',
  },
  {
    name: 'VERCEL_TEAM_ID',
    default: null,
    meaning: 'The Vercel team that owns the sandboxes, `team_…`.',
    secret: false,
    group: 'Vercel',
  },
  {
    name: 'VERCEL_PROJECT_ID',
    default: null,
    meaning: 'The Vercel project that the sandboxes belong to, `prj_…`.',
    secret: false,
    group: 'Vercel',
  },
  {
    name: 'VERCEL_OIDC_TOKEN',
    default: null,
    meaning: 'Instead of the three above: the token that `vercel env pull` writes. It lasts 12 hours.',
    secret: true,
    group: 'Vercel',
  },
  {
    name: 'SANDBOX_RUNTIME',
    default: 'node24',
    meaning: 'Runtime of the sandboxes: node22, node24, node26 or python3.13.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_IMAGE',
    default: null,
    meaning: 'An image instead of a runtime, such as `ubuntu`. Not together with SANDBOX_RUNTIME.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_VCPUS',
    default: '2',
    meaning: 'vCPUs of each sandbox: 1 or an even number up to 32. Each brings 2 GB of memory.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_TIMEOUT_MS',
    default: '1200000',
    meaning: 'How long a sandbox is first given, and how long each extension lasts. 20 minutes.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_MAX_LIFETIME_MS',
    default: '86400000',
    meaning:
      'Longest life of one VM; shortly before it the session moves to a fresh one. 24 hours; 2700000 on Hobby.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_SNAPSHOT_EXPIRATION_MS',
    default: '2592000000',
    meaning: 'How long the files of a sleeping session are kept: at least a day, 0 = for ever. 30 days.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'MAX_CONCURRENT',
    default: '5',
    meaning: 'Most sandboxes at the same time; further sessions wait in the queue.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'POLL_INTERVAL_MS',
    default: '3000',
    meaning: 'How often the queue is listed. New sessions are noticed sooner, by a watch.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'PROBE_INTERVAL_MS',
    default: '120000',
    meaning: 'How often each sandbox is looked at when nothing is heard of it.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'DATABASE_URL',
    default: 'file:.outposts/<mode>.db',
    meaning:
      'Where sessions are remembered: `file:…` (SQLite) or `postgres://…`. <mode> is embedded or local.',
    secret: true,
    group: 'Orchestrator',
  },
  {
    name: 'PORT',
    default: '3000',
    meaning: 'Port of the page, on 127.0.0.1 only. 0 = any free one.',
    secret: false,
    group: 'Orchestrator',
  },
] as const satisfies readonly Variable[];

export type VariableName = (typeof VARIABLES)[number]['name'];
