/**
 * Devin's side of a connection: the page where it is confirmed, the exchange of
 * the code, and a look whether the token is of use.
 *
 * Source: Devin's reference for partners. A token is sent to trusted hosts only.
 */
import { z } from 'zod';
import { ContractError } from '../errors.js';
import type { Credentials, Partner } from '../ports/connect.js';
import { ask, expecting } from './ask.js';
import { trustedApiUrl } from './trusted.js';

export interface PartnerOptions {
  /** Devin's page. */
  readonly connectUrl: string;
  /** Where codes are exchanged. */
  readonly apiUrl: string;
  /** Null: nobody knows where browsers come back to. */
  readonly callbackUrl: string | null;
  readonly outpostName: string;
  readonly trustedHosts: readonly string[];
}

const EXCHANGE = 'exchange the code at Devin';
/** The reference has the first, live servers were seen with the second. */
const PATHS = ['/outposts/connection-token', '/opbeta/outposts/connection-token'];

const id = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);
const grantSchema = z
  .object({
    access_token: z.string().regex(/^cog_[\x21-\x7e]{1,4000}$/),
    api_base_url: z.string().min(1).max(500),
    outpost_id: id.optional(),
    /** As older servers call it. */
    outpost_pool_id: id.optional(),
    outpost_name: z.string().nullish(),
  })
  .refine((grant) => (grant.outpost_id ?? grant.outpost_pool_id) !== undefined, { path: ['outpost_id'] });
const errorSchema = z.object({ error: z.string() });

export function createPartner(options: PartnerOptions): Partner {
  return {
    connectUrl(challenge) {
      const url = new URL(options.connectUrl);
      url.search = new URLSearchParams({
        callback_url: options.callbackUrl ?? '',
        code_challenge: challenge,
        outpost_name: options.outpostName,
        platform: 'linux',
      }).toString();
      return url.href;
    },

    async exchange({ code, verifier }, signal) {
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
      const post = (path = '') =>
        ask({ label: EXCHANGE, method: 'POST', url: `${options.apiUrl}${path}`, form }, signal);
      let answer = await post(PATHS[0]);
      if (answer.status === 404) answer = await post(PATHS[1]);
      if (answer.status === 200) return grantOf(answer.json);
      if (answer.status < 400) throw new ContractError(`${EXCHANGE}: answered ${answer.status}`);
      const error = errorSchema.safeParse(answer.json).data?.error;
      return { kind: 'refused', problem: refusalOf(answer.status, error), ofCode: isOfCode(error) };
    },

    async accepts({ apiUrl, token, outpostId }, signal) {
      const query = new URLSearchParams({ outpost: outpostId, first: '1' });
      const url = `${apiUrl}/opbeta/outposts/devins?${query}`;
      const { status } = await ask({ label: 'try the token at Devin', method: 'GET', url, token }, signal);
      if (status !== 200 && status !== 401 && status !== 403)
        throw new ContractError(`try the token at Devin: answered ${status}`);
      return status === 200;
    },
  };

  function grantOf(json: unknown): Awaited<ReturnType<Partner['exchange']>> {
    const grant = expecting(EXCHANGE, grantSchema, json);
    const apiUrl = trustedApiUrl(grant.api_base_url, options.trustedHosts);
    if (apiUrl === null)
      return { kind: 'refused', problem: `${hostOf(grant.api_base_url)} ${UNTRUSTED}`, ofCode: false };
    const credentials: Credentials = {
      token: grant.access_token,
      apiUrl,
      outpostId: grant.outpost_id ?? grant.outpost_pool_id ?? '',
      outpostName: grant.outpost_name?.slice(0, 200) ?? null,
    };
    return { kind: 'granted', credentials };
  }
}

const UNTRUSTED =
  "is not an address of Devin's that a token may be sent to. If it is yours, list it in DEVIN_API_HOSTS and start again";

/** As much of it as is sure to be a name. */
function hostOf(text: string): string {
  const host = URL.canParse(text) ? new URL(text).host : '';
  return /^[a-z0-9.:[\]-]{1,80}$/.test(host) ? host : 'what the answer names';
}

/** RFC 6749, section 5.2. */
const isOfCode = (error: string | undefined): boolean => error === 'invalid_grant';

function refusalOf(status: number, error: string | undefined): string {
  if (isOfCode(error))
    return 'Devin did not accept the code: it works once, for ten minutes, in the browser that began. Start again';
  if (status === 404) return 'there is no such service: does DEVIN_API_URL name the API of Devin?';
  return `Devin refused the exchange (${status}): start again`;
}
