/**
 * Devin's cloud as a real HTTP server on 127.0.0.1: the fleet API, the static
 * host of devin-remote, and the gateway that the remote connects to.
 *
 * Keeps everything in memory. Never runs a command itself: that is done by the
 * stand-in remote, wherever the orchestrator starts it.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { withDeadline } from '../../ports/clock.js';
import { createAccess } from './access.js';
import type { DevinCloud, DevinCloudOptions } from './cloud.js';
import { mountConnect } from './connect.js';
import { mountControl, type SessionControl, UnknownSessionError } from './control.js';
import { createCalls, createFaults } from './faults.js';
import { mountFleet } from './fleet-routes.js';
import { mountGateway } from './gateway.js';
import { createEdge, type HttpEnv, skewedDate } from './http.js';
import { createJournal } from './journal.js';
import { createLifecycle, WrongMomentError } from './lifecycle.js';
import { mountOutposts } from './outpost-routes.js';
import { createQueue } from './queue.js';
import { createSession, type Session, type SessionSpec, viewOf } from './session.js';
import { mountStatic } from './static-host.js';

export type { DevinCloud, DevinCloudOptions } from './cloud.js';
export type { SessionControl } from './control.js';
export type { Step } from './script.js';
export type { SessionView } from './session.js';

/** Resolves when it listens; rejects when the port is taken. */
export async function startDevinCloud(options: DevinCloudOptions): Promise<DevinCloud> {
  const { clock } = options;
  const skewMs = options.skewMs ?? 0;
  const closing = new AbortController();
  const { signal } = closing;
  setMaxListeners(0, signal);
  const outpostId = options.outpostId ?? `outpost_env-${randomBytes(8).toString('hex')}`;
  const worldToken = options.worldToken ?? randomBytes(24).toString('base64url');
  const wire = { style: options.timestampStyle ?? 'seconds', skewMs } as const;

  const journal = createJournal(clock);
  const queue = createQueue(
    {
      clock,
      claimTtlMs: options.claimTtlMs ?? 300_000,
      leftoverMs: options.leftoverMs ?? 15_000,
      keepDeadlineWhileRunning: options.keepDeadlineWhileRunning ?? false,
      wire,
      signal,
    },
    journal,
  );
  const lifecycle = createLifecycle(
    {
      clock,
      statusLagMs: options.statusLagMs ?? 2_000,
      giveUpMs: options.giveUpMs ?? 300_000,
      lostRemoteStatus: options.lostRemoteStatus ?? 'running',
      signal,
    },
    queue,
    journal,
  );
  const faults = createFaults();
  const calls = createCalls();
  const access = createAccess();
  const token = access.mint(['machine', 'orchestrator'], options.token);
  const edge = createEdge({ clock, faults, calls, signal });

  const find = (id: string): Session => {
    const session = queue.sessions.get(id);
    if (!session) throw new UnknownSessionError(`no session ${id}`);
    queue.settle(session);
    return session;
  };
  const act = (id: string, action: (session: Session) => void) => {
    const session = find(id);
    action(session);
    return viewOf(session);
  };
  const startSession = (spec: SessionSpec = {}) => {
    const id = spec.id ?? `devin-${randomBytes(16).toString('hex')}`;
    if (queue.sessions.has(id)) throw new WrongMomentError(`${id} exists already`);
    const session = createSession(id, outpostId, spec);
    setMaxListeners(0, session.over.signal);
    lifecycle.start(session);
    return viewOf(session);
  };
  const sessions = {
    startSession,
    suspend: (id: string) => act(id, (session) => lifecycle.suspend(session)),
    resume: (id: string) => act(id, (session) => lifecycle.resume(session)),
    end: (id: string) => act(id, (session) => lifecycle.end(session)),
    say: async (id: string, command: string) => lifecycle.say(find(id), command),
    session: (id: string) => viewOf(find(id)),
    sessions: () => [...queue.sessions.keys()].map((id) => viewOf(find(id))),
  };
  const control: SessionControl = {
    startSession: async (spec) => sessions.startSession(spec),
    suspend: async (id) => sessions.suspend(id),
    resume: async (id) => sessions.resume(id),
    end: async (id) => sessions.end(id),
    say: sessions.say,
    session: async (id) => sessions.session(id),
    sessions: async () => sessions.sessions(),
  };

  const app = new Hono<HttpEnv>();
  let url = '';
  app.notFound((c) => c.json({ detail: 'Not Found' }, 404));
  app.use(skewedDate(() => clock.now() + skewMs));
  mountControl(app, { token: worldToken, control, faults, calls });
  options.extend?.(app);
  const staticHost = mountStatic(app, edge);
  const gateway = mountGateway(app, { clock, queue, lifecycle, journal, edge });
  mountFleet(app, {
    queue,
    lifecycle,
    access,
    edge,
    faults,
    wire,
    watch: {
      clock,
      maxMs: options.watchMaxMs ?? 300_000,
      keepaliveMs: options.keepaliveMs ?? 15_000,
      signal,
    },
    gatewayUrl: () => `${url}/gateway`,
  });
  const { addOutpost } = mountOutposts(app, { clock, queue, access, edge, wire, outpostId });
  const connect = mountConnect(app, { clock, access, edge, url: () => url, addOutpost });
  connect.callbacks.push(...(options.connectCallbacks ?? []));

  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server;
  // A remote's stream and a hanging call may outlive any default.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    ...sessions,
    url,
    staticUrl: staticHost.url(url),
    gatewayUrl: `${url}/gateway`,
    token,
    worldToken,
    outpostId,
    connectUrl: `${url}/outposts/connect`,
    connect,
    faults,
    calls,
    access,
    remotes: staticHost,
    control,
    on: (listener) => journal.on((session, event) => listener(event, session.id)),
    async until(id, holds, timeoutMs = 30_000) {
      const session = find(id);
      const limit = withDeadline(timeoutMs, signal);
      await journal
        .until(session, () => holds(viewOf(session)), limit.signal)
        .finally(limit.clear)
        .catch(() => {
          const { status, phase, events } = viewOf(session);
          const story = events.map((event) => `${event.kind} ${event.text}`).join(', ');
          throw new Error(`waited in vain for ${id} (${status}, ${phase}): ${story}`);
        });
      return viewOf(session);
    },
    cutRemotes: gateway.cut,
    async close() {
      closing.abort(new Error('the cloud is closed'));
      gateway.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        setImmediate(() => server.closeAllConnections());
      });
    },
  };
}
