import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Stage, startStage, WRITE } from './stage.js';
import { expectNothingLeft, expectServedWell, worksAt } from './support.js';

const SHA = 'c0ffee'.repeat(6);

/** What makes a remote impossible, and what the operator reads. */
const cases: [string, (stage: Stage) => string | null, RegExp][] = [
  [
    'bytes that do not match their checksum',
    (stage) => stage.devin.remotes.publish({ broken: 'bytes' }),
    /checksum/,
  ],
  ['a pinned build that is not published', () => SHA, /does not have this version/],
  [
    'a published checksum that is missing',
    (stage) => stage.devin.remotes.publish({ broken: 'digest' }),
    /does not have this version/,
  ],
  ['a SHA that is none', () => '$(touch pwned)', /not named by a SHA/],
];

test.each(cases)(
  '%s -> released with the reason, nothing executed, parked after five',
  async (_, arrange, reason) => {
    const stage = await startStage();
    const remoteSha = arrange(stage);
    const { id } = stage.devin.startSession({ remoteSha, script: [{ run: WRITE }] });
    const row = await stage.untilState(id, 'parked');
    const view = (await stage.orchestrator.view()).sessions.find((session) => session.id === id);
    expect(view?.outcome).toMatch(/^unlaunchable/);
    expect(view?.outcome).toMatch(reason);
    expect(row.episode).toBe(5);
    expect(row.holdsSlot).toBe(false);
    expect(stage.devin.session(id).remotes.list).toEqual([]);
    expect(stage.path(id).filter((state) => state === 'released.releasing')).toHaveLength(5);
    expect(executables(stage)).toEqual([]);
    await expectNothingLeft(stage, [id]);
  },
);

test('a parked session whose remote was mended -> served at the operator’s retry', async () => {
  const stage = await startStage();
  const remoteSha = stage.devin.remotes.publish({ broken: 'bytes' });
  const { id } = stage.devin.startSession({ remoteSha, script: [{ run: WRITE }, { end: true }] });
  await stage.untilState(id, 'parked');
  stage.devin.remotes.publish({ sha: remoteSha });
  expect(await stage.orchestrator.retry(id)).toBe(true);
  await stage.untilState(id, 'ended');
  expectServedWell(stage, [id]);
  expect(stage.devin.session(id).outputs).toHaveLength(1);
});

test('the static host is down for a while -> the session waits it out and is served', async () => {
  const stage = await startStage();
  const fault = stage.devin.faults.add({ on: 'static', times: null, kind: { status: 404 } });
  const { id } = stage.devin.startSession({ script: [{ run: WRITE }] });
  await stage.untilState(id, 'released.coolingOff');
  fault.remove();
  await stage.untilSession(id, worksAt(1));
  expectServedWell(stage, [id]);
});

/** Files of any sandbox's disk that could be executed. */
function executables(stage: Stage): string[] {
  return stage.vercel
    .sandboxes()
    .flatMap(({ cwd }) =>
      filesBelow(join(cwd, '..', '..')).filter(
        (file) => (statSync(file).mode & 0o111) !== 0 || readFileSync(file, 'utf8').startsWith('pwned'),
      ),
    );
}

function filesBelow(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
