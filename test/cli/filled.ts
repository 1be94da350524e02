/** A database that the real runtime has filled, and the command that reads it, as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { acceptorOf, type SessionContext, type SessionFacts } from '../../machines/session/context.js';
import type { sessionEffects } from '../../machines/session/effects.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import { RefusedError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import type { ActorKind, Effects } from '../../src/runtime/actor.js';
import { drive } from '../../src/runtime/drive.js';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { sandboxName } from '../../src/sandbox/name.js';
import { pending } from '../support/pending.js';

export const MINUTE = 60_000;
/** What steers a terminal, in texts that come from outside. */
export const EVIL = 'evil\u001b]0;owned\u0007\u009b2J\r\nid\u202e';

export interface Life {
  readonly id: string;
  /** When it comes into the queue. */
  readonly from: number;
  /** Until when it is driven. */
  readonly until: number;
  /** Waits for a slot all the while. */
  readonly waits?: boolean;
  /** When Devin puts it to sleep. */
  readonly sleepsAt?: number;
  /** Why no sandbox can be had. */
  readonly refusedWith?: string;
}

/** Lets the runtime drive one session on a clock that jumps to whatever it waits for. */
export async function liveThrough(store: Store, life: Life): Promise<void> {
  const { id, from, until } = life;
  let now = from;
  const clock = { now: () => now, sleep: async () => undefined };
  const kind = createSessionKind(sessionRules(), effects(life, clock.now));
  const first = begin(kind, {
    sessionId: id,
    outpostId: 'outpost_env-1',
    sandboxName: sandboxName('devin', id),
    acceptorPrefix: 'vercel-1-1',
    facts: pending,
  });
  await store.enroll(id, toSaved(kind, first), JSON.stringify(pending), now);
  if (life.waits) return;
  now += 1_000;
  await store.grantSlots([id], 1_000, '{"type":"slot.granted"}');
  for (let drives = 0; drives < 500; drives++) {
    const answer = await drive(
      { store, kind, clock, owner: 'me', random: () => 0.5, log: () => undefined },
      id,
      { budgetMs: 5_000 },
    );
    if (answer.kind !== 'rests') continue;
    if (answer.state === 'serving.connecting') {
      now += 2_000;
      await observe(store, kind, id, 'running');
    } else if (answer.wakeAt === null || answer.wakeAt > until) return;
    else now = Math.max(now, answer.wakeAt);
    if (life.sleepsAt !== undefined && now >= life.sleepsAt) await observe(store, kind, id, 'suspended');
  }
  throw new Error(`${id} does not come to rest`);
}

async function observe(store: Store, kind: ActorKind, id: string, status: SessionFacts['status']) {
  const row = await store.read(id);
  if (row === null) throw new Error(`there is no ${id}`);
  const { context } = JSON.parse(row.snapshot) as { context: SessionContext };
  if (!kind.contextSchema.safeParse(context).success) throw new Error('unreadable');
  const facts = { ...pending, phase: 'claimed', status, acceptorId: acceptorOf(context) } as const;
  await store.observe(new Map([[id, JSON.stringify(facts)]]));
}

function effects(life: Life, now: () => number): Effects<typeof sessionEffects> {
  const claim = { claimDeadlineAt: null, policyKey: 'open' };
  const asleep = () => life.sleepsAt !== undefined && now() >= life.sleepsAt;
  const claimed = async () => ({ kind: 'claimed', at: now(), claim }) as const;
  const stopped = async () => ({ kind: 'stopped', at: now(), saved: true }) as const;
  const at = async () => ({ at: now() });
  return {
    claimSession: claimed,
    renewClaim: claimed,
    async openSandbox() {
      if (life.refusedWith !== undefined)
        throw new RefusedError(life.refusedWith, { setting: 'VERCEL_TOKEN' });
      const times = { at: now(), startedAt: now(), expiresAt: now() + 20 * MINUTE };
      return { kind: 'running', claim: null, vmId: 'sbx_1', policyDigest: 'p', origin: 'created', ...times };
    },
    launchRemote: async () => ({ kind: 'launched', at: now(), claim: null }),
    lookAtRemote: async () =>
      asleep() ? { kind: 'exited', at: now(), code: 0 } : { kind: 'running', at: now() },
    secureSandbox: async () => ({ kind: 'secured', at: now(), policyDigest: 'p', claim }),
    extendSandbox: async ({ untilAt }) => ({ kind: 'extended', at: now(), expiresAt: untilAt }),
    stopSandbox: stopped,
    lookAtStop: stopped,
    readRow: async () => ({ at: now(), status: asleep() ? 'suspended' : 'running' }),
    releaseClaim: at,
    discardSandbox: at,
  };
}

export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'outposts-look-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly ended: Promise<Outcome>;
  /** Resolves when stdout has it; rejects when the command ends without. */
  said(text: string): Promise<void>;
}

/** The command, in `cwd` and with `env` alone. */
export function begun(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): Running {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), `${root}src/cli/main.ts`, ...args],
    {
      cwd,
      env: { PATH: process.env.PATH, TZ: 'UTC', TSX_TSCONFIG_PATH: `${root}tsconfig.json`, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await ended;
  });
  return {
    process: child,
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const check = () => stdout.includes(text) && resolve();
        child.stdout.on('data', check);
        child.once('close', () => reject(new Error(`it never said ${text}\n${stdout}\n${stderr}`)));
        check();
      }),
  };
}
