/**
 * What the value of each variable must look like, as zod schemas over text.
 *
 * Messages say what a value should be. They repeat a value only where it is a
 * short number gone wrong, never where a secret may have been put.
 */
import { z } from 'zod';
import { Secret } from './secret.js';
import type { VariableName } from './variables.js';

const DAY_MS = 86_400_000;

const secret = (pattern: RegExp, should: string) =>
  z
    .string()
    .regex(pattern, should)
    .transform((text) => new Secret(text));
const word = (longest: number, should: string) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{1,${longest}}$`), should);

export const FIELDS = {
  DEVIN_OUTPOSTS_TOKEN: secret(
    /^cog_[\x21-\x7e]+$/,
    'should be a token that starts with cog_, without spaces',
  ),
  DEVIN_OUTPOST_ID: word(200, 'should be the id of an outpost, such as outpost_env-0123456789abcdef'),
  DEVIN_API_URL: serviceUrl('https://api.devin.ai'),
  DEVIN_WORKER_STATIC_BASE_URL: serviceUrl('https://static.devin.ai/devin-rs/remote'),
  ACCEPTOR_ID: word(40, 'should be 1 to 40 letters, digits, _ or -'),
  VERCEL_TOKEN: secret(/^[\x21-\x7e]+$/, 'should be a Vercel access token, without spaces'),
  VERCEL_TEAM_ID: word(200, 'should be the id of a team, such as team_0123456789'),
  VERCEL_PROJECT_ID: word(200, 'should be the id of a project, such as prj_0123456789'),
  VERCEL_OIDC_TOKEN: secret(
    /^[\w-]+\.[\w-]+\.[\w-]+$/,
    'should be the token that `vercel env pull` writes: three parts with dots between',
  ),
  SANDBOX_RUNTIME: z
    .string()
    .regex(/^(node|python)\d{1,2}(\.\d{1,2})?$/, 'should be a runtime: node22, node24, node26 or python3.13'),
  SANDBOX_IMAGE: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/,
      'should be the name of an image, such as ubuntu or node:24',
    ),
  SANDBOX_VCPUS: wholeNumber({ unit: '', least: 1, most: 32 }).refine(
    (count) => count === 1 || count % 2 === 0,
    'should be 1 or an even number, such as 2',
  ),
  SANDBOX_TIMEOUT_MS: wholeNumber({ unit: ' of milliseconds', least: 60_000, most: DAY_MS }),
  SANDBOX_MAX_LIFETIME_MS: wholeNumber({ unit: ' of milliseconds', least: 600_000, most: DAY_MS }),
  SANDBOX_SNAPSHOT_EXPIRATION_MS: wholeNumber({
    unit: ' of milliseconds',
    least: 0,
    most: 3650 * DAY_MS,
  }).refine(
    (ms) => ms === 0 || ms >= DAY_MS,
    `should be 0 (for ever) or at least ${DAY_MS} milliseconds (a day)`,
  ),
  MAX_CONCURRENT: wholeNumber({ unit: '', least: 1, most: 2000 }),
  POLL_INTERVAL_MS: wholeNumber({ unit: ' of milliseconds', least: 250, most: 60_000 }),
  PROBE_INTERVAL_MS: wholeNumber({ unit: ' of milliseconds', least: 1000, most: 600_000 }),
  DATABASE_URL: secret(
    /^(file:[^\s?#]+|postgres(ql)?:\/\/\S+)$/,
    'should be file:<path> for SQLite or postgres://<user>@<host>/<database>, without spaces',
  ),
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
