import { expect, test } from 'vitest';
import { diskOf, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell } from './support.js';

test('one session’s allow list is refused -> it fails and frees its slot for the next; in the end it is parked', async () => {
  const stage = await startStage({ env: { MAX_CONCURRENT: '1' } });
  const refused = stage.devin.startSession({ script: [{ run: WRITE }] }).id;
  stage.vercel.faults.add({
    operation: 'create',
    sandbox: diskOf(refused),
    times: 1_000,
    kind: { status: 422, message: 'networkPolicy.allow[0] is no domain' },
  });
  const problem = await stage.until('a problem', async () => (await stage.row(refused))?.problem);
  expect(problem).toContain("the session's network policy");

  const next = stage.devin.startSession({ script: [{ run: WRITE }, { end: true }] }).id;
  await stage.untilState(refused, 'released.coolingOff');
  await stage.untilState(next, 'ended');
  const parked = await stage.untilState(refused, 'parked');
  expect(parked).toMatchObject({ holdsSlot: false, episode: 5 });
  const view = (await stage.orchestrator.view()).sessions.find(({ id }) => id === refused);
  expect(view?.outcome).toMatch(/^failed: .*422/);
  expectServedWell(stage, [next]);
  await expectNothingLeft(stage, [refused, next]);
});
