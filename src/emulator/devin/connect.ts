/**
 * Connecting an outpost as a partner does: the page where an administrator
 * confirms, and the exchange of its code, with PKCE.
 *
 * Strict where Devin's reference is: callbacks on the list only, codes that
 * work once for ten minutes, form-encoded requests, errors of RFC 6749.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { Clock } from '../../ports/clock.js';
import type { Access } from './access.js';
import type { Edge, HttpContext, HttpEnv } from './http.js';

export interface ConnectParts {
  readonly clock: Clock;
  readonly access: Access;
  readonly edge: Edge;
  readonly url: () => string;
  /** Makes an outpost of that name, or answers null when there is one already. */
  addOutpost(name: string): string | null;
}

/** What tests and people change; read at each request. */
export interface ConnectSwitches {
  /** The callback addresses that Devin has on its list. */
  callbacks: string[];
  /** Where codes are exchanged: the reference's path, or the one under the fleet's. */
  exchangePath: '/outposts/connection-token' | '/opbeta/outposts/connection-token';
  /** Fields that replace those of the next answers; undefined leaves one out. */
  answer: Readonly<Record<string, unknown>>;
}

interface Grant {
  readonly challenge: string;
  readonly outpostId: string;
  readonly name: string;
  readonly endsAt: number;
}

const CODE_MS = 10 * 60_000;

export function mountConnect(app: Hono<HttpEnv>, parts: ConnectParts): ConnectSwitches {
  const { clock, access, edge } = parts;
  const grants = new Map<string, Grant>();
  const switches: ConnectSwitches = { callbacks: [], exchangePath: '/outposts/connection-token', answer: {} };

  const refusalOf = (callback: string, challenge: string): string | null => {
    if (!switches.callbacks.includes(callback)) return 'This callback address is not on the list.';
    return /^[\w-]{43}$/.test(challenge) ? null : 'The code challenge is not one of S256.';
  };

  app.get('/outposts/connect', (c) => {
    const { callback_url = '', code_challenge = '', outpost_name = 'outpost', platform = '' } = c.req.query();
    const refusal = refusalOf(callback_url, code_challenge);
    if (refusal !== null) return c.html(page(html`<p>${refusal}</p>`), 400);
    return c.html(
      page(html`<form method="post">
        <input type="hidden" name="callback_url" value="${callback_url}" />
        <input type="hidden" name="code_challenge" value="${code_challenge}" />
        <p><label>Outpost <input name="outpost_name" value="${outpost_name}" /></label> (${platform || 'any platform'})</p>
        <button name="answer" value="connect">Connect</button>
        <button name="answer" value="cancel">Cancel</button>
      </form>`),
    );
  });

  app.post('/outposts/connect', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const [callback = '', challenge = '', name = ''] = ['callback_url', 'code_challenge', 'outpost_name'].map(
      (field) => form.get(field) ?? '',
    );
    const refusal = refusalOf(callback, challenge);
    if (refusal !== null) return c.html(page(html`<p>${refusal}</p>`), 400);
    const back = new URL(callback);
    if (form.get('answer') !== 'connect') {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The administrator declined.');
      return c.redirect(back.href, 302);
    }
    const outpostId = parts.addOutpost(name);
    if (outpostId === null) return c.html(page(html`<p>There is an outpost of that name.</p>`), 409);
    const code = randomBytes(24).toString('base64url');
    grants.set(code, { challenge, outpostId, name, endsAt: clock.now() + CODE_MS });
    back.searchParams.set('code', code);
    return c.redirect(back.href, 302);
  });

  for (const path of ['/outposts/connection-token', '/opbeta/outposts/connection-token'] as const)
    app.post(path, (c) => edge.handle(c, 'exchange', null, () => exchange(c, path)));

  return switches;

  async function exchange(c: HttpContext, path: ConnectSwitches['exchangePath']): Promise<Response> {
    if (path !== switches.exchangePath) return c.json({ detail: 'Not Found' }, 404);
    if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded'))
      return refuse(c, 'invalid_request');
    const form = new URLSearchParams(await c.req.text());
    if (form.get('grant_type') !== 'authorization_code') return refuse(c, 'unsupported_grant_type');
    const [code, verifier] = [form.get('code'), form.get('code_verifier')];
    if (!code || !verifier || !/^[\w.~-]{43,128}$/.test(verifier)) return refuse(c, 'invalid_request');
    const grant = grants.get(code);
    // Also a code that did not fit is used up.
    grants.delete(code);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (!grant || grant.endsAt <= clock.now() || grant.challenge !== challenge)
      return refuse(c, 'invalid_grant');
    c.header('Cache-Control', 'no-store');
    return c.json({
      outpost_id: grant.outpostId,
      account_id: 'account-emulated',
      outpost_name: grant.name,
      service_user_id: 'service-user-emulated',
      api_base_url: `${parts.url()}/`,
      access_token: access.mint(['machine'], undefined, grant.outpostId),
      token_type: 'bearer',
      ...switches.answer,
    });
  }
}

const refuse = (c: HttpContext, error: string) => c.json({ error }, 400, { 'Cache-Control': 'no-store' });

const page = (body: ReturnType<typeof html>) =>
  html`<!doctype html><html lang="en"><title>Devin (emulated)</title><h1>Connect an outpost</h1>${body}</html>`;
