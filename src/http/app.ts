/**
 * What a deployment answers: its health, its doorbell, and nothing else to the
 * world. The operator's page is there for who sits at the machine it runs on.
 */
import { Hono } from 'hono';
import type { Deployment } from '../deployment.js';
import type { Runs } from '../ports/runs.js';
import { answerTrouble, plain } from './answers.js';
import { doorbellRoute } from './doorbell.js';
import { createHealth } from './health.js';
import { localPage } from './local-page.js';

export interface ControlAppDeps {
  readonly deployment: Deployment;
  readonly runs: Runs;
  /** Whether who asks directly gets the operator's page; never on Vercel. */
  readonly page?: boolean;
}

export function createControlApp({ page = true, ...surroundings }: ControlAppDeps): Hono {
  const { deployment } = surroundings;
  const app = new Hono();
  const healthAt = createHealth(deployment);
  app.onError((error, c) => answerTrouble(c, error, deployment));
  app.notFound((c) => c.text('There is nothing here. Try /api/health.\n', 404));
  app.use('/api/*', plain);
  app.get('/api/health', async (c) => {
    const health = await healthAt(Date.now());
    return health.status === 'unready' ? c.json(health, 503, { 'Retry-After': '10' }) : c.json(health);
  });
  app.route('/api/sessions', doorbellRoute(surroundings));
  if (page && !deployment.onVercel)
    app.route('/', localPage({ ...surroundings, health: () => healthAt(Date.now()) }));
  return app;
}
