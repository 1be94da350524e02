/** The supervisor's script in a real bash, with a directory in place of a vm. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { LaunchSpec, RemoteSight } from '../../src/ports/sandbox.js';
import { lookCommand, readLook } from '../../src/sandbox/sight.js';
import { launchCommand } from '../../src/sandbox/supervisor.js';
import { makeDirectory, REMOTE, SHA, type StaticHost, startStaticHost, until } from './support.js';

export let statics: StaticHost;
export let dir: string;
export const started: ChildProcess[] = [];

/** A fresh directory for each test; afterwards no process is left in it. */
export function useDirectory(): void {
  beforeAll(async () => {
    statics = await startStaticHost();
  });
  afterAll(() => statics.close());
  beforeEach(async () => {
    dir = await makeDirectory();
    statics.files.clear();
    statics.asked.length = 0;
    statics.publish(SHA, REMOTE);
  });
  afterEach(async () => {
    // Again and again: one that is just starting another is not caught at once.
    await until('all processes gone', async () => {
      const left = pids();
      for (const pid of left) kill(pid);
      return left.length === 0;
    });
    await Promise.all(started.splice(0).map((child) => ended(child)));
    rmSync(dir, { recursive: true, force: true });
  });
}

/** Everything that works in the directory, orphans included. */
export function pids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readOr('', `/proc/${name}/environ`).includes(`HOME=${dir}\0`))
    .map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

export function readOr(otherwise: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

export function launch(
  change: Partial<LaunchSpec> = {},
  base = statics.url,
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const spec = {
    sessionId: 'devin-1',
    remoteSha: SHA,
    launchId: 'first',
    grant: { gatewayUrl: 'http://127.0.0.1:9/', connectToken: 'tok' },
    doorbell: null,
    ...change,
  };
  const command = launchCommand(spec, base);
  const child = spawn(command.cmd, command.args, {
    cwd: dir,
    env: { PATH: process.env.PATH, HOME: dir, ...env, ...command.env },
    stdio: 'ignore',
  });
  started.push(child);
  return child;
}

export function ended(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve(child.exitCode ?? child.signalCode);
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
}

export function look(launchId = 'first'): Promise<RemoteSight> {
  return new Promise((resolve, reject) =>
    execFile(lookCommand.cmd, lookCommand.args, { cwd: dir }, (error, stdout) =>
      error ? reject(error) : resolve(readLook(stdout, launchId)),
    ),
  );
}

export const running = (launchId = 'first') =>
  until('the remote runs', async () => (await look(launchId)).kind === 'running' && starts().length > 0);
export const starts = () => readOr('', join(dir, 'workspace/starts')).split('\n').filter(Boolean);
export const finish = (code: number) => writeFileSync(join(dir, 'workspace/done'), String(code));
