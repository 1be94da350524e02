/**
 * What the value of each variable must look like, as zod schemas over text.
 *
 * Messages say what a value should be. They repeat a value only where it is a
 * short number gone wrong, never where a secret may have been put.
 */
import { z } from 'zod';
import { notMistakenFor, type Shape } from './ids.js';
import { PLANS } from './plans.js';
import { Secret } from './secret.js';
import type { VariableName } from './variables.js';

const DAY_MS = 86_400_000;

const secret = (pattern: RegExp, should: string) =>
  z
    .string()
    .regex(pattern, should)
    .transform((text) => new Secret(text));
const id = (own: Shape, should: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, { error: should, abort: true })
    .pipe(notMistakenFor(own, should));
const shortSecret = secret(
  /^[\x21-\x7e]{16,}$/,
  'should be at least 16 printable characters, without spaces',
);
const longSecret = secret(/^[\x21-\x7e]{32,}$/, 'should be at least 32 printable characters, without spaces');
const yesOrNo = z.enum(['true', 'false'], 'should be true or false').transform((text) => text === 'true');
const aVercelToken = 'should be a Vercel access token, without spaces';

export const FIELDS = {
  DEVIN_OUTPOSTS_TOKEN: secret(
    /^cog_[\x21-\x7e]+$/,
    'should be a token that starts with cog_, without spaces',
  ),
  DEVIN_OUTPOST_ID: id('outpost', 'should be the id of an outpost, such as outpost_env-0123456789abcdef'),
  DEVIN_API_URL: serviceUrl('https://api.devin.ai'),
  DEVIN_WORKER_STATIC_BASE_URL: serviceUrl('https://static.devin.ai/devin-rs/remote'),
  ACCEPTOR_ID: z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'should be 1 to 40 letters, digits, _ or -'),
  DEVIN_CREDENTIALS_FROM_ENV: yesOrNo,
  DEVIN_CONNECTION_SECRET: longSecret,
  DEVIN_CONNECTION_SECRET_PREVIOUS: longSecret,
  OPERATOR_SECRET: shortSecret,
  VIEWER_SECRET: shortSecret,
  DEVIN_OAUTH_CALLBACK_URL: serviceUrl('https://outposts.example.com/connect/callback'),
  DEVIN_OUTPOST_NAME: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u, 'should be 1 to 64 letters, digits, spaces, _, . or -'),
  DEVIN_API_HOSTS: hostList(),
  DEVIN_CONNECT_URL: serviceUrl('https://app.devin.ai/outposts/connect'),
  VERCEL_INTEGRATION_CLIENT_ID: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/, 'should be the client id of an integration, such as oac_0123456789'),
  VERCEL_INTEGRATION_CLIENT_SECRET: secret(/^[\x21-\x7e]+$/, 'should be a secret without spaces'),
  VERCEL_API_URL: serviceUrl('https://api.vercel.com'),
  VERCEL_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: aVercelToken, abort: true })
    .pipe(notMistakenFor('vercelToken', aVercelToken))
    .transform((text) => new Secret(text)),
  VERCEL_TEAM_ID: id('team', 'should be the id of a team, such as team_0123456789'),
  VERCEL_PROJECT_ID: id('project', 'should be the id of a project, such as prj_0123456789'),
  VERCEL_OIDC_TOKEN: secret(
    /^[\w-]+\.[\w-]+\.[\w-]+$/,
    'should be the token that `vercel env pull` writes: three parts with dots between',
  ),
  VERCEL_PLAN: z.enum(['hobby', 'pro', 'enterprise'], 'should be hobby, pro or enterprise'),
  CRON_SECRET: shortSecret,
  SANDBOX_RUNTIME: z.enum(
    ['node22', 'node24', 'node26', 'python3.13'],
    'should be a runtime: node22, node24, node26 or python3.13',
  ),
  SANDBOX_IMAGE: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/,
      'should be the name of an image, such as ubuntu or node:24',
    ),
  SANDBOX_REGION: z.string().regex(/^[a-z]{3}\d$/, 'should be a region, such as iad1'),
  SANDBOX_VCPUS: wholeNumber({ unit: '', least: 1, most: PLANS.enterprise.SANDBOX_VCPUS }).refine(
    (count) => count === 1 || count % 2 === 0,
    'should be 1 or an even number, such as 2',
  ),
  SANDBOX_TIMEOUT_MS: wholeNumber({ unit: ' of milliseconds', least: 60_000, most: DAY_MS }),
  SANDBOX_MAX_LIFETIME_MS: wholeNumber({
    unit: ' of milliseconds',
    least: 600_000,
    most: PLANS.enterprise.SANDBOX_MAX_LIFETIME_MS,
  }),
  SANDBOX_SNAPSHOT_EXPIRATION_MS: wholeNumber({
    unit: ' of milliseconds',
    least: 0,
    most: 3650 * DAY_MS,
  }).refine(
    (ms) => ms === 0 || ms >= DAY_MS,
    `should be 0 (for ever) or at least ${DAY_MS} milliseconds (a day)`,
  ),
  MAX_CONCURRENT: wholeNumber({ unit: '', least: 1, most: PLANS.enterprise.MAX_CONCURRENT }),
  POLL_INTERVAL_MS: wholeNumber({ unit: ' of milliseconds', least: 250, most: 60_000 }),
  PROBE_INTERVAL_MS: wholeNumber({ unit: ' of milliseconds', least: 1000, most: 600_000 }),
  UNHEARD_PROBE_INTERVAL_MS: wholeNumber({ unit: ' of milliseconds', least: 1000, most: 600_000 }),
  CLAIM_RENEW_MARGIN_MS: wholeNumber({ unit: ' of milliseconds', least: 10_000, most: 240_000 }),
  PUBLIC_URL: serviceUrl('https://outposts.example.com'),
  DOORBELL_FOR_RESTRICTED: yesOrNo,
  DATABASE_URL: z
    .string()
    .refine(
      isDatabaseUrl,
      'should be postgres://<user>:<password>@<host>/<database> (write %23 for # in a password, and so on) or file:<path> for SQLite, without spaces',
    )
    .transform((text) => new Secret(text)),
  PORT: wholeNumber({ unit: '', least: 0, most: 65_535 }),
} satisfies Record<VariableName, z.ZodType>;

