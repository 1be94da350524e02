/** The doorbell as the supervisor rings it: when, how, and what it must not disturb. */
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  dir,
  ended,
  finish,
  launch,
  look,
  pids,
  readOr,
  running,
  starts,
  statics,
  useDirectory,
} from './directory.js';
import { SHA, until } from './support.js';

interface Ring {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly body: string;
  /** What a look would have found at that moment. */
  readonly phase: string | undefined;
}

useDirectory();

let rings: Ring[];
let answer: (response: ServerResponse, count: number) => void;
let server: ReturnType<typeof createServer>;
let port: number;

beforeEach(async () => {
  rings = [];
  answer = (response) => response.writeHead(204).end();
  server = createServer((request, response) => void hear(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const phase = phaseNow();
  let body = '';
  for await (const part of request) body += String(part);
  const { method, url, headers } = request;
  rings.push({ method, url, key: headers.authorization, body, phase });
  answer(response, rings.length);
}

const phaseNow = () => readOr('', join(dir, '.outpost/launch')).split(' ')[1]?.trim();
const doorbell = (key = 'k3y') => ({ url: `http://127.0.0.1:${port}/api/sessions/devin-1/doorbell`, key });
const rung = (times: number) => until(`rung ${times} times`, async () => rings.length >= times);
const phases = () => rings.map(({ phase }) => phase);
/** Seen twice: one that ends while another begins can be missed once. */
const allGone = () =>
  until('no process is left', async () => [pids(), pids()].every((left) => left.length === 0));

test('a remote that runs and ends -> rung when it was started, and when its exit code is on record', async () => {
  const child = launch({ doorbell: doorbell() });
  await running();
  await rung(1);
  finish(3);
  expect(await ended(child)).toBe(3);
  await rung(2);
  await allGone();
  const ring = { method: 'POST', url: '/api/sessions/devin-1/doorbell', key: 'Bearer k3y', body: '' };
  expect(rings).toEqual([
    { ...ring, phase: 'started' },
    { ...ring, phase: 'exited' },
  ]);
});

test('the disk is slow -> rung only when a look finds what it is about', async () => {
  const tools = join(dir, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'mv'), '#!/bin/bash\nsleep 0.5\nexec /bin/mv "$@"\n', { mode: 0o755 });
  launch({ doorbell: doorbell() }, statics.url, { PATH: `${tools}:${process.env.PATH}` });
  await running();
  await rung(1);
  finish(0);
  await rung(2);
  expect(phases()).toEqual(['started', 'exited']);
});

test('a launch that failed -> rung once that is on record', async () => {
  statics.files.delete(`devin-remote_${SHA}_linux_x64.sha256`);
  await ended(launch({ doorbell: doorbell() }));
  await rung(1);
  await allGone();
  expect(phases()).toEqual(['failed']);
});

test('no doorbell, whatever the sandbox’s own environment says -> nobody is called', async () => {
  const env = { OUTPOST_BELL_URL: doorbell().url, OUTPOST_BELL_KEY: 'k' };
  const child = launch({ doorbell: null }, statics.url, env);
  await running();
  finish(0);
  await ended(child);
  await allGone();
  expect(rings).toEqual([]);
});

test('an address that would send the key in the clear -> nobody is called', async () => {
  const child = launch({ doorbell: { url: `http://0.0.0.0:${port}/`, key: 'k' } });
  await running();
  finish(0);
  await ended(child);
  await allGone();
  expect(rings).toEqual([]);
});

test('the connection breaks off, then the deployment is in trouble -> rung again until it has heard', async () => {
  answer = (response, count) => {
    if (count === 1) response.destroy();
    else response.writeHead(count === 2 ? 503 : 204).end();
  };
  launch({ doorbell: doorbell() });
  await running();
  await rung(3);
  finish(0);
  await rung(4);
  await allGone();
  expect(phases()).toEqual(['started', 'started', 'started', 'exited']);
});

test('refused, or sent elsewhere -> not repeated, and the key goes nowhere else', async () => {
  answer = (response, count) =>
    count === 1 ? response.writeHead(401).end() : response.writeHead(302, { location: '/elsewhere' }).end();
  launch({ doorbell: doorbell() });
  await running();
  await rung(1);
  finish(0);
  await rung(2);
  await allGone();
  expect(rings.map(({ url }) => url)).toEqual(
    [doorbell().url, doorbell().url].map((url) => new URL(url).pathname),
  );
});

test('the deployment never answers -> the command ends, its lock is free and the next remote starts meanwhile', async () => {
  answer = () => undefined;
  const child = launch({ doorbell: doorbell() });
  await running();
  await rung(1);
  finish(1);
  expect(await ended(child)).toBe(1);
  await rung(2);
  expect(await look()).toEqual({ kind: 'exited', code: 1 });
  const holders = pids().filter((pid) => descriptors(pid).includes(join(dir, '.outpost/lock')));
  expect(holders).toEqual([]);
  expect(pids().length).toBeGreaterThan(0);
  launch({ launchId: 'second' });
  await until('the second start', async () => starts().length === 2);
});

test('while it rings -> the key is in no argument, in no file and in no environment of what it starts', async () => {
  answer = () => undefined;
  const { key } = doorbell('very-secret-key');
  launch({ doorbell: doorbell(key) });
  await running();
  await rung(1);
  expect(rings[0]?.key).toBe(`Bearer ${key}`);
  const lines = pids().map((pid) => ({ pid, line: readOr('', `/proc/${pid}/cmdline`) }));
  expect(lines.map(({ line }) => line).join()).not.toContain(key);
  const ringing = lines.filter(({ line }) => line.startsWith('curl\0'));
  expect(ringing).toHaveLength(1);
  for (const pid of [starts()[0], ringing[0]?.pid]) {
    const environment = readOr('', `/proc/${pid}/environ`);
    expect(environment).toContain('HOME');
    expect(environment).not.toContain('BELL');
    expect(environment).not.toContain(key);
  }
  const files = readdirSync(join(dir, '.outpost')).map((name) => readOr('', join(dir, '.outpost', name)));
  expect(files.join()).not.toContain(key);
});

test.each([
  `'"; touch pwned; '`,
  '$(touch pwned)',
  '`touch pwned`',
  '"quoted" \\n \\\\ %s %%',
  '-K/etc/passwd # & * ? [a] {b}',
  '@/etc/passwd',
])('the key %j -> arrives as it is', async (key) => {
  launch({ doorbell: doorbell(key) });
  await rung(1);
  expect(rings[0]?.key).toBe(`Bearer ${key}`);
  expect(readdirSync(dir).sort()).toEqual(['.outpost', 'workspace']);
});

function descriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}
