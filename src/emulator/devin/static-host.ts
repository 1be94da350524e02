/**
 * Where the stand-in devin-remote is published.
 *
 * The binary is one executable Node script; each published SHA has its own
 * bytes, so a test can tell which one ran. Nothing here is secret.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import type { Edge, HttpEnv } from './http.js';

const STATIC_PATH = '/devin-rs/remote';

interface PublishOptions {
  /** Hex; made up when absent. */
  readonly sha?: string;
  /** Whether it becomes the latest one. Default true. */
  readonly latest?: boolean;
  /** `bytes`: the binary does not match its digest. `binary`, `digest`: that file is 404. */
  readonly broken?: 'bytes' | 'binary' | 'digest';
}

export interface StaticHost {
  url(origin: string): string;
  /** Publishes a build and answers its SHA. */
  publish(options?: PublishOptions): string;
  latest(): string;
}

export function mountStatic(app: Hono<HttpEnv>, edge: Edge): StaticHost {
  const source = readFileSync(new URL('./remote/devin-remote.mjs', import.meta.url), 'utf8');
  const files = new Map<string, string>();
  let latest = '';

  const publish = ({ sha = randomBytes(20).toString('hex'), ...options }: PublishOptions = {}) => {
    if (!/^[0-9a-f]{7,64}$/.test(sha)) throw new Error(`not a hex SHA: ${sha}`);
    const name = `devin-remote_${sha}_linux_x64`;
    const binary = `#!${process.execPath}\n${source.replace("'the build'", `'${sha}'`)}`;
    const digest = createHash('sha256').update(binary).digest('hex');
    files.delete(name);
    files.delete(`${name}.sha256`);
    if (options.broken !== 'binary') {
      files.set(name, options.broken === 'bytes' ? `${binary}\n// not what was signed\n` : binary);
    }
    if (options.broken !== 'digest') files.set(`${name}.sha256`, `${digest}  ${name}\n`);
    if (options.latest !== false) latest = sha;
    return sha;
  };
  publish();

  app.get(`${STATIC_PATH}/:name`, (c) =>
    edge.handle(c, 'static', null, () => {
      const name = c.req.param('name');
      const body = name === 'latest_linux_x64' ? `${latest}\n` : files.get(name);
      if (body === undefined) return c.text('Not Found', 404);
      const isText = name.endsWith('.sha256') || name === 'latest_linux_x64';
      return c.body(body, 200, { 'content-type': isText ? 'text/plain' : 'application/octet-stream' });
    }),
  );

  return { url: (origin) => `${origin}${STATIC_PATH}`, publish, latest: () => latest };
}
