import { describe, expect, test } from 'vitest';
import type { Fault } from '../../src/emulator/vercel/index.js';
import { diskOf, FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, worksAt } from './support.js';

const OPERATIONS = ['create', 'get', 'runCommand', 'stop', 'extend', 'policy', 'delete'] as const;
const KINDS: Fault['kind'][] = ['loseAnswer', 'drop', 'garbage', { status: 500 }];
const TIMES = 4;

/** More often than the SDK's own three tries, so that the orchestrator has to cope itself. */
describe.each(KINDS.map((kind) => [JSON.stringify(kind), kind] as const))('%s', (_, kind) => {
  test.each(OPERATIONS)(
    `${TIMES} times at each %s of a sandbox -> one remote at a time, one vm at a time, files kept, nothing left`,
    async (operation) => {
      const stage = await startStage({ env: { SANDBOX_TIMEOUT_MS: '600000' } });
      const script = [
        { run: WRITE },
        { suspend: true, flickerReads: 2 } as const,
        { run: FIND },
        { waitMs: 400_000 },
        { end: true } as const,
      ];
      const id = 'devin-unlucky';
      const sandbox = diskOf(id);
      stage.vercel.faults.add({ operation, sandbox, times: TIMES, kind });
      stage.devin.startSession({ id, script });
      await stage.untilSession(id, ({ status, phase }) => status === 'suspended' && phase !== 'claimed');
      stage.vercel.faults.clear();
      stage.vercel.faults.add({ operation, sandbox, times: TIMES, kind });
      stage.devin.resume(id);
      await stage.untilSession(id, worksAt(3));
      await stage.untilState(id, 'ended');
      expectServedWell(stage, [id]);
      await expectNothingLeft(stage, [id]);
      expect(stage.devin.session(id).status).toBe('terminated');
      expect(stage.vercel.sandboxes()).toEqual([]);
    },
  );
});
