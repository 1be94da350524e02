/**
 * `/opbeta/outposts/devins`: list, read, claim, release, and the way to the watch.
 *
 * Answers as the real API does, its oddities included: the last page has a
 * cursor too, and a page begins with the row that the page before ended with.
 */
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Access } from './access.js';
import type { Faults, Operation } from './faults.js';
import { type Edge, type HttpContext, type HttpEnv, readBody } from './http.js';
import type { Lifecycle } from './lifecycle.js';
import type { Queue } from './queue.js';
import type { Session } from './session.js';
import { answerWatch, type WatchOptions } from './watch.js';
import { comparePlaces, readCursor, type WireOptions, type WireRow, writeCursor, writeRow } from './wire.js';

export const FLEET_PATH = '/opbeta/outposts';

const listQuerySchema = z.object({
  outpost: z.string().optional(),
  phase: z.enum(['pending', 'claimed']).optional(),
  acceptor_id: z.string().optional(),
  first: z.coerce.number().int().min(1).max(200).default(100),
  cursor: z.string().optional(),
  watch: z.enum(['true', 'false', '1', '0']).optional(),
});
const acceptorSchema = z.object({ acceptor_id: z.string().min(1).max(512) });

export interface FleetParts {
  readonly queue: Queue;
  readonly lifecycle: Lifecycle;
  readonly access: Access;
  readonly edge: Edge;
  readonly faults: Faults;
  readonly wire: WireOptions;
  readonly watch: WatchOptions;
  readonly gatewayUrl: () => string;
}

export function mountFleet(app: Hono<HttpEnv>, parts: FleetParts): void {
  const { queue, access, edge } = parts;

  const guarded = (
    c: HttpContext,
    on: Operation,
    session: string | null,
    handler: () => Response | Promise<Response>,
  ) => edge.handle(c, on, session, () => access.refuse(c, 'machine') ?? handler());

  app.get(`${FLEET_PATH}/devins`, (c) => {
    const watching = ['true', '1'].includes(c.req.query('watch') ?? '');
    return guarded(c, watching ? 'watch' : 'list', null, () => {
      const query = listQuerySchema.safeParse(c.req.query());
      if (!query.success) return unprocessable(c, query.error, 'query');
      const after = query.data.cursor === undefined ? null : readCursor(query.data.cursor);
      if (query.data.cursor !== undefined && !after) return c.json({ detail: 'Invalid cursor' }, 400);
      if (watching) {
        const { outpost } = query.data;
        return answerWatch(c, { queue, after, outpost, stalled: edge.stalled(c) }, parts.watch);
      }
      return c.json(listPage(parts, query.data, after));
    });
  });

  app.get(`${FLEET_PATH}/devins/:id`, (c) => {
    const id = c.req.param('id');
    return guarded(c, 'read', id, () => {
      const session = queue.look(id);
      if (!session) return notInQueue(c);
      const row = lookedAt(session, parts.wire);
      for (const { kind } of parts.faults.shapes('read', [id])) bendRow(row, kind);
      return c.json(row);
    });
  });

  app.post(`${FLEET_PATH}/devins/:id/claim`, (c) => {
    const id = c.req.param('id');
    return guarded(c, 'claim', id, async () => {
      const body = acceptorSchema.safeParse(await readBody(c));
      if (!body.success) return unprocessable(c, body.error, 'body');
      const answer = queue.claim(id, body.data.acceptor_id);
      if (answer.kind === 'gone') return notInQueue(c);
      if (answer.kind === 'taken') return c.json({ detail: 'Session is claimed by another acceptor' }, 409);
      if (answer.first) parts.lifecycle.expectRemote(answer.session);
      const row = writeRow(answer.session, parts.wire);
      row.status = { ...row.status, connect_token: answer.token, gateway_url: parts.gatewayUrl() };
      return c.json(row, answer.first ? 201 : 200);
    });
  });

  app.post(`${FLEET_PATH}/devins/:id/release`, (c) => {
    const id = c.req.param('id');
    return guarded(c, 'release', id, async () => {
      const body = acceptorSchema.safeParse(await readBody(c));
      if (!body.success) return unprocessable(c, body.error, 'body');
      const answer = queue.release(id, body.data.acceptor_id);
      if (answer === 'gone') return notInQueue(c);
      if (answer === 'notYours') return c.json({ detail: 'Session is not claimed by this acceptor' }, 409);
      const session = queue.look(id);
      return session ? c.json(writeRow(session, parts.wire)) : c.body(null, 204);
    });
  });
}

/** FastAPI's shape of a rejected input. */
export function unprocessable(c: HttpContext, error: z.ZodError, where: 'body' | 'query'): Response {
  const detail = error.issues.map((issue) => ({
    loc: [where, ...issue.path.map(String)],
    msg: issue.message,
    type: issue.code,
  }));
  return c.json({ detail }, 422);
}

const notInQueue = (c: HttpContext) => c.json({ detail: 'Session not found in queue' }, 404);

function listPage(
  { queue, faults, wire }: FleetParts,
  query: z.infer<typeof listQuerySchema>,
  after: { at: number; id: string } | null,
) {
  const matching = queue
    .rows()
    .filter(
      (session) =>
        (query.outpost === undefined || session.outpostId === query.outpost) &&
        (query.phase === undefined || session.entry?.phase === query.phase) &&
        (query.acceptor_id === undefined || session.entry?.acceptorId === query.acceptor_id),
    )
    .sort((a, b) => comparePlaces(queue.placeOf(a), queue.placeOf(b)));
  // The border row comes again, except on pages of one, which would never end.
  const border = query.first > 1 ? 0 : 1;
  const rest = after
    ? matching.filter((session) => comparePlaces(queue.placeOf(session), after) >= border)
    : matching;
  const page = rest.slice(0, query.first);
  const last = page.at(-1);
  let items = page.map((session) => lookedAt(session, wire));
  let cursor = last ? writeCursor(queue.placeOf(last)) : (query.cursor ?? null);
  let more = rest.length > page.length;

  const ids = page.map((session) => session.id);
  for (const { kind, session } of faults.shapes('list', ids)) {
    const struck = items.find((row) => row.metadata.session_id === (session ?? ids[0]));
    if (kind === 'wedgedCursor') {
      cursor = query.cursor ?? cursor;
      more = true;
    } else if (!struck) continue;
    else if (kind === 'duplicateRow') items.push(structuredClone(struck));
    else if (kind === 'missingRow') items = items.filter((row) => row !== struck);
    else bendRow(struck, kind);
  }
  return { items, cursor, has_next_page: more, total: matching.length };
}

/** The row as a reader sees it: a session that is about to sleep may say so too early. */
function lookedAt(session: Session, wire: WireOptions): WireRow {
  const row = writeRow(session, wire);
  if (session.flickerReads > 0) {
    session.flickerReads -= 1;
    row.status.session_status = 'suspended';
  }
  return row;
}

function bendRow(row: WireRow, kind: ReturnType<Faults['shapes']>[number]['kind']): void {
  if (typeof kind === 'object') row.status.session_status = kind.flicker;
  else if (kind === 'strangers') {
    row.metadata.brand_new_field = { nested: [1, null] };
    row.spec.kind = 'kind-of-tomorrow';
    row.status.phase = row.status.phase === 'pending' ? 'pending' : 'phase-of-tomorrow';
    row.status.session_status = 'status-of-tomorrow';
  }
}
