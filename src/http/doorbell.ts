/**
 * The doorbell's route: a vm says "look now".
 *
 * Tells nothing back: the answer is the same whether there is such a session,
 * whether the key fits and whether anything came of it. A ring carries no
 * facts; the session's actor looks for itself.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Deployment } from '../deployment.js';
import { createDoorbell } from '../doorbell.js';
import { createLimiter } from '../operators/limiter.js';
import type { Runs } from '../ports/runs.js';

/** Rings of one session that wake its run: each costs a look at its vm. */
const EACH = { burst: 6, perSecond: 1 / 10 };

const ring = z.object({
  sessionId: z.string().regex(/^[^\p{Cc}]{1,200}$/u),
  key: z.string().regex(/^Bearer [\w.-]{20,100}$/),
});

export function doorbellRoute({ deployment, runs }: { deployment: Deployment; runs: Runs }): Hono {
  const app = new Hono();
  const each = createLimiter(EACH);

  app.post('/:id/doorbell', async (c) => {
    const rung = ring.safeParse({ sessionId: c.req.param('id'), key: c.req.header('authorization') });
    if (rung.success) await answer(rung.data.sessionId, rung.data.key.slice('Bearer '.length));
    return nothing(c);
  });
  return app;

  async function answer(sessionId: string, key: string): Promise<void> {
    const secret = deployment.cronSecret?.reveal();
    if (secret === undefined) return;
    // Who has no key costs a computation and nothing else, whatever they send and however often.
    const episode = createDoorbell({ secret, baseUrl: '' }).episodeOf(sessionId, key);
    if (episode === null || !each.admits(sessionId)) return;
    const { store } = await deployment.base();
    if ((await store.read(sessionId))?.episode !== episode) return;
    await store.post(sessionId, JSON.stringify({ type: 'doorbell.rung' }), { once: true });
    await runs.ring(sessionId);
  }
}

const nothing = (c: Context) => c.body(null, 204);