/** Digits only: no sign, space, unit, exponent or fraction. */
function wholeNumber({ unit, least, most }: { unit: string; least: number; most: number }) {
  const should = `should be a whole number${unit} from ${least} to ${most}, digits only`;
  return z.string().transform((text, context) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
    const got = text.length <= 12 ? ` (got ${JSON.stringify(text)})` : '';
    context.addIssue({ code: 'custom', message: should + got });
    return z.NEVER;
  });
}

/** An https address, or http on this machine; no user, query or fragment; without the last slash. */
function serviceUrl(example: string) {
  const should = `should be an address such as ${example}: https (http only on 127.0.0.1, localhost or [::1]), without user name, ? or #`;
  return z.string().transform((text, context) => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url && isAllowed(url) && !/[\s?#]/.test(text)) return url.href.replace(/\/+$/, '');
    context.addIssue({ code: 'custom', message: should });
    return z.NEVER;
  });
}

function isAllowed(url: URL): boolean {
  if (url.username || url.password) return false;
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopback);
}

/** Hosts with or without a port, commas between; in lower case. */
function hostList() {
  const should = 'should be hosts such as devin.example.com or 127.0.0.1:8080, with commas between';
  return z.string().transform((text, context) => {
    const hosts = text.split(',').map((host) => host.trim().toLowerCase());
    if (hosts.every((host) => /^([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/.test(host)))
      // As the URL parser writes it: the port of https goes without saying.
      return hosts.map((host) => host.replace(/:443$/, ''));
    context.addIssue({ code: 'custom', message: should });
    return z.NEVER;
  });
}

/** A file, or an address that the PostgreSQL client can take apart. */
function isDatabaseUrl(text: string): boolean {
  if (/^file:[^\s?#]+$/.test(text)) return true;
  if (!/^postgres(ql)?:\/\/\S+$/.test(text) || !URL.canParse(text)) return false;
  const { username, password, pathname } = new URL(text);
  try {
    return [username, password, pathname].map(decodeURIComponent).length > 0;
  } catch {
    return false;
  }
}
