/**
 * What all routes of the emulated cloud share: the skewed Date header, faults
 * around each call, counting, and reading hostile bodies.
 */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, MiddlewareHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Clock } from '../../ports/clock.js';
import type { Calls, Faults, Operation } from './faults.js';

export type HttpEnv = { Bindings: HttpBindings };
export type HttpContext = Context<HttpEnv>;

/** Longest body in characters; longer ones are refused. */
const BODY_LIMIT = 1_000_000;

export interface Edge {
  /** Counts the call, lets a fault strike, and otherwise handles it. */
  handle(
    c: HttpContext,
    on: Operation,
    session: string | null,
    handler: () => Response | Promise<Response>,
  ): Promise<Response>;
  /** Whether the call was struck by `stall`. */
  stalled(c: HttpContext): boolean;
}

export function createEdge(parts: { clock: Clock; faults: Faults; calls: Calls; signal: AbortSignal }): Edge {
  const { clock, faults, calls } = parts;
  const stalled = new WeakSet<object>();
  return {
    stalled: (c) => stalled.has(c.env.incoming),
    async handle(c, on, session, handler) {
      calls.note(on, session);
      const fault = faults.strike(on, session);
      if (fault === null) return handler();
      if (fault === 'drop') return cut(c);
      if (fault === 'loseAnswer') {
        await handler();
        return cut(c);
      }
      if (fault === 'garbage') return new Response('{"items": [{"metadata"', JSON_HEADERS);
      if (fault === 'hang') {
        await new Promise<void>((resolve) => {
          c.env.outgoing.once('close', resolve);
        });
        return RESPONSE_ALREADY_SENT;
      }
      if (fault === 'stall') {
        stalled.add(c.env.incoming);
        return handler();
      }
      if ('delayMs' in fault) {
        await clock.sleep(fault.delayMs, parts.signal);
        return handler();
      }
      if (fault.retryAfter !== undefined) c.header('Retry-After', fault.retryAfter);
      return c.json({ detail: `emulated ${fault.status}` }, fault.status as ContentfulStatusCode);
    },
  };
}

const JSON_HEADERS = { headers: { 'content-type': 'application/json' } };

function cut(c: HttpContext): Response {
  c.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** Every answer carries this cloud's idea of the time, even a streamed one. */
export const skewedDate =
  (now: () => number): MiddlewareHandler<HttpEnv> =>
  async (c, next) => {
    c.env.outgoing.setHeader('Date', new Date(now()).toUTCString());
    await next();
  };

/** The parsed JSON body; undefined when it is no JSON. Rejects when it is larger than the limit. */
export async function readBody(c: HttpContext): Promise<unknown> {
  if (Number(c.req.header('content-length') ?? 0) > BODY_LIMIT) throw new Error('body too large');
  const text = await c.req.text();
  if (text.length > BODY_LIMIT) throw new Error('body too large');
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const bearerOf = (authorization: string | undefined): string =>
  /^Bearer (\S+)$/.exec(authorization ?? '')?.[1] ?? '';
