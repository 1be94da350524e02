/**
 * Vercel as an integration sees it, over HTTP on 127.0.0.1: a Deploy Button
 * that makes an empty project and asks for the integration, the exchange of its
 * code, and the project's variables.
 *
 * Keeps everything in memory; deploys nothing. A test starts what would be
 * deployed with the variables that were written.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { z } from 'zod';

export interface PlatformOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
}

export interface Variable {
  readonly value: string;
  readonly type: string;
  readonly target: readonly string[];
}

export interface Platform {
  /** VERCEL_API_URL; the button is at `/new/clone`. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly teamId: string;
  /** Where browsers are sent after an installation; as registered for the integration. */
  redirectUrl: string;
  /** By the project's id. */
  readonly projects: ReadonlyMap<string, { readonly name: string; readonly env: Map<string, Variable> }>;
  /** Writes of this variable that are answered with `status`; `failed`: 201, and it is listed as failed. */
  failWrites(key: string, times: number, status: number | 'failed'): void;
  /** Access tokens that were given out. */
  readonly tokens: readonly string[];
  revokeAll(): void;
  close(): Promise<void>;
}

const variableSchema = z.strictObject({
  key: z.string().regex(/^[A-Z_][A-Z0-9_]*$/i),
  value: z.string(),
  type: z.enum(['encrypted', 'plain', 'sensitive']),
  target: z.array(z.enum(['production', 'preview', 'development'])).min(1),
});

interface Grant {
  readonly projectId: string;
  readonly redirectUrl: string;
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const clientId = options.clientId ?? 'oac_emulated';
  const clientSecret = options.clientSecret ?? randomBytes(16).toString('hex');
  const teamId = 'team_emulated';
  const projects = new Map<string, { name: string; env: Map<string, Variable> }>();
  const codes = new Map<string, Grant>();
  const access = new Map<string, Grant>();
  const tokens: string[] = [];
  const failing = new Map<string, { times: number; status: number | 'failed' }>();
  let redirectUrl = '';

  const app = new Hono();
  app.notFound((c) => failure(c, 404, 'not_found', 'The endpoint is unknown.'));

  app.get('/new/clone', (c) =>
    c.html(html`<!doctype html><html lang="en"><title>Vercel (emulated)</title>
      <h1>New project</h1>
      <form method="post">
        <p><label>Name <input name="name" value="${c.req.query('project-name') ?? 'outposts'}" /></label></p>
        <button>Add integration</button>
      </form></html>`),
  );
  app.post('/new/clone', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const projectId = `prj_${randomBytes(10).toString('hex')}`;
    projects.set(projectId, { name: form.get('name') ?? 'outposts', env: new Map() });
    const code = randomBytes(16).toString('base64url');
    codes.set(code, { projectId, redirectUrl });
    const back = new URL(redirectUrl);
    back.search = new URLSearchParams({
      code,
      configurationId: `icfg_${randomBytes(10).toString('hex')}`,
      currentProjectId: projectId,
      teamId,
      next: `https://vercel.com/new/continue?project=${projectId}`,
    }).toString();
    return c.redirect(back.href, 302);
  });

  app.post('/v2/oauth/access_token', async (c) => {
    if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded'))
      return c.json({ error: 'invalid_request' }, 400);
    const form = new URLSearchParams(await c.req.text());
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return c.json({ error: 'invalid_client' }, 401);
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    if (grant === undefined || grant.redirectUrl !== form.get('redirect_uri'))
      return c.json({ error: 'invalid_grant' }, 400);
    const token = `vca_${randomBytes(24).toString('hex')}`;
    access.set(token, grant);
    tokens.push(token);
    return c.json({ access_token: token, token_type: 'Bearer', team_id: teamId });
  });

  app.get('/v9/projects/:id', (c) => {
    const found = projectOf(c);
    return found instanceof Response ? found : c.json({ id: c.req.param('id'), name: found.name });
  });

  app.post('/v10/projects/:id/env', async (c) => {
    const found = projectOf(c);
    if (found instanceof Response) return found;
    const body = variableSchema.safeParse(await c.req.json().catch(() => null));
    if (!body.success) return failure(c, 400, 'bad_request', 'The body is not a variable.');
    const { key, ...variable } = body.data;
    const fail = failing.get(key);
    if (fail !== undefined && fail.times > 0) {
      fail.times -= 1;
      if (fail.status === 'failed')
        return c.json({ created: null, failed: [{ error: { code: 'UNKNOWN_ERROR', key } }] }, 201);
      return failure(c, fail.status, 'injected', 'An injected fault.');
    }
    if (found.env.has(key) && c.req.query('upsert') !== 'true')
      return failure(c, 400, 'ENV_CONFLICT', 'There is such a variable.');
    found.env.set(key, variable);
    return c.json({ created: { key, type: variable.type, target: variable.target }, failed: [] }, 201);
  });

  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId,
    clientSecret,
    teamId,
    get redirectUrl() {
      return redirectUrl;
    },
    set redirectUrl(url) {
      redirectUrl = url;
    },
    projects,
    failWrites: (key, times, status) => void failing.set(key, { times, status }),
    tokens,
    revokeAll: () => access.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };

  /** The project of the path, when the token is of its installation and the team is right. */
  function projectOf(c: Context) {
    const grant = access.get(/^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '')?.[1] ?? '');
    if (grant === undefined) return failure(c, 403, 'forbidden', 'The token is not valid.');
    const id = c.req.param('id') ?? '';
    const project = projects.get(id);
    if (project === undefined || grant.projectId !== id || c.req.query('teamId') !== teamId)
      return failure(c, 404, 'not_found', 'The project is unknown.');
    return project;
  }
}

const failure = (c: Context, status: number, code: string, message: string) =>
  c.json({ error: { code, message } }, status as 400);
