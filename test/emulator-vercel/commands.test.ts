import { expect, test } from 'vitest';
import { isAlive, refusal, startRig, until } from './rig.js';

test('a command prints and exits -> its output, exit code and duration come back', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const done = await sandbox.runCommand('sh', ['-c', 'echo out; echo err >&2; exit 3']);
  expect(done.exitCode).toBe(3);
  expect(await done.stdout()).toBe('out\n');
  expect(await done.stderr()).toBe('err\n');
  expect(done.durationMs).toBeGreaterThanOrEqual(0);
});

test('a command asks for its environment -> it has the base, the given and the marks, nothing of the emulator', async () => {
  process.env.EMULATOR_SECRET = 'must-not-leak';
  const { create } = await startRig();
  const sandbox = await create({ env: { FROM_SANDBOX: 'a', SHARED: 'sandbox' } });
  const done = await sandbox.runCommand({ cmd: 'env', env: { FROM_COMMAND: 'b', SHARED: 'command' } });
  delete process.env.EMULATOR_SECRET;
  const env = Object.fromEntries(
    (await done.stdout())
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  );
  expect(Object.keys(env).sort()).toEqual(
    [
      'FROM_COMMAND',
      'FROM_SANDBOX',
      'HOME',
      'LANG',
      'PATH',
      'SHARED',
      'TMPDIR',
      'USER',
      'VERCEL_EMULATOR_DIR',
      'VERCEL_EMULATOR_VM',
    ].sort(),
  );
  expect(env).toMatchObject({ FROM_SANDBOX: 'a', FROM_COMMAND: 'b', SHARED: 'command', HOME: sandbox.cwd });
});

test('a command without cwd -> runs where the api says, and /vercel/sandbox means the same place', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  await sandbox.mkDir('deep');
  const plain = await sandbox.runCommand('pwd');
  const deep = await sandbox.runCommand({ cmd: 'pwd', cwd: '/vercel/sandbox/deep' });
  expect((await plain.stdout()).trim()).toBe(sandbox.cwd);
  expect((await deep.stdout()).trim()).toBe(`${sandbox.cwd}/deep`);
});

test('no such program, or no such directory -> 400', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  expect(await refusal(sandbox.runCommand('no-such-program'))).toEqual({ status: 400, code: 'bad_request' });
  expect(await refusal(sandbox.runCommand({ cmd: 'pwd', cwd: 'nowhere' }))).toMatchObject({ status: 400 });
  expect(await refusal(sandbox.runCommand({ cmd: 'pwd', cwd: '/etc' }))).toMatchObject({ status: 400 });
});

test('a detached command -> is answered at once, found again by id, and waited for', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const command = await sandbox.runCommand({
    cmd: 'sh',
    args: ['-c', 'until [ -e go ]; do sleep 0.01; done; echo gone; exit 5'],
    detached: true,
  });
  expect(command.exitCode).toBeNull();
  const again = await sandbox.getCommand(command.cmdId);
  expect(again.exitCode).toBeNull();
  const waiting = again.wait();
  await sandbox.runCommand('touch', ['go']);
  expect((await waiting).exitCode).toBe(5);
  expect((await sandbox.getCommand(command.cmdId)).exitCode).toBe(5);
  expect(await command.stdout()).toBe('gone\n');
});

test('logs of a running command -> come as they are written', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const command = await sandbox.runCommand({
    cmd: 'sh',
    args: ['-c', 'echo one; until [ -e go ]; do sleep 0.01; done; echo two'],
    detached: true,
  });
  const seen: string[] = [];
  for await (const { data } of command.logs()) {
    seen.push(data);
    if (seen.length === 1) await sandbox.runCommand('touch', ['go']);
  }
  expect(seen).toEqual(['one\n', 'two\n']);
});

test('characters that span two chunks of output -> arrive whole', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const script = `process.stdout.write(Buffer.from([0xe2]), () => setTimeout(() => process.stdout.write(Buffer.from([0x82, 0xac])), 30))`;
  const done = await sandbox.runCommand('node', ['-e', script]);
  expect(await done.stdout()).toBe('€');
});

