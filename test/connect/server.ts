/** A server of a test's own, with whatever answers it likes, on 127.0.0.1. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onEnd } from '../e2e/support.js';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Reply = (response: ServerResponse, asked: Asked) => void;

export async function serve(reply: Reply): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, url, headers, body };
    asked.push(one);
    reply(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onEnd(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

/** Says this in every way that an answer can, so that a message that repeats any of it is found. */
export const CANARY = 'canary-in-the-answer';

/** Answers that no server of theirs should give; all of them pass, or are a fault of the other side. */
export const NONSENSE: readonly (readonly [string, Reply])[] = [
  ['a page of HTML', (response) => response.end(`<!doctype html><title>${CANARY}</title>`)],
  ['half of a JSON', (response) => response.end(`{"access_token":"cog_${CANARY}","api_base`)],
  ['nothing', (response) => response.end()],
  ['null', json(200, null)],
  ['a list', json(200, [{ access_token: `cog_${CANARY}` }])],
  ['a text', json(200, CANARY)],
  [
    'more than 64 kB',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ access_token: `cog_${CANARY}`, pad: 'x'.repeat(70_000) }));
    },
  ],
  [
    'a redirect to somewhere else',
    (response) => response.writeHead(307, { location: `http://127.0.0.1:1/${CANARY}` }).end(),
  ],
  ['204', (response) => response.writeHead(204).end()],
  ['500 with a body', json(500, { error: CANARY })],
  ['503', json(503, {})],
  ['429', json(429, { error: CANARY })],
  ['a connection that is cut at once', (response) => response.destroy()],
  [
    'a connection that is cut in the middle',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write(`{"access_token":"cog_${CANARY}`);
      setImmediate(() => response.destroy());
    },
  ],
];
