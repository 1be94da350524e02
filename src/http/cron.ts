/**
 * The cron's route: one authenticated request is one bounded pass.
 *
 * Fails closed: without a secret in the settings nobody is let in. Says nothing
 * to who does not know it.
 */
import { Hono } from 'hono';
import type { Deployment } from '../deployment.js';
import { assemble } from '../parts.js';
import { runPass, WINDOW_MS } from '../pass/pass.js';
import type { Runs } from '../ports/runs.js';
import { isSameSecret } from '../vault/same-secret.js';
import { answerTrouble, plain } from './answers.js';

export function createCronApp({ deployment, runs }: { deployment: Deployment; runs: Runs }): Hono {
  const app = new Hono();
  app.use(plain);
  app.notFound((c) => c.text('There is nothing here.\n', 404));
  app.onError((error, c) => answerTrouble(c, error, deployment));
  app.get('/api/cron', async (c) => {
    const arrivedAt = performance.now();
    const secret = deployment.cronSecret?.reveal() ?? null;
    const [scheme, given = ''] = (c.req.header('authorization') ?? '').split(' ');
    if (secret === null || scheme !== 'Bearer' || !isSameSecret(given, secret))
      return c.text('The cron secret is needed.\n', 401, { 'WWW-Authenticate': 'Bearer' });
    const base = await deployment.base();
    // Beside the pass: no session waits for somebody who connects.
    const connecting = deployment.connections().then((connections) => connections?.driveDue());
    connecting.catch(() => undefined);
    if ((await base.account.current()) === null) {
      await connecting;
      if ((await base.account.current()) === null) return c.json({ kind: 'unconnected' });
    }
    const report = await runPass({
      parts: await assemble(base),
      runs,
      deploymentId: deployment.id,
      windowMs: WINDOW_MS / deployment.speed - (performance.now() - arrivedAt),
    });
    await connecting;
    return c.json(report);
  });
  return app;
}
