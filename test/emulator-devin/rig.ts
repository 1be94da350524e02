/** What the tests of the emulated cloud share: a clock they turn themselves, calls as a client makes them, remotes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type DevinCloud, type DevinCloudOptions, startDevinCloud } from '../../src/emulator/devin/index.js';
import type { Clock } from '../../src/ports/clock.js';

export const START = Date.UTC(2026, 8, 1, 12, 0, 0);

export interface TestClock extends Clock {
  /** Moves time on and lets everything that was due happen. */
  advance(ms: number): Promise<void>;
}

export function createTestClock(): TestClock {
  let now = START;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: () => done(resolve) };
        const abort = () => done(() => reject(signal?.reason));
        const done = (finish: () => void) => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
          finish();
        };
        signal?.addEventListener('abort', abort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = Math.max(now, next.at);
        next.wake();
        await settle();
      }
      now = end;
      await settle();
    },
  };
}

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export async function startCloud(options: Partial<DevinCloudOptions> = {}) {
  const clock = createTestClock();
  const cloud = await startDevinCloud({ clock, ...options });
  cleanups.push(() => cloud.close());
  return { clock, cloud, fleet: createCaller(cloud) };
}

export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'emulator-devin-'));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export interface Row {
  metadata: { session_id: string; outpost_id: string; updated_at: number; created_at: number };
  spec: Record<string, unknown>;
  status: {
    phase: string;
    acceptor_id: string | null;
    claim_deadline: unknown;
    session_status: string;
    connect_token?: string;
    gateway_url?: string;
  };
}
export interface Page {
  items: Row[];
  cursor: string | null;
  has_next_page: boolean;
}

/** Calls of the fleet API, bare: status and parsed body. */
export function createCaller(cloud: Pick<DevinCloud, 'url' | 'token'>) {
  const call = async (method: string, path: string, body?: unknown, token: string | null = cloud.token) => {
    const answer = await fetch(`${cloud.url}/opbeta/outposts${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers are asserted, not trusted
    return { status: answer.status, headers: answer.headers, body: (text ? JSON.parse(text) : null) as any };
  };
  return {
    call,
    list: async (query = '') => (await call('GET', `/devins?${query}`)).body as Page,
    read: (id: string) => call('GET', `/devins/${id}`),
    claim: (id: string, acceptor = 'us') => call('POST', `/devins/${id}/claim`, { acceptor_id: acceptor }),
    release: (id: string, acceptor = 'us') =>
      call('POST', `/devins/${id}/release`, { acceptor_id: acceptor }),
  };
}

export interface RunningRemote {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; stderr: string }>;
}

/** Downloads the published remote into `dir` and starts it with exactly this environment. */
export async function startRemote(
  cloud: DevinCloud,
  dir: string,
  env: Record<string, string>,
  args = ['serve'],
): Promise<RunningRemote> {
  const name = `devin-remote_${cloud.remotes.latest()}_linux_x64`;
  const answer = await fetch(`${cloud.staticUrl}/${name}`);
  const file = join(dir, 'devin-remote');
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
  chmodSync(file, 0o755);
  const child = spawn(file, args, { cwd: dir, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const exited = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }));
  });
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { child, exited };
}

/** Claims the session and starts a remote for it, as an orchestrator would. */
export async function serve(cloud: DevinCloud, id: string, dir: string, acceptor = 'us') {
  const claimed = await createCaller(cloud).claim(id, acceptor);
  const { connect_token: token, gateway_url: gateway } = claimed.body.status;
  return startRemote(cloud, dir, remoteEnv(dir, { id, token, gateway }));
}

export const remoteEnv = (dir: string, grant: { id: string; token: string; gateway: string }) => ({
  PATH: process.env.PATH ?? '',
  DEVIN_OUTPOST_GATEWAY_URL: grant.gateway,
  DEVIN_OUTPOST_CONNECT_TOKEN: grant.token,
  DEVIN_OUTPOST_SESSION_ID: grant.id,
  DEVIN_REMOTE_STATE_DIR: join(dir, 'state'),
});
