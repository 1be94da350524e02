/** What the tests of the sandbox adapter share: a static host, stand-in remotes, the emulated cloud, and a host on it. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVercelCloud, type VercelCloudOptions } from '../../src/emulator/vercel/index.js';
import { type Clock, createClock } from '../../src/ports/clock.js';
import { createRemoteClock, type RemoteClock } from '../../src/remote-clock.js';
import { createSandboxHost, rewriteFetch, type SandboxHostOptions } from '../../src/sandbox/index.js';

export const SHA = 'a'.repeat(40);
export const never = new AbortController().signal;
export const noFence = async () => {};

export interface StaticHost {
  readonly url: string;
  /** Bodies by path without the slash; a number is answered as that status. */
  readonly files: Map<string, string | number>;
  readonly asked: string[];
  publish(sha: string, remote: string): void;
  close(): Promise<void>;
}

export async function startStaticHost(): Promise<StaticHost> {
  const files = new Map<string, string | number>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    asked.push(name);
    const body = files.get(name) ?? 404;
    response.writeHead(typeof body === 'number' ? body : 200).end(typeof body === 'number' ? '' : body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    files,
    asked,
    publish(sha, remote) {
      const name = `devin-remote_${sha}_linux_x64`;
      files.set('latest_linux_x64', `${sha}\n`);
      files.set(name, remote);
      files.set(`${name}.sha256`, `${createHash('sha256').update(remote).digest('hex')}  ${name}\n`);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Ends when `done` appears in the workspace, with the code that it holds; `starts` there counts its starts. */
export const REMOTE = `#!/bin/bash
echo "$$" >>starts
trap 'exit 143' TERM
until [[ -s done ]]; do sleep 0.02; done
exit "$(<done)"
`;

export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const giveUpAt = Date.now() + 20_000; Date.now() < giveUpAt; ) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not seen: ${what}`);
}

export async function makeDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'outposts-sandbox-'));
}

/** Knows already that both clocks agree, so that instants are exact. */
function agreeing(clock: Clock): RemoteClock {
  const remoteClock = createRemoteClock(clock);
  const now = clock.now();
  remoteClock.learn(now, now, now);
  return remoteClock;
}

/** A cloud of its own with a static host, and hosts on them; `close` ends it all. */
export async function startRig(options: Partial<VercelCloudOptions> = {}) {
  const clock = options.clock ?? createClock();
  const dir = await makeDirectory();
  const cloud = await startVercelCloud({ clock, dir, ...options });
  const statics = await startStaticHost();
  statics.publish(SHA, REMOTE);
  const oddities: string[] = [];
  const { token, teamId, projectId } = cloud;
  const makeHost = (
    change: { settings?: Partial<SandboxHostOptions['settings']> } & Partial<
      Omit<SandboxHostOptions, 'settings'>
    > = {},
  ) =>
    createSandboxHost({
      credentials: async () => ({ token, teamId, projectId }),
      fetch: rewriteFetch(cloud.url),
      clock,
      remoteClock: options.skewMs === undefined ? agreeing(clock) : createRemoteClock(clock),
      onOddity: (message) => oddities.push(message),
      ...change,
      settings: {
        runtime: 'node24',
        vcpus: 2,
        timeoutMs: 1_200_000,
        maxLifetimeMs: 86_400_000,
        snapshotExpirationMs: 2_592_000_000,
        tags: { installation: 'one' },
        staticBaseUrl: statics.url,
        ...change.settings,
      },
    });
  return {
    clock,
    cloud,
    statics,
    oddities,
    makeHost,
    async close() {
      await cloud.close();
      await statics.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
