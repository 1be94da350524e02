/** A cloud of its own for each test, and the real SDK pointed at it. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '@vercel/sandbox';
import { onTestFinished } from 'vitest';
import {
  type SandboxView,
  startVercelCloud,
  type VercelCloud,
  type VercelCloudOptions,
} from '../../src/emulator/vercel/index.js';
import { createClock } from '../../src/ports/clock.js';

export interface Rig {
  readonly cloud: VercelCloud;
  readonly dir: string;
  /** Credentials and `fetch` for any static method of the SDK. */
  readonly via: { token: string; teamId: string; projectId: string; fetch: typeof fetch };
  /** Creates a sandbox with a fresh name unless one is given. */
  create(params?: Record<string, unknown>): Promise<Sandbox>;
  get(name: string, resume?: boolean): Promise<Sandbox>;
  /** One request past the SDK. */
  raw(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  view(name: string): SandboxView;
  /** The living processes of a sandbox's current vm; fails when there is none. */
  pids(name: string): number[];
}

/** Ends with the test. */
export async function startRig(options: Partial<VercelCloudOptions> = {}): Promise<Rig> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'vercel-cloud-')));
  const cloud = await startVercelCloud({ clock: createClock(), ...options, dir });
  onTestFinished(async () => {
    await cloud.close();
    await rm(dir, { recursive: true, force: true });
  });
  const { token, teamId, projectId } = cloud;
  const redirected: typeof fetch = (input, init) =>
    fetch(String(input).replace('https://vercel.com/api', cloud.url), init);
  const via = { token, teamId, projectId, fetch: redirected };
  const view = (name: string) => {
    const found = cloud.sandboxes().find((each) => each.name === name);
    if (!found) throw new Error(`no sandbox ${name}`);
    return found;
  };
  return {
    cloud,
    dir,
    via,
    create: (params = {}) => Sandbox.create({ ...via, name: `box-${randomUUID().slice(0, 8)}`, ...params }),
    get: (name, resume) => Sandbox.get({ ...via, name, ...(resume !== undefined && { resume }) }),
    raw: (method, path, body, headers = {}) => {
      const url = new URL(`${cloud.url}${path}`);
      url.searchParams.set('teamId', teamId);
      return fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    },
    view,
    pids: (name) => {
      const pids =
        view(name)
          .vms.at(-1)
          ?.processes.map(({ pid }) => pid) ?? [];
      if (pids.length === 0) throw new Error(`no processes in ${name}`);
      return pids;
    },
  };
}

/** Parts of the API's answers that tests look at past the SDK. */
export interface Wire {
  readonly error: { readonly code: string; readonly message: string };
  readonly sandbox: Readonly<Record<string, unknown>>;
  readonly session: Readonly<Record<string, unknown>> & { readonly startedAt: number };
}
export const wire = async (answer: Response) => (await answer.json()) as Wire;

/** Waits until `look` answers something; fails after ten seconds. */
export async function until<T>(
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
): Promise<T> {
  const endAt = Date.now() + 10_000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > endAt) throw new Error('waited for ten seconds in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Whether a process runs; one that waits to be reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The status and code of the API's error answer that a call ends with. */
export async function refusal(call: Promise<unknown>): Promise<{ status: number; code: string }> {
  try {
    await call;
  } catch (error) {
    const { response, json } = error as { response: Response; json?: { error?: { code?: string } } };
    return { status: response.status, code: json?.error?.code ?? '' };
  }
  throw new Error('the call was not refused');
}
