/**
 * The operator's page of a server on this machine, without a sign-in.
 *
 * Only for who reaches it directly on loopback. A request that came through a
 * proxy may be anybody's, whatever its Host says, and finds nothing here.
 */
import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { localAdmission } from '../dashboard/guard.js';
import { createPage, type PageDeps } from './page.js';

const FORWARDED = /^(forwarded|via|x-real-ip|x-forwarded-.*|cf-.*|true-client-ip)$/;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

export function localPage(deps: Pick<PageDeps, 'deployment' | 'runs' | 'health'>): Hono {
  const hosts: string[] = [];
  const admission = localAdmission(randomBytes(24).toString('base64url'), hosts);
  const page = createPage({ ...deps, admission, world: 'local' });
  const app = new Hono();
  app.all('*', (c) => {
    const host = directHost(c);
    if (host === null) return c.text('There is nothing here. Try /api/health.\n', 404);
    if (!hosts.includes(host)) hosts.push(host);
    return page.fetch(c.req.raw);
  });
  return app;
}

/** The Host of a request that names this machine and came straight from it; else null. */
function directHost(c: Context): string | null {
  if (Object.keys(c.req.header()).some((name) => FORWARDED.test(name))) return null;
  const host = c.req.header('host')?.toLowerCase() ?? '';
  return LOOPBACK.includes(host.replace(/:\d{1,5}$/, '')) ? host : null;
}