test('a command leaves a child with its output open -> it ends, and the child lives on', async () => {
  const { create, view } = await startRig();
  const sandbox = await create();
  const done = await sandbox.runCommand('sh', ['-c', 'sleep 300 & echo started']);
  expect(done.exitCode).toBe(0);
  expect(await done.stdout()).toBe('started\n');
  const processes = view(sandbox.name).vms[0]?.processes ?? [];
  expect(processes.map(({ argv }) => argv)).toEqual([['sleep', '300']]);
});

test('kill -> the command gets the signal and its exit code says so', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const term = await sandbox.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
  await term.kill();
  expect((await term.wait()).exitCode).toBe(143);
  const trapped = await sandbox.runCommand({
    cmd: 'sh',
    args: ['-c', 'trap "exit 9" INT; echo ready; while :; do sleep 0.01; done'],
    detached: true,
  });
  for await (const _ of trapped.logs()) break;
  await trapped.kill('SIGINT');
  expect((await trapped.wait()).exitCode).toBe(9);
});

test('a command outlives its timeout -> killed with all it started, exit 137', async () => {
  const { create, view } = await startRig();
  const sandbox = await create();
  const done = await sandbox.runCommand('sh', ['-c', 'sleep 300 & sleep 301'], { timeoutMs: 50 });
  expect(done.exitCode).toBe(137);
  await until(() => view(sandbox.name).vms[0]?.processes.length === 0);
});

test('arguments of a command -> kept and shown; its environment is not', async () => {
  const { create, raw, view } = await startRig();
  const sandbox = await create();
  const { sessionId } = sandbox.currentSession();
  const command = await sandbox.runCommand({
    cmd: 'sleep',
    args: ['300'],
    env: { TOKEN: 'sesame' },
    detached: true,
  });
  const answer = await raw('GET', `/v2/sandboxes/sessions/${sessionId}/cmd/${command.cmdId}`);
  const text = await answer.text();
  expect(JSON.parse(text).command).toMatchObject({ name: 'sleep', args: ['300'], exitCode: null });
  expect(text + JSON.stringify(view(sandbox.name))).not.toContain('sesame');
});

test('files written through the api -> read back with their modes, absent ones are null', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const long = `${'d'.repeat(90)}/${'e'.repeat(90)}/file.txt`;
  await sandbox.writeFiles([
    { path: 'run.sh', content: '#!/bin/sh\necho ran', mode: 0o755 },
    { path: long, content: Buffer.from('far') },
    { path: '/vercel/sandbox/byname.txt', content: 'ünïcode' },
    { path: '/tmp/in-tmp', content: 'tmp' },
  ]);
  expect(await (await sandbox.runCommand('./run.sh')).stdout()).toBe('ran\n');
  expect(String(await sandbox.readFileToBuffer({ path: long }))).toBe('far');
  expect(String(await sandbox.readFileToBuffer({ path: 'byname.txt' }))).toBe('ünïcode');
  expect(await (await sandbox.runCommand('sh', ['-c', 'cat $TMPDIR/in-tmp'])).stdout()).toBe('tmp');
  expect(await sandbox.readFileToBuffer({ path: 'absent' })).toBeNull();
});

test('a path outside of the sandbox -> 400, and nothing is written there', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const outside = '../../../../../../../../etc/emulator-test';
  expect(await refusal(sandbox.writeFiles([{ path: '/etc/emulator-test', content: 'x' }]))).toMatchObject({
    status: 400,
  });
  expect(await refusal(sandbox.readFileToBuffer({ path: outside }))).toMatchObject({ status: 400 });
  expect(await refusal(sandbox.readFileToBuffer({ path: '/etc/hostname' }))).toMatchObject({ status: 400 });
  expect(await refusal(sandbox.mkDir('/vercel/sandbox/../../../../x'))).toMatchObject({ status: 400 });
});

test('close -> every process of every vm is dead', async () => {
  const { cloud, create, pids: pidsOf } = await startRig();
  const pids: number[] = [];
  for (let index = 0; index < 2; index++) {
    const sandbox = await create();
    await sandbox.runCommand('sh', ['-c', 'setsid sleep 300 & exit 0']);
    pids.push(...pidsOf(sandbox.name));
  }
  expect(pids.map(isAlive)).toEqual([true, true]);
  await cloud.close();
  await until(() => !pids.some(isAlive));
});
