/** The files that pages load: the same for everybody, and nothing secret in them. */
import { readFileSync } from 'node:fs';
import { Hono } from 'hono';

const ASSETS = [
  ['/app.js', 'text/javascript; charset=utf-8'],
  ['/format.js', 'text/javascript; charset=utf-8'],
  ['/app.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'image/svg+xml'],
] as const;

export function assetRoutes(): Hono {
  const app = new Hono();
  for (const [path, type] of ASSETS) {
    const body = readFileSync(new URL(`./assets${path}`, import.meta.url), 'utf8');
    app.get(path, (c) => c.body(body, 200, { 'Content-Type': type }));
  }
  return app;
}
