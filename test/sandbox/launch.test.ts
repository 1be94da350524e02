/** The supervisor's script: what it starts, what it refuses, and what it leaves behind. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LaunchSpec } from '../../src/ports/sandbox.js';
import { waitCommand } from '../../src/sandbox/sight.js';
import { NOT_FIRST } from '../../src/sandbox/supervisor.js';
import {
  dir,
  ended,
  finish,
  launch,
  look,
  pids,
  readOr,
  running,
  started,
  starts,
  statics,
  useDirectory,
} from './directory.js';
import { REMOTE, SHA, until } from './support.js';

useDirectory();

describe('a remote that comes up', () => {
  test('starting, running, exited: the look follows, and the command ends with the same code', async () => {
    expect(await look()).toEqual({ kind: 'absent' });
    const child = launch();
    await running();
    finish(3);
    expect(await ended(child)).toBe(3);
    expect(await look()).toEqual({ kind: 'exited', code: 3 });
  });

  test('SIGTERM to the supervisor -> passed on, and the exit code is the remote’s', async () => {
    const child = launch();
    await running();
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(143);
    expect(await look()).toEqual({ kind: 'exited', code: 143 });
  });

  test('no SHA -> the latest published one', async () => {
    launch({ remoteSha: null });
    await running();
    expect(statics.asked).toContain('latest_linux_x64');
  });

  test('its environment is the contract and nothing else', async () => {
    statics.publish(SHA, '#!/bin/bash\ncat /proc/$$/environ >names\nexit 0\n');
    const doorbell = { url: 'http://127.0.0.1:9/bell', key: 'key' };
    const child = launch({ doorbell }, statics.url, {
      LANG: 'C.UTF-8',
      AWS_SECRET: 'x',
      'BASH_FUNC_f%%': '() { :; }',
      'odd.name': 'x',
      'PATH HOME': 'x',
      'new\nline': 'x',
    });
    await ended(child);
    const names = readOr('', join(dir, 'workspace/names'))
      .split('\0')
      .filter(Boolean)
      .map((entry) => entry.split('=')[0]);
    expect(names.sort()).toEqual([
      'DEVIN_OUTPOST_CONNECT_TOKEN',
      'DEVIN_OUTPOST_GATEWAY_URL',
      'DEVIN_OUTPOST_SESSION_ID',
      'DEVIN_REMOTE_STATE_DIR',
      'HOME',
      'LANG',
      'PATH',
    ]);
  });

  test('it starts in the workspace, with repos/ there, stdin closed and no descriptor of the supervisor', async () => {
    statics.publish(
      SHA,
      '#!/bin/bash\npwd\nls -d repos\nreadlink /proc/$$/fd/0\nls /proc/$$/fd | tr "\\n" " "\n',
    );
    await ended(launch());
    const log = await until(
      'the log',
      async () => readOr('', join(dir, '.outpost/remote.log.1')) || undefined,
    );
    expect(log.split('\n').slice(0, 3)).toEqual([join(dir, 'workspace'), 'repos', '/dev/null']);
    expect(
      log
        .split('\n')[3]
        ?.trim()
        .split(' ')
        .filter((fd) => ['8', '9'].includes(fd)),
    ).toEqual([]);
  });

  test('endless output -> the log stays small and the remote is not disturbed', async () => {
    statics.publish(SHA, '#!/bin/bash\nhead -c 40000000 /dev/zero\necho last >&2\nexit 0\n');
    expect(await ended(launch())).toBe(0);
    const state = join(dir, '.outpost');
    const logs = () => readdirSync(state).filter((name) => name.startsWith('remote.log'));
    await until('the last line', async () =>
      logs().some((name) => readOr('', join(state, name)).endsWith('last\n')),
    );
    const bytes = logs().reduce((sum, name) => sum + readFileSync(join(state, name)).length, 0);
    expect(bytes).toBeLessThan(13_000_000);
  });

  test('a child that the session left running does not count as the remote', async () => {
    statics.publish(SHA, '#!/bin/bash\nsleep 300 &\nexit 1\n');
    expect(await ended(launch())).toBe(1);
    expect(await look()).toEqual({ kind: 'exited', code: 1 });
    statics.publish('b'.repeat(40), REMOTE);
    launch({ launchId: 'second', remoteSha: 'b'.repeat(40) });
    await running('second');
  });
});

describe('a launch that happens twice', () => {
  test('at the same time -> one remote, the other command ends at once', async () => {
    const both = [launch(), launch()];
    const codes = both.map((child) => ended(child));
    expect(await Promise.race(codes)).toBe(NOT_FIRST);
    await running();
    finish(0);
    await Promise.all(codes);
    expect(starts()).toHaveLength(1);
  });

  test('after its remote has ended -> nothing starts again', async () => {
    const child = launch();
    await running();
    finish(7);
    await ended(child);
    expect(await ended(launch())).toBe(NOT_FIRST);
    expect(starts()).toHaveLength(1);
    expect(await look()).toEqual({ kind: 'exited', code: 7 });
  });

  test('another launch while the remote runs -> it is left alone and its files are untouched', async () => {
    launch();
    await running();
    expect(await ended(launch({ launchId: 'second' }))).toBe(NOT_FIRST);
    expect(await look('second')).toEqual({ kind: 'absent' });
    expect(await look()).toEqual({ kind: 'running' });
  });

  test('the supervisor is killed -> absent, and the next launch ends the orphan before it starts its own', async () => {
    const child = launch();
    await running();
    const [orphan] = starts();
    child.kill('SIGKILL');
    await ended(child);
    expect(await look()).toEqual({ kind: 'absent' });
    expect(existsSync(`/proc/${orphan}`)).toBe(true);
    launch({ launchId: 'second' });
    await until('the second remote', async () => starts().length === 2);
    expect(readOr('', `/proc/${orphan}/environ`)).toBe('');
  });

  test('files of an earlier boot, whose pid is somebody else now -> nobody is killed', async () => {
    const bystander = spawn('sleep', ['300'], {
      env: { PATH: process.env.PATH, HOME: dir },
      stdio: 'ignore',
    });
    started.push(bystander);
    await ended(launch({ launchId: 'old', remoteSha: 'f'.repeat(40) }));
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    for (const record of [
      `${bystander.pid} 1 ${boot}`,
      `${bystander.pid} x other-boot`,
      '1 0 x',
      '-1 - -',
      '',
    ]) {
      writeFileSync(join(dir, '.outpost/remote.pid'), `${record}\n`);
      await ended(launch({ launchId: record, remoteSha: 'f'.repeat(40) }));
    }
    expect(bystander.signalCode).toBe(null);
  });
});

describe('a remote that must not be started', () => {
  const unlaunchable = async (change: Partial<LaunchSpec> = {}, base?: string) => {
    await ended(launch(change, base));
    expect(starts()).toEqual([]);
    return look();
  };

  test('wrong checksum -> never executed, and not worth another try', async () => {
    statics.files.set(`devin-remote_${SHA}_linux_x64`, `${REMOTE}# tampered\n`);
    expect(await unlaunchable()).toMatchObject({ kind: 'unlaunchable', permanent: true });
    expect(readdirSync(join(dir, '.outpost/bin'))).toEqual([]);
  });

  test('a verified binary that was changed on the disk since -> downloaded anew', async () => {
    await ended(launch({ launchId: 'other', remoteSha: 'c'.repeat(40) }));
    writeFileSync(join(dir, `.outpost/bin/devin-remote_${SHA}`), '#!/bin/bash\necho evil >evil\n', {
      mode: 0o755,
    });
    launch();
    await running();
    expect(existsSync(join(dir, 'workspace/evil'))).toBe(false);
  });

  test('the same binary again -> only its checksum is fetched', async () => {
    const child = launch();
    await running();
    finish(0);
    await ended(child);
    rmSync(join(dir, 'workspace/done'));
    statics.asked.length = 0;
    launch({ launchId: 'second' });
    await until('the second start', async () => starts().length === 2);
    expect(statics.asked).toEqual([`devin-remote_${SHA}_linux_x64.sha256`]);
  });

  test('a pinned SHA that is not published -> not worth another try', async () => {
    const sight = await unlaunchable({ remoteSha: 'd'.repeat(40) });
    expect(sight).toMatchObject({ kind: 'unlaunchable', permanent: true });
  });

  test('no latest version yet -> worth another try', async () => {
    statics.files.delete('latest_linux_x64');
    expect(await unlaunchable({ remoteSha: null })).toMatchObject({ kind: 'unlaunchable', permanent: false });
  });

  test('the latest version is named by nonsense -> worth another try', async () => {
    statics.files.set('latest_linux_x64', '../../etc/passwd\n');
    expect(await unlaunchable({ remoteSha: null })).toMatchObject({ kind: 'unlaunchable', permanent: false });
  });

  test('the static host refuses -> its status is the reason, and worth another try', async () => {
    statics.files.set(`devin-remote_${SHA}_linux_x64.sha256`, 403);
    expect(await unlaunchable()).toEqual({
      kind: 'unlaunchable',
      reason: 'the static host of the remote answered 403',
      permanent: false,
    });
  });

  test.each([
    ' ',
    'abc',
    'A'.repeat(65),
    'g'.repeat(40),
    `${SHA}\n`,
    `${SHA};id`,
    '../x',
    '-o/tmp/x',
    '$(id)',
  ])('the SHA %j -> not worth another try, nothing is asked for it', async (sha) => {
    statics.files.delete('latest_linux_x64');
    const sight = await unlaunchable({ remoteSha: sha });
    expect(sight).toMatchObject({ kind: 'unlaunchable', permanent: true });
    expect(statics.asked).toEqual([]);
  });
});

test('values that try to break out -> arrive as they are, and nothing else happens', async () => {
  const nasty = [
    `'"; touch ${dir}/pwned; '`,
    `$(touch ${dir}/pwned)`,
    `\`touch ${dir}/pwned\``,
    `\n touch ${dir}/pwned \n`,
    `-e --version`,
    `\${PATH} !! * ? [a] ~ # ; & | < > ( ) { }`,
    `ünï😀\u202e\u0007\t\\`,
    `a=b c='d' \\'`,
    '',
  ];
  statics.publish(SHA, '#!/bin/bash\ncat /proc/$$/environ >seen\n');
  for (const [index, value] of nasty.entries()) {
    const child = launch({
      sessionId: value,
      launchId: `${value}${index}`,
      grant: { gatewayUrl: value, connectToken: value },
    });
    expect(await ended(child)).toBe(0);
    expect(await look(`${value}${index}`)).toEqual({ kind: 'exited', code: 0 });
    const seen = readOr('', join(dir, 'workspace/seen')).split('\0');
    for (const name of ['SESSION_ID', 'GATEWAY_URL', 'CONNECT_TOKEN'])
      expect(seen).toContain(`DEVIN_OUTPOST_${name}=${value}`);
  }
  expect(readdirSync(dir).sort()).toEqual(['.outpost', 'workspace']);
});

test('neither arguments nor files hold the connect token', async () => {
  const connectToken = 'cog_very-secret';
  launch({ grant: { gatewayUrl: 'http://127.0.0.1:9/', connectToken } });
  await running();
  for (const pid of pids()) expect(readOr('', `/proc/${pid}/cmdline`)).not.toContain(connectToken);
  const files = readdirSync(join(dir, '.outpost')).map((name) => readOr('', join(dir, '.outpost', name)));
  expect(files.join()).not.toContain(connectToken);
});

test('whatever stands in the state files -> a look is a sight, never an error', async () => {
  await ended(launch({ remoteSha: 'bad' }));
  for (const content of [
    '',
    '"}{',
    `${'x'.repeat(100_000)}`,
    'a b c d\ne',
    '\u0000\u0001',
    '$(id) "exited" 0',
  ]) {
    writeFileSync(join(dir, '.outpost/launch'), content);
    expect(await look()).toEqual({ kind: 'absent' });
  }
});

test('a wait on the lock -> ends when the supervisor does, whoever started it', async () => {
  const child = launch();
  await running();
  const waiting = spawn(waitCommand.cmd, waitCommand.args, {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir },
  });
  started.push(waiting);
  const waited = ended(waiting);
  expect(await Promise.race([waited, look()])).toEqual({ kind: 'running' });
  finish(0);
  expect(await waited).toBe(0);
  await ended(child);
});
