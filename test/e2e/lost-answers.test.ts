import { expect, test } from 'vitest';
import type { Fault } from '../../src/emulator/vercel/index.js';
import { diskOf, FIND, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell } from './support.js';

const OPERATIONS = ['create', 'get', 'runCommand', 'stop', 'extend', 'delete'] as const;
/** As often as the SDK tries by itself, so that the orchestrator has to cope, and once more. */
const lost: Fault['kind'][] = ['loseAnswer', 'loseAnswer', 'loseAnswer', 'loseAnswer'];
const mixed: Fault['kind'][] = [
  { status: 500 },
  'drop',
  { status: 429, retryAfter: 1 },
  { status: 503 },
  'garbage',
  'cut',
];

test.each([
  ['answers are lost', lost],
  ['calls fail in every other way', mixed],
])(
  '%s, at each kind of call, each at another session -> one remote and one vm at a time, files kept, nothing left',
  async (_, kinds) => {
    const stage = await startStage({ env: { SANDBOX_TIMEOUT_MS: '600000', MAX_CONCURRENT: '6' } });
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
        for (const kind of kinds)
          stage.vercel.faults.add({ operation, sandbox: diskOf(`devin-${operation}`), kind });
    };
    const struck = () =>
      OPERATIONS.filter(
        (operation) =>
          stage.vercel.faults.list().filter((fault) => fault.operation === operation).length < kinds.length,
      );
    arm();
    for (const id of ids) stage.devin.startSession({ id, script });
    for (const id of ids)
      await stage.untilSession(id, ({ status, phase }) => status === 'suspended' && phase !== 'claimed');
    expect(struck()).toEqual(['create', 'get', 'runCommand', 'stop']);
    arm();
    for (const id of ids) stage.devin.resume(id);
    for (const id of ids) await stage.untilState(id, 'ended');
    expect(struck()).toEqual(['get', 'runCommand', 'stop', 'extend', 'delete']);
    expectServedWell(stage, ids, { tooLate: 1 });
    await expectNothingLeft(stage, ids);
    for (const id of ids) expect(stage.devin.session(id).status).toBe('terminated');
    expect(stage.vercel.sandboxes()).toEqual([]);
  },
);
