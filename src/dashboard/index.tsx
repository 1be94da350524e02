/**
 * The operator's page: what every session does now, and buttons to act.
 *
 * Knows nothing but what it is given; reads no store and decides nothing.
 * Who may see it, and act on it, is the admission's business.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { messageOf } from '../errors.js';
import type { Admission } from './admission.js';
import { assetRoutes } from './assets.js';
import { streamLive } from './events.js';
import { drawn } from './layout.js';
import { createNotes } from './notes.js';
import { Page, type PageProps } from './page.js';
import { Live } from './sessions.js';
import { ACTION_NAMES, type ActionAnswer, type ActionName, type FleetView, type Health } from './view.js';

export interface DashboardDeps {
  view(): Promise<FleetView>;
  /** Yields whenever something that `view` shows may have changed; ends when `signal` aborts. */
  changes(signal: AbortSignal): AsyncIterable<void>;
  health(): Promise<Health>;
  /** What is absent is not offered. `start` takes no id. */
  readonly actions: Readonly<Partial<Record<ActionName, (id?: string) => Promise<ActionAnswer>>>>;
  readonly admission: Admission;
  readonly title: string;
  readonly world: PageProps['world'];
  log(line: string): void;
}

const actionName = z.enum(ACTION_NAMES);
const sessionId = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/)
  .optional();

export function createDashboard(deps: DashboardDeps): Hono {
  const app = new Hono();
  const notes = createNotes();
  const { admission } = deps;
  const offered = ACTION_NAMES.filter((name) => deps.actions[name]);
  const contextOf = (c: Context) => {
    const visitor = admission.visitor(c);
    const available = new Set(visitor.role === 'operator' ? offered : []);
    return { token: visitor.token, visitor, available };
  };

  app.onError((error, c) => {
    deps.log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(error)}`);
    return c.text('Something is wrong here; the log says what.\n', 500);
  });
  app.notFound((c) => c.text('There is no such page.\n', 404));
  app.use(admission.gate);

  app.route('/', assetRoutes());

  app.get('/', async (c) => {
    const { title, world } = deps;
    const note = notes.take(c.req.query('note') ?? '');
    const page = <Page title={title} world={world} view={await deps.view()} note={note} {...contextOf(c)} />;
    return c.html(await drawn(page));
  });

  app.get('/events', (c) => {
    const context = contextOf(c);
    return streamLive(c, {
      changes: deps.changes,
      draw: async () => String(await (<Live view={await deps.view()} {...context} />).toString()),
    });
  });

  app.get('/api/sessions', async (c) => c.json(await deps.view()));

  app.get('/api/health', async (c) => {
    const health = await deps
      .health()
      .catch((error): Health => ({ kind: 'unready', reason: messageOf(error) }));
    return health.kind === 'ready'
      ? c.json({ status: 'ok', ...health.details }, 200)
      : c.json({ status: 'unready', reason: health.reason }, 503);
  });

  const small = bodyLimit({ maxSize: 4096, onError: (c) => c.text('The form is too large.\n', 413) });
  app.post('/actions/:name', small, async (c) => {
    const form = new URLSearchParams(await c.req.text());
    if (admission.visitor(c).role !== 'operator') return c.text('It takes an operator to act.\n', 403);
    if (!admission.isToken(c, c.req.header('x-action-token') ?? form.get('token') ?? ''))
      return c.text('This page is out of date: the orchestrator was restarted. Load it again.\n', 403);
    const name = actionName.safeParse(c.req.param('name')).data;
    const act = name && deps.actions[name];
    if (!act) return c.text('There is no such action here.\n', 404);
    const id = sessionId.safeParse(form.get('id') ?? undefined);
    if (!id.success) return c.text('The form has to name a session by its id.\n', 400);
    const answer = await act(id.data).catch((error) => ({ ok: false, message: messageOf(error) }));
    if (c.req.header('accept')?.includes('application/json')) return c.json(answer, answer.ok ? 200 : 409);
    return c.redirect(`/?note=${notes.keep(answer)}`, 303);
  });

  return app;
}
