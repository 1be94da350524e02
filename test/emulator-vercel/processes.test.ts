import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startVercelCloud } from '../../src/emulator/vercel/index.js';
import { createClock } from '../../src/ports/clock.js';
import { ManualClock } from './manual-clock.js';
import { isAlive, startRig, until } from './rig.js';

/** Starts `script` in a vm, stops the vm, and answers which of the pids in its file `pids` are alive then. */
async function survivors(script: string): Promise<{ before: boolean[]; after: boolean[] }> {
  const { create } = await startRig();
  const sandbox = await create();
  await sandbox.runCommand('sh', ['-c', script]);
  const text = await until(() => sandbox.readFileToBuffer({ path: 'pids' }));
  const pids = String(text).trim().split('\n').map(Number);
  const before = pids.map(isAlive);
  await sandbox.stop();
  return { before, after: pids.map(isAlive) };
}

test.each([
  ['in a session of its own', 'setsid sh -c "echo \\$\\$ > new; mv new pids; exec sleep 300" &'],
  ['that stands elsewhere', 'setsid sh -c "echo \\$\\$ > new; mv new pids; cd /; exec sleep 300" &'],
  ['with an empty environment', 'env -i sh -c "echo \\$\\$ > new; mv new pids; exec sleep 300" &'],
  [
    'with neither session, environment nor parent',
    'setsid env -i sh -c "echo \\$\\$ > new; mv new pids; exec sleep 300" &',
  ],
  [
    'that ignores signals',
    'sh -c "trap \'\' TERM INT HUP; echo \\$\\$ > new; mv new pids; while :; do sleep 1; done" &',
  ],
])('a process %s -> dies with its vm', async (_what, script) => {
  expect(await survivors(script)).toEqual({ before: [true], after: [false] });
});

test('a stop of one vm -> touches neither another vm nor a stranger that stands in the directory', async () => {
  const { create, pids } = await startRig();
  const [one, two] = await Promise.all([create(), create()]);
  await two.runCommand('sh', ['-c', 'sleep 300 &']);
  const stranger = spawn('sleep', ['300'], { cwd: one.cwd, stdio: 'ignore' });
  onTestFinished(() => {
    stranger.kill('SIGKILL');
  });
  await once(stranger, 'spawn');
  await one.stop();
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  expect(pids(two.name).every(isAlive)).toBe(true);
});

test('the emulator is killed -> the next one in the same directory ends what it left, and starts empty', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'vercel-cloud-'));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'killed-emulator.ts'), dir],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const pid = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(isAlive(pid)).toBe(true);
  const { cloud } = await startRig({ dir });
  expect(isAlive(pid)).toBe(false);
  expect(cloud.sandboxes()).toEqual([]);
});

test('a directory that a living emulator uses -> refused, and that one goes on', async () => {
  const { create, dir } = await startRig();
  const sandbox = await create();
  await expect(startVercelCloud({ clock: createClock(), dir })).rejects.toThrow(/in use/);
  expect((await sandbox.runCommand('true')).exitCode).toBe(0);
});

test('close while a vm stops slowly and clients wait -> ends, and every client gets an end', async () => {
  const clock = new ManualClock();
  const { cloud, create, view } = await startRig({ clock, stopMs: 1000 });
  const [stopping, waiting] = await Promise.all([create(), create()]);
  const command = await waiting.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
  const patience = new AbortController();
  const ends = [stopping.stop({ signal: patience.signal }), command.wait({ signal: patience.signal })].map(
    (call) =>
      call.then(
        () => 'answered',
        () => 'refused',
      ),
  );
  await until(
    () => cloud.calls.count({ operation: 'commandWait' }) === 1 && view(stopping.name).status === 'stopping',
  );
  await Promise.all([cloud.close(), cloud.close()]);
  patience.abort();
  expect(await Promise.all(ends)).toEqual(['refused', 'refused']);
  expect(clock.waiting).toBe(0);
});

test('the port is taken -> refused, and the directory is free again', async () => {
  const { cloud } = await startRig();
  const dir = await mkdtemp(join(tmpdir(), 'vercel-cloud-'));
  const port = Number(new URL(cloud.url).port);
  await expect(startVercelCloud({ clock: createClock(), dir, port })).rejects.toThrow(/EADDRINUSE/);
  const next = await startRig({ dir });
  expect(next.cloud.sandboxes()).toEqual([]);
});
