import { expect, test } from 'vitest';
import { FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, worksAt } from './support.js';

const MINUTE_MS = 60_000;

test.each([
  ['Devin’s clock is 10 minutes behind', { devin: -10 }],
  ['Devin’s clock is 6 minutes ahead', { devin: 6 }],
  ['Vercel’s clock is 10 minutes behind', { vercel: -10 }],
  ['Vercel’s clock is 6 minutes ahead', { vercel: 6 }],
  ['Devin’s is 10 minutes behind and Vercel’s 6 ahead', { devin: -10, vercel: 6 }],
  ['Devin’s is 6 minutes ahead and Vercel’s 10 behind', { devin: 6, vercel: -10 }],
])('%s -> claims are renewed in time, vms extended in time, nothing stopped early', async (_, skew) => {
  const { devin = 0, vercel = 0 } = skew as { devin?: number; vercel?: number };
  const stage = await startStage({
    devin: { skewMs: devin * MINUTE_MS, keepDeadlineWhileRunning: true },
    vercel: { skewMs: vercel * MINUTE_MS },
  });
  const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
  await stage.untilSession(id, worksAt(1));
  // Longer than a claim and longer than a vm's first life.
  await stage.pass(26 * MINUTE_MS);
  const { remotes, events, claims } = stage.devin.session(id);
  expect(remotes).toMatchObject({ ever: 1, now: 1 });
  expect(events.filter(({ kind }) => kind === 'lapsed' || kind === 'released')).toEqual([]);
  for (const [index, claim] of claims.entries())
    expect((claims[index + 1]?.at ?? stage.clock.now()) - claim.at).toBeLessThan(300_000);
  expect(stage.vercel.sandboxes()[0]?.vms).toHaveLength(1);
  expect(stage.path(id)).toContain('extending');
  expect(await stage.devin.say(id, FIND)).toMatchObject({ code: 0 });
  stage.devin.end(id);
  await stage.untilState(id, 'ended');
  expectServedWell(stage, [id]);
  await expectNothingLeft(stage, [id]);
});
