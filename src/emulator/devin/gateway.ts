/**
 * The gateway that the stand-in remote connects to.
 *
 * One ndjson stream of orders per remote, answers by separate posts. One remote
 * at a time may be connected to a session; every process that tries is recorded.
 * Tokens come from claims and die with them.
 */
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { Clock } from '../../ports/clock.js';
import { bearerOf, type Edge, type HttpContext, type HttpEnv, readBody } from './http.js';
import type { Journal } from './journal.js';
import type { Lifecycle } from './lifecycle.js';
import type { Queue } from './queue.js';
import { isEnded, type Order, type Remote, type Session } from './session.js';

const connectSchema = z.object({
  session_id: z.string(),
  instance: z.string(),
  pid: z.int(),
  build: z.string(),
  cwd: z.string(),
  env_names: z.array(z.string()),
  starts: z.int(),
});
const reportSchema = z.object({
  session_id: z.string(),
  instance: z.string(),
  order: z.string(),
  code: z.int(),
  output: z.string(),
});
const byeSchema = z.object({ session_id: z.string(), instance: z.string(), code: z.int() });

export interface GatewayParts {
  readonly clock: Clock;
  readonly queue: Queue;
  readonly lifecycle: Lifecycle;
  readonly journal: Journal;
  readonly edge: Edge;
}

export interface Gateway {
  /** Cuts the streams of a session's remotes, or of all; the processes live on and come back. */
  cut(sessionId?: string): void;
  /** Tells every connected remote to end: the cloud goes away. */
  close(): void;
}

export function mountGateway(app: Hono<HttpEnv>, parts: GatewayParts): Gateway {
  const { clock, queue, lifecycle, journal, edge } = parts;
  const streams = new Map<string, { session: Session; remote: Remote; out: ServerResponse }>();

  const streamOf = (session: Session) =>
    [...streams.values()].find((stream) => stream.session === session && stream.remote.connected);
  const write = (out: ServerResponse, line: object) => out.write(`${JSON.stringify(line)}\n`);

  /** Sends what was not sent to this remote yet. */
  const deliver = (session: Session) => {
    const stream = streamOf(session);
    if (!stream) return;
    for (const order of session.orders) {
      if (order.toldTo !== null) continue;
      order.toldTo = stream.remote.instance;
      write(stream.out, lineOf(order));
    }
  };

  const disconnect = (session: Session, remote: Remote, out: ServerResponse) => {
    if (streams.get(remote.instance)?.out !== out) return;
    streams.delete(remote.instance);
    remote.connected = false;
    remote.lastSeenAt = clock.now();
    remote.lastSeq = journal.note(session, 'disconnected', remote.instance);
    lifecycle.disconnected(session, remote.instance);
  };

  lifecycle.onOrder(deliver);
  journal.onClaimEnded((session) => {
    const stream = streamOf(session);
    if (stream) stream.out.end(`${JSON.stringify({ order: 'revoked' })}\n`);
  });

  /** The session that a token of this body's session id opens; null for anything else. */
  const authenticate = (id: string, authorization: string | undefined) => {
    const session = queue.look(id);
    return session?.entry?.tokens.has(bearerOf(authorization)) ? session : null;
  };

  app.post('/gateway/connect', (c) =>
    edge.handle(c, 'gateway', sessionOf(c), async () => {
      const body = connectSchema.safeParse(await readBody(c));
      if (!body.success) return c.json({ detail: 'malformed' }, 422);
      const hello = body.data;
      const session = authenticate(hello.session_id, c.req.header('authorization'));
      if (!session) return c.json({ detail: 'unknown connect token' }, 401);

      const other = streamOf(session);
      const wrongBuild = session.remoteSha !== null && session.remoteSha !== hello.build;
      const taken = other !== undefined && other.remote.instance !== hello.instance;
      const known = session.remotes.find((remote) => remote.instance === hello.instance && !remote.refused);
      if (taken || wrongBuild) {
        const why = taken ? 'another remote is connected' : `build ${hello.build} is not the pinned one`;
        const seq = journal.note(session, 'refused', why);
        session.remotes.push(newRemote(hello, session, { seq, at: clock.now(), refused: true }));
        return c.json({ detail: why }, taken ? 409 : 403);
      }

      const before = streams.get(hello.instance);
      if (before) {
        // It gave up a stream that we still held for alive.
        disconnect(before.session, before.remote, before.out);
        before.out.destroy();
      }
      const seq = journal.note(session, 'connected', hello.instance);
      const remote = known ?? newRemote(hello, session, { seq, at: clock.now(), refused: false });
      if (!known) session.remotes.push(remote);
      remote.connections += 1;
      remote.connected = true;

      const out = c.env.outgoing;
      out.writeHead(200, { 'content-type': 'application/x-ndjson' });
      streams.set(hello.instance, { session, remote, out });
      out.on('close', () => disconnect(session, remote, out));
      write(out, { order: 'hello' });
      // Whoever joins, or comes back to, a session that stops has only this to do.
      if (session.wish !== 'run' || isEnded(session)) write(out, { order: 'sleep' });
      lifecycle.connected(session);
      return RESPONSE_ALREADY_SENT;
    }),
  );

  app.post('/gateway/report', (c) =>
    edge.handle(c, 'gateway', sessionOf(c), async () => {
      const body = reportSchema.safeParse(await readBody(c));
      if (!body.success) return c.json({ detail: 'malformed' }, 422);
      const session = authenticate(body.data.session_id, c.req.header('authorization'));
      if (!session) return c.json({ detail: 'unknown connect token' }, 401);
      lifecycle.reported(session, body.data.order, body.data);
      return c.json({});
    }),
  );

  app.post('/gateway/bye', (c) =>
    edge.handle(c, 'gateway', sessionOf(c), async () => {
      const body = byeSchema.safeParse(await readBody(c));
      if (!body.success) return c.json({ detail: 'malformed' }, 422);
      const session = authenticate(body.data.session_id, c.req.header('authorization'));
      const remote = session?.remotes.find((candidate) => candidate.instance === body.data.instance);
      if (!remote) return c.json({ detail: 'unknown connect token' }, 401);
      remote.exitCode = body.data.code;
      return c.json({});
    }),
  );

  return {
    cut(sessionId) {
      for (const { session, out } of [...streams.values()]) {
        if (sessionId === undefined || session.id === sessionId) out.destroy();
      }
    },
    close() {
      for (const { out } of streams.values()) out.end(`${JSON.stringify({ order: 'revoked' })}\n`);
    },
  };
}

/** The session id that a remote names ahead of its body, for faults and counts. */
function sessionOf(c: HttpContext): string | null {
  try {
    return decodeURIComponent(c.req.header('x-session-id') ?? '') || null;
  } catch {
    return null;
  }
}

const lineOf = ({ id, order, command, code }: Order) => ({ id, order, command, code });

function newRemote(
  hello: z.infer<typeof connectSchema>,
  session: Session,
  seen: { seq: number; at: number; refused: boolean },
): Remote {
  return {
    instance: hello.instance,
    pid: hello.pid,
    build: hello.build,
    cwd: hello.cwd,
    envNames: [...hello.env_names].sort(),
    starts: hello.starts,
    acceptorId: session.entry?.acceptorId ?? null,
    refused: seen.refused,
    firstSeq: seen.seq,
    lastSeq: seen.seq,
    connectedAt: seen.at,
    lastSeenAt: seen.at,
    connected: false,
    connections: 0,
    exitCode: null,
  };
}
