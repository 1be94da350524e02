/** Outposts themselves: list, read, create, delete, under both paths that are in use. */
import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Clock } from '../../ports/clock.js';
import type { Access } from './access.js';
import { FLEET_PATH, unprocessable } from './fleet-routes.js';
import { type Edge, type HttpContext, type HttpEnv, readBody } from './http.js';
import type { Queue } from './queue.js';
import { type WireOptions, writeInstant } from './wire.js';

const createSchema = z.object({
  name: z.string().min(1),
  platform: z.string().nullish(),
  description: z.string().nullish(),
});
interface Outpost {
  readonly id: string;
  readonly createdAt: number;
  readonly spec: z.infer<typeof createSchema>;
}

export interface OutpostParts {
  readonly clock: Clock;
  readonly queue: Queue;
  readonly access: Access;
  readonly edge: Edge;
  readonly wire: WireOptions;
  readonly outpostId: string;
}

/** Answers how to make one more: its id, or null when there is one of that name. */
export function mountOutposts(
  app: Hono<HttpEnv>,
  parts: OutpostParts,
): { addOutpost(name: string): string | null } {
  const { clock, queue, access, edge, wire } = parts;
  const outposts = new Map<string, Outpost>();
  const add = (id: string, spec: Outpost['spec']) => {
    const outpost = { id, createdAt: clock.now(), spec };
    outposts.set(id, outpost);
    return outpost;
  };
  add(parts.outpostId, { name: 'emulated', platform: 'linux' });

  const write = ({ id, createdAt, spec }: Outpost) => {
    const rows = queue.rows().filter((session) => session.outpostId === id);
    const claimed = rows.filter((session) => session.entry?.phase === 'claimed');
    return {
      metadata: {
        outpost_id: id,
        account_id: 'account-emulated',
        created_at: writeInstant(createdAt + wire.skewMs, 'float'),
      },
      spec,
      status: { queue_depth: rows.length - claimed.length, active_claims: claimed.length },
    };
  };
  const answer = (
    c: HttpContext,
    scope: 'machine' | 'orchestrator',
    handler: () => Response | Promise<Response>,
  ) => edge.handle(c, 'outposts', null, () => access.refuse(c, scope) ?? handler());
  const gone = (c: HttpContext) => c.json({ detail: 'Outpost not found' }, 404);

  // The longer path first: the shorter one's `/:id` would swallow it.
  for (const path of [`${FLEET_PATH}/outposts`, FLEET_PATH]) {
    app.get(path, (c) =>
      answer(c, 'machine', () =>
        c.json({ items: [...outposts.values()].map(write), end_cursor: null, has_next_page: false }),
      ),
    );
    app.post(path, (c) =>
      answer(c, 'orchestrator', async () => {
        const body = createSchema.safeParse(await readBody(c));
        if (!body.success) return unprocessable(c, body.error, 'body');
        return c.json(write(add(`outpost_env-${randomBytes(8).toString('hex')}`, body.data)), 201);
      }),
    );
    app.get(`${path}/:id`, (c) =>
      answer(c, 'machine', () => {
        const outpost = outposts.get(c.req.param('id'));
        return outpost ? c.json(write(outpost)) : gone(c);
      }),
    );
    app.delete(`${path}/:id`, (c) =>
      answer(c, 'orchestrator', () => (outposts.delete(c.req.param('id')) ? c.body(null, 204) : gone(c))),
    );
  }

  return {
    addOutpost(name) {
      if ([...outposts.values()].some(({ spec }) => spec.name === name)) return null;
      return add(`outpost_env-${randomBytes(8).toString('hex')}`, { name, platform: 'linux' }).id;
    },
  };
}
