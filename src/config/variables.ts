/**
 * Every variable of the environment that this program reads, in one table.
 *
 * `.env.example` and the README's settings are printed from it, and values.ts
 * takes the defaults from it; what a value must look like is in fields.ts.
 * What Vercel says about a deployment (`VERCEL_ENV` and the like) is no setting.
 */
import { PLANS, type Plan } from './plans.js';

/**
 * `embedded`: emulators, no accounts. `local`: real Devin and Vercel, driven from this machine.
 * `server`: the same on servers of one's own. `vercel`: in a Vercel deployment.
 */
export type Mode = 'embedded' | 'local' | 'server' | 'vercel';

/** The same everywhere, or by mode or plan; `$NAME` in it stands for what Vercel sets under that name. */
export type Default = string | null | Readonly<Partial<Record<Mode | Plan, string>>>;

export interface Variable {
  readonly name: string;
  /** What holds when it is unset or blank; null when there is none. */
  readonly default: Default;
  readonly meaning: string;
  /** Its value never appears in messages, logs or pages. */
  readonly secret: boolean;
  readonly group: 'Devin' | 'Vercel' | 'Connection and sign-in' | 'Sandboxes' | 'Orchestrator';
}

export const VARIABLES = [
  {
    name: 'DEVIN_OUTPOSTS_TOKEN',
    default: null,
    meaning:
      'Token of a Devin service user, `cog_…`, with the scope account.outposts.machine. Needed where real sessions are served and nothing is connected in the browser.',
    secret: true,
    group: 'Devin',
  },
  {
    name: 'DEVIN_OUTPOST_ID',
    default: null,
    meaning: 'The outpost whose sessions are served, `outpost_env-…`. Needed with the token.',
    secret: false,
    group: 'Devin',
  },
  {
    name: 'DEVIN_CREDENTIALS_FROM_ENV',
    default: 'false',
    meaning: 'true: the two above are used on Vercel too. Elsewhere they always are.',
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
    meaning:
      'Vercel access token. Needed in local and server, with the next two, unless VERCEL_OIDC_TOKEN is set. Leave all four out on Vercel.',
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
    meaning: 'The Vercel project that the sandboxes belong to, `prj_…`. On Vercel it is there by itself.',
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
    name: 'VERCEL_PLAN',
    default: 'pro',
    meaning:
      "The team's plan: hobby, pro or enterprise. It bounds SANDBOX_MAX_LIFETIME_MS, SANDBOX_VCPUS and MAX_CONCURRENT.",
    secret: false,
    group: 'Vercel',
  },
  {
    name: 'CRON_SECRET',
    default: null,
    meaning:
      'What callers of /api/cron must know; Vercel Cron sends it by itself. Doorbells are keyed with it. At least 16 characters, no spaces. Needed on Vercel.',
    secret: true,
    group: 'Vercel',
  },
  {
    name: 'DEVIN_CONNECTION_SECRET',
    default: null,
    meaning:
      'What a connection made in the browser is sealed with, and what signs the cookies of pages: at least 32 characters, no spaces. Needed for both.',
    secret: true,
    group: 'Connection and sign-in',
  },
  {
    name: 'DEVIN_CONNECTION_SECRET_PREVIOUS',
    default: null,
    meaning:
      'The secret before the present one, while it is being changed: what was sealed with it still opens, and is sealed anew.',
    secret: true,
    group: 'Connection and sign-in',
  },
  {
    name: 'OPERATOR_SECRET',
    default: null,
    meaning:
      'Who knows it signs in to the pages and may act there. At least 16 characters, no spaces. Unset: nobody may.',
    secret: true,
    group: 'Connection and sign-in',
  },
  {
    name: 'VIEWER_SECRET',
    default: null,
    meaning:
      'Who knows it signs in to the pages and sees them, without acting. Not the same as OPERATOR_SECRET.',
    secret: true,
    group: 'Connection and sign-in',
  },
  {
    name: 'DEVIN_OAUTH_CALLBACK_URL',
    default: null,
    meaning:
      'The address to which Devin sends browsers back, exactly as Devin has it on its list. Unset: PUBLIC_URL and `/connect/callback`.',
    secret: false,
    group: 'Connection and sign-in',
  },
  {
    name: 'DEVIN_OUTPOST_NAME',
    default: 'vercel-sandbox',
    meaning: 'The name that is suggested to Devin for a new outpost.',
    secret: false,
    group: 'Connection and sign-in',
  },
  {
    name: 'DEVIN_API_HOSTS',
    default: null,
    meaning:
      "Hosts (`host` or `host:port`, with commas between) besides devin.ai and devinenterprise.com that a connection's token may be sent to.",
    secret: false,
    group: 'Connection and sign-in',
  },
  {
    name: 'DEVIN_CONNECT_URL',
    default: 'https://app.devin.ai/outposts/connect',
    meaning: "Devin's page where an administrator confirms a connection.",
    secret: false,
    group: 'Connection and sign-in',
  },
  {
    name: 'VERCEL_INTEGRATION_CLIENT_ID',
    default: null,
    meaning:
      "Only where other people's projects are set up: the client id of the Vercel integration. Goes with the next.",
    secret: false,
    group: 'Connection and sign-in',
  },
  {
    name: 'VERCEL_INTEGRATION_CLIENT_SECRET',
    default: null,
    meaning: "The integration's client secret.",
    secret: true,
    group: 'Connection and sign-in',
  },
  {
    name: 'VERCEL_API_URL',
    default: 'https://api.vercel.com',
    meaning: "Vercel's API, for the integration: https, or http on this machine.",
    secret: false,
    group: 'Connection and sign-in',
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
    name: 'SANDBOX_REGION',
    default: null,
    meaning: 'Region of the sandboxes, such as `iad1`. Unset: Vercel chooses.',
    secret: false,
    group: 'Sandboxes',
  },
  {
    name: 'SANDBOX_VCPUS',
    default: '2',
    meaning: 'vCPUs of each sandbox: 1 or an even number. Each brings 2 GB of memory.',
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
    default: {
      hobby: String(PLANS.hobby.SANDBOX_MAX_LIFETIME_MS),
      pro: String(PLANS.pro.SANDBOX_MAX_LIFETIME_MS),
      enterprise: String(PLANS.enterprise.SANDBOX_MAX_LIFETIME_MS),
    },
    meaning:
      'Longest life of one VM; shortly before its end the session moves to a fresh one. 45 minutes or 24 hours, which is also the most.',
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
    name: 'DATABASE_URL',
    default: { embedded: 'file:.outposts/embedded.db', local: 'file:.outposts/local.db' },
    meaning:
      'Where sessions are remembered: `file:…` (SQLite) or `postgres://…`. Needed in server; needed on Vercel, where it must be postgres.',
    secret: true,
    group: 'Orchestrator',
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
    default: { embedded: '120000', local: '120000', server: '60000', vercel: '60000' },
    meaning: 'How often each sandbox is looked at when nothing is heard of it.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'UNHEARD_PROBE_INTERVAL_MS',
    default: { server: '15000', vercel: '15000' },
    meaning:
      'The same for a sandbox that has not rung the doorbell yet. Unset, or longer than PROBE_INTERVAL_MS: as often as that says.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'CLAIM_RENEW_MARGIN_MS',
    default: '60000',
    meaning: 'How long before its end a claim is renewed: 10 seconds to 4 minutes.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'PUBLIC_URL',
    default: { vercel: 'https://$VERCEL_PROJECT_PRODUCTION_URL' },
    meaning:
      'Where sandboxes reach this orchestrator, to ring its doorbell when they are done: https, or http on this machine. Goes with CRON_SECRET. Unset: no doorbell.',
    secret: false,
    group: 'Orchestrator',
  },
  {
    name: 'DOORBELL_FOR_RESTRICTED',
    default: 'false',
    meaning: 'true: sessions whose network is restricted may reach PUBLIC_URL too, so that they can ring.',
    secret: false,
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
