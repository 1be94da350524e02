/** A dispatcher's surroundings: a real SQLite store, the real session kind, and a queue and a cloud set by hand. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sessionRules } from '../../machines/session/rules.js';
import { Looker } from '../../src/dispatch/look.js';
import { Sweeper } from '../../src/dispatch/sweep.js';
import { sessionTags } from '../../src/dispatch/tags.js';
import { createSessionEffects } from '../../src/effects/session-effects.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import { TransientError } from '../../src/errors.js';
import type { Fleet, QueueEntry } from '../../src/ports/fleet.js';
import type { SandboxHost, SandboxSight } from '../../src/ports/sandbox.js';
import type { Store } from '../../src/ports/store.js';
import { drive } from '../../src/runtime/drive.js';
import { openStore } from '../../src/store/open.js';

export const INSTALLATION = 'i1';
export const PREFIX = `vercel-${INSTALLATION}-`;
const MINUTE = 60_000;

export function entry(sessionId: string, patch: Partial<QueueEntry> = {}): QueueEntry {
  return {
    sessionId,
    outpostId: 'outpost_env-1',
    kind: 'new',
    platform: 'linux',
    remoteSha: null,
    policy: { enabled: false },
    phase: 'pending',
    acceptorId: null,
    hasClaimDeadline: false,
    status: 'pending',
    ...patch,
  };
}

export class Rig {
  now = 1_000 * MINUTE;
  queue: { entries: QueueEntry[]; complete: boolean } = { entries: [], complete: true };
  sandboxes: SandboxSight[] = [];
  /** The list of sandboxes breaks off after the first. */
  listFails = false;
  readonly stopped: string[] = [];
  readonly released: string[] = [];
  readonly kicked: string[] = [];
  readonly logged: string[] = [];
  readonly store: Store;
  readonly looker: Looker;
  readonly #sweeper: () => Sweeper;
  readonly #dir: string;
  readonly #drive: (id: string) => Promise<unknown>;
  readonly #signal = new AbortController().signal;

  static async open(options: { maxConcurrent?: number } = {}): Promise<Rig> {
    const dir = await mkdtemp(join(tmpdir(), 'outposts-dispatch-'));
    return new Rig(await openStore(`file:${join(dir, 'test.db')}`), dir, options.maxConcurrent ?? 5);
  }

  private constructor(store: Store, dir: string, maxConcurrent: number) {
    this.store = store;
    this.#dir = dir;
    const rig = this;
    const clock = { now: () => rig.now, sleep: () => new Promise<void>(() => undefined) };
    const log = (line: string) => void rig.logged.push(line);
    const kick = (id: string) => void rig.kicked.push(id);
    const fleet = {
      list: async () => rig.queue,
      claim: async () => ({ kind: 'taken' }),
      release: async (id: string, acceptor: string) => void rig.released.push(`${id} ${acceptor}`),
    } as unknown as Fleet;
    const host = {
      find: async (name: string) => rig.sandboxes.find((sight) => sight.name === name) ?? null,
      stop: async ({ vmId }: SandboxSight) => {
        rig.stopped.push(vmId);
        return { kind: 'stopped', snapshotId: 'snap' };
      },
      async *list() {
        const sights = [...rig.sandboxes].sort((a, b) => b.changedAt - a.changedAt);
        yield* rig.listFails ? sights.slice(0, 1) : sights;
        if (rig.listFails) throw new TransientError('the list breaks off');
      },
    } as unknown as SandboxHost;
    const tagsOf = (id: string) => sessionTags(INSTALLATION, id);
    const kind = createSessionKind(sessionRules(), createSessionEffects({ fleet, host, tagsOf }));
    const driving = { store, kind, clock, owner: 'test', random: () => 0 };
    this.#drive = (id) => drive(driving, id);
    this.looker = new Looker({
      fleet,
      store,
      kind,
      clock,
      maxConcurrent,
      log,
      kick,
      settle: this.#drive,
      inputOf: ({ sessionId, outpostId }, facts) => ({
        sessionId,
        outpostId,
        facts,
        sandboxName: `devin-${sessionId}`,
        acceptorPrefix: `${PREFIX}${sessionId}`,
      }),
    });
    const sweeping = {
      fleet,
      host,
      store,
      kind,
      clock,
      log,
      kick,
      maxLifetimeMs: 24 * 60 * MINUTE,
      owns: (acceptorId: string) => acceptorId.startsWith(PREFIX),
      entries: () => rig.looker.entries,
    };
    this.#sweeper = () => new Sweeper(sweeping);
  }

  /** One look at a queue of these rows. */
  async look(entries: QueueEntry[], options: { complete?: boolean; grant?: boolean } = {}): Promise<void> {
    this.queue = { entries, complete: options.complete ?? true };
    await this.looker.look(this.#signal, options.grant ?? true);
  }

  /** One sweep, by a process that has done none before. */
  sweep(): Promise<void> {
    return this.#sweeper().sweep(this.#signal);
  }

  /** A vm of ours, alive unless said otherwise. */
  sandbox(sessionId: string, patch: Partial<SandboxSight> = {}): SandboxSight {
    return {
      name: `devin-${sessionId}`,
      vmId: `sbx_${sessionId}`,
      status: 'running',
      startedAt: this.now - 10 * MINUTE,
      expiresAt: this.now + 10 * MINUTE,
      changedAt: this.now - 10 * MINUTE,
      tags: sessionTags(INSTALLATION, sessionId),
      snapshotId: null,
      saved: null,
      policyDigest: null,
      ...patch,
    };
  }

  /** Drives an actor as far as it goes; its claims are all taken. */
  drive(id: string): Promise<unknown> {
    return this.#drive(id);
  }

  /** Sets a record aside, as a driver does that cannot read it. */
  async setAside(id: string): Promise<void> {
    const taken = await this.store.take(id, 'reader', 1_000);
    if (taken.kind !== 'taken') throw new Error(`${id} is ${taken.kind}`);
    await this.store.quarantine({ id, owner: 'reader', rev: taken.row.rev }, 'for the test');
    await this.store.free(id, 'reader');
  }

  async state(id: string): Promise<string | null> {
    return (await this.store.read(id))?.state ?? null;
  }

  async facts(id: string): Promise<Record<string, unknown> | null> {
    return JSON.parse((await this.store.read(id))?.facts ?? 'null');
  }

  /** Types of the news that waits for an actor. */
  async news(id: string): Promise<string[]> {
    const taken = await this.store.take(id, 'reader', 1_000);
    await this.store.free(id, 'reader');
    return taken.kind === 'taken'
      ? taken.news.map(({ event }) => (JSON.parse(event) as { type: string }).type)
      : [];
  }

  async close(): Promise<void> {
    await this.store.close();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
