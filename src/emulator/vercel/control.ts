/**
 * The cloud's switches over HTTP, for processes other than the one that runs it.
 *
 *     GET    /_vercel/sandboxes                          views
 *     GET    /_vercel/removed                            views of deleted sandboxes
 *     GET    /_vercel/calls                              calls per operation, and each in its order
 *     GET, POST, DELETE /_vercel/faults                  list, add (one fault or an array), clear
 *     POST   /_vercel/sandboxes/<name>/kill              {as?: 'failed' | 'aborted'}
 *     POST   /_vercel/sandboxes/<name>/expire-snapshot
 *     POST   /_vercel/sandboxes/<name>/break-snapshot    {times?}
 *
 * Every request needs the header `x-world-token`; without a world token the
 * whole tree answers 404.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { ApiError, notFound } from './api-error.js';
import type { VercelCloud } from './cloud.js';
import { faultSchema } from './faults.js';
import { parseJson, sendError, sendJson } from './http.js';
import { parseInput } from './requests.js';

export type Control = (
  request: IncomingMessage,
  path: string,
  body: Buffer,
  response: ServerResponse,
) => Promise<void>;

type Switches = Omit<VercelCloud, 'url' | 'close'>;

const killInput = z.strictObject({ as: z.enum(['failed', 'aborted']).optional() });
const breakInput = z.strictObject({ times: z.number().int().min(1).optional() });
const faultsInput = z.union([faultSchema.transform((fault) => [fault]), z.array(faultSchema)]);

export function createControl(cloud: Switches, worldToken: string | null): Control {
  return async (request, path, body, response) => {
    try {
      if (worldToken === null) throw notFound('Page');
      if (request.headers['x-world-token'] !== worldToken) {
        throw new ApiError(403, 'forbidden', 'Wrong world token.');
      }
      sendJson(response, 200, await act(cloud, `${request.method} ${path.slice('/_vercel'.length)}`, body));
    } catch (error) {
      sendError(response, error);
    }
  };
}

async function act(cloud: Switches, what: string, body: Buffer): Promise<unknown> {
  switch (what) {
    case 'GET /sandboxes':
      return { sandboxes: cloud.sandboxes() };
    case 'GET /removed':
      return { sandboxes: cloud.removed() };
    case 'GET /calls':
      return { byOperation: cloud.calls.byOperation(), calls: cloud.calls.all() };
    case 'GET /faults':
      return { faults: cloud.faults.list() };
    case 'POST /faults':
      cloud.faults.add(...parseInput(faultsInput, parseJson(body)));
      return { faults: cloud.faults.list() };
    case 'DELETE /faults':
      cloud.faults.clear();
      return { faults: [] };
  }
  const [, name = '', action] = /^POST \/sandboxes\/([\w-]+)\/([a-z-]+)$/.exec(what) ?? [];
  if (action === 'kill') await cloud.kill(name, parseInput(killInput, parseJson(body)).as);
  else if (action === 'expire-snapshot') await cloud.expireSnapshot(name);
  else if (action === 'break-snapshot') {
    cloud.breakSnapshot(name, parseInput(breakInput, parseJson(body)).times);
  } else throw notFound('Page');
  return {};
}
