import { expect, test } from 'vitest';
import type { Fault } from '../../src/emulator/vercel/index.js';
import { diskOf, FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell } from './support.js';

const OPERATIONS = ['create', 'get', 'runCommand', 'stop', 'extend', 'policy', 'delete'] as const;
/** More often than the SDK tries by itself, so that the orchestrator has to cope. */
const TIMES = 4;

const kinds: [string, Fault['kind']][] = [
  ['answers are lost', 'loseAnswer'],
  ['connections are cut', 'drop'],
  ['answers are no JSON', 'garbage'],
  ['answers are 500', { status: 500 }],
];

test.each(kinds)(
  `%s, ${TIMES} times at each kind of call, each at another session -> one remote and one vm at a time, files kept, nothing left`,
  async (_, kind) => {
    const stage = await startStage({ env: { SANDBOX_TIMEOUT_MS: '600000', MAX_CONCURRENT: '7' } });
    const script = [
      { run: WRITE },
      { suspend: true, flickerReads: 2 } as const,
      { run: FIND },
      { waitMs: 400_000 },
      { end: true } as const,
    ];
    const ids = OPERATIONS.map((operation) => `devin-${operation}`);
    const arm = () => {
      stage.vercel.faults.clear();
      for (const operation of OPERATIONS)
        stage.vercel.faults.add({ operation, sandbox: diskOf(`devin-${operation}`), times: TIMES, kind });
    };
    arm();
    for (const id of ids) stage.devin.startSession({ id, script });
    for (const id of ids)
      await stage.untilSession(id, ({ status, phase }) => status === 'suspended' && phase !== 'claimed');
    arm();
    for (const id of ids) stage.devin.resume(id);
    for (const id of ids) await stage.untilSession(id, ({ step }) => step >= 3);
    for (const id of ids) await stage.untilState(id, 'ended');
    expectServedWell(stage, ids);
    await expectNothingLeft(stage, ids);
    for (const id of ids) expect(stage.devin.session(id).status).toBe('terminated');
    expect(stage.vercel.sandboxes()).toEqual([]);
    expect(stage.vercel.faults.list().filter(({ operation }) => operation !== 'extend')).toEqual([]);
  },
);
