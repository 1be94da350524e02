/**
 * The emulated world by HTTP, for another process: `/_world/`, JSON, with the
 * header `x-world-token`. Never part of what Devin offers.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import { type Calls, type Faults, faultSchema } from './faults.js';
import { type HttpEnv, readBody } from './http.js';
import { WrongMomentError } from './lifecycle.js';
import { type SessionSpec, type SessionView, sessionSpecSchema } from './session.js';

const WORLD_PATH = '/_world';

/** What a person or a test does to sessions; the same in this process and over HTTP. */
export interface SessionControl {
  startSession(spec?: SessionSpec): Promise<SessionView>;
  suspend(id: string): Promise<SessionView>;
  resume(id: string): Promise<SessionView>;
  end(id: string): Promise<SessionView>;
  say(id: string, command: string): Promise<{ code: number; output: string }>;
  session(id: string): Promise<SessionView>;
  sessions(): Promise<SessionView[]>;
}

/** No session of that id. */
export class UnknownSessionError extends Error {
  override readonly name = 'UnknownSessionError';
}

export function mountControl(
  app: Hono<HttpEnv>,
  parts: { token: string; control: SessionControl; faults: Faults; calls: Calls },
): void {
  const { control, faults, calls } = parts;

  app.use(`${WORLD_PATH}/*`, async (c, next) => {
    if (!sameText(c.req.header('x-world-token') ?? '', parts.token)) return c.json({ detail: 'no' }, 401);
    return next();
  });
  app.onError((error, c) => {
    if (error instanceof WrongMomentError) return c.json({ detail: error.message }, 409);
    if (error instanceof UnknownSessionError) return c.json({ detail: error.message }, 404);
    if (error instanceof z.ZodError) return c.json({ detail: z.prettifyError(error) }, 422);
    return c.json({ detail: 'internal error' }, 500);
  });

  const path = `${WORLD_PATH}/sessions`;
  app.get(path, async (c) => c.json(await control.sessions()));
  app.post(path, async (c) =>
    c.json(await control.startSession(sessionSpecSchema.parse((await readBody(c)) ?? {})), 201),
  );
  app.get(`${path}/:id`, async (c) => c.json(await control.session(c.req.param('id'))));
  app.post(`${path}/:id/say`, async (c) => {
    const { command } = z.object({ command: z.string() }).parse(await readBody(c));
    return c.json(await control.say(c.req.param('id'), command));
  });
  for (const action of ['suspend', 'resume', 'end'] as const) {
    app.post(`${path}/:id/${action}`, async (c) => c.json(await control[action](c.req.param('id'))));
  }

  app.get(`${WORLD_PATH}/faults`, (c) => c.json(faults.list()));
  app.post(`${WORLD_PATH}/faults`, async (c) =>
    c.json({ id: faults.add(faultSchema.parse(await readBody(c))).id }, 201),
  );
  app.delete(`${WORLD_PATH}/faults`, (c) => {
    faults.clear();
    return c.json([]);
  });
  app.get(`${WORLD_PATH}/calls`, (c) => c.json(calls.table()));
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
