/**
 * The minute's check for what no actor would notice by itself: vms without a
 * record, records whose vm died, claims and slots that nobody uses.
 *
 * Lists sandboxes first and reads records second, so that a vm booted meanwhile
 * is not taken for a stray. Judges only what carries this installation's tags.
 * Tells an actor that has a record; acts itself only where there is none, or
 * where it is set aside. Each sweep may run in another process.
 */
import { acceptorOf, type SessionContext } from '../../machines/session/context.js';
import type { Clock } from '../ports/clock.js';
import type { Fleet, QueueEntry } from '../ports/fleet.js';
import type { SandboxHost, SandboxSight } from '../ports/sandbox.js';
import type { Store } from '../ports/store.js';
import type { ActorKind } from '../runtime/actor.js';
import { restore } from '../runtime/saved.js';
import { freshMemory, recallSweep, rememberSweep, type SweepMemory } from './sweep-memory.js';
import { sessionOfTags } from './tags.js';

/** A vm or claim without a record is left alone until it is this old, and was seen by two sweeps. */
const STRAY_AGE_MS = 2 * 60_000;
/** Journal entries kept for each actor. */
const JOURNAL_KEPT = 500;
/** An ended actor is kept this long, for whoever asks what became of it. */
const ENDED_KEPT_MS = 60 * 60_000;
/** Every so many sweeps the network policy in force is read; the list does not tell it. */
const POLICY_EVERY = 10;
/** Slack on top of a vm's longest life when judging how far back the list must be read. */
const LIFE_SLACK_MS = 10 * 60_000;

export interface SweepDeps {
  readonly fleet: Fleet;
  readonly host: SandboxHost;
  readonly store: Store;
  readonly kind: ActorKind;
  readonly clock: Clock;
  readonly maxLifetimeMs: number;
  /** Whether an acceptor id is one of this installation's, under whatever ACCEPTOR_ID it was made. */
  owns(acceptorId: string): boolean;
  /** Rows of the latest look. */
  entries(): readonly QueueEntry[];
  kick(id: string): void;
  log?(line: string): void;
}

/** What is known of a session that a vm or a claim points to. */
type Owner =
  | { readonly kind: 'none' }
  /** Set aside or unreadable: whatever it holds stays. */
  | { readonly kind: 'opaque' }
  | { readonly kind: 'known'; readonly context: SessionContext; readonly tags: ReadonlySet<string> };

export class Sweeper {
  readonly #deps: SweepDeps;
  readonly #failures: unknown[] = [];
  /** What the sweep before saw, and what this one sees: an act follows the second sight. */
  #before: SweepMemory = freshMemory(0);
  #seen: SweepMemory = freshMemory(0);

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const claims = this.#deps.entries();
    const { store } = this.#deps;
    this.#before = await recallSweep(store);
    this.#seen = freshMemory(this.#before.sweeps + 1);
    const sights = await this.#listSandboxes(signal);
    await this.#sweepSandboxes(sights, signal);
    await this.#sweepClaims(claims, signal);
    await this.#sweepSlots(sights);
    // Only now: a sweep that broke off has not seen that something is missing.
    await rememberSweep(store, this.#seen);
    await this.#tidy();
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  /** One thing that fails must not keep the sweep from the others; the first failure is told at the end. */
  async #spare(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#failures.push(error);
    }
  }

  async #listSandboxes(signal: AbortSignal): Promise<readonly SandboxSight[]> {
    const { host, clock, maxLifetimeMs } = this.#deps;
    const oldest = clock.now() - maxLifetimeMs - LIFE_SLACK_MS;
    const sights: SandboxSight[] = [];
    for await (const sight of host.list(signal)) {
      if (sight.changedAt < oldest) break;
      sights.push(sight);
    }
    return sights;
  }

  async #sweepSandboxes(sights: readonly SandboxSight[], signal: AbortSignal): Promise<void> {
    for (const sight of sights) {
      const id = sessionOfTags(sight.tags);
      const owner = id === null ? ({ kind: 'none' } as const) : await this.#ownerOf(id);
      if (id !== null && owner.kind === 'known')
        await this.#spare(() => this.#tell(id, owner, sight, signal));
      else if (owner.kind === 'none' && isAlive(sight)) {
        await this.#spare(() => this.#stopStray(sight, signal));
      }
    }
  }

  async #tell(
    id: string,
    { context, tags }: Owner & { kind: 'known' },
    listed: SandboxSight,
    signal: AbortSignal,
  ): Promise<void> {
    const serves = listed.vmId === context.vm?.vmId && this.#seen.sweeps % POLICY_EVERY === 0;
    const sight = (serves ? await this.#deps.host.find(listed.name, signal) : null) ?? listed;
    const alive = isAlive(sight);
    const held = context.vm?.vmId ?? null;
    // The record's vm is down when its sandbox is, or when another boot of it runs.
    const lost = held !== null && tags.has('mayHoldVm') && (!alive || sight.vmId !== held);
    const stray = alive && tags.has('atRest');
    const drifted =
      alive &&
      sight.vmId === held &&
      sight.policyDigest !== null &&
      sight.policyDigest !== context.vm?.policyDigest;
    if (!lost && !stray && !drifted) return;
    const { startedAt, expiresAt, policyDigest } = sight;
    const seen = lost ? { vmId: held, alive: false } : { vmId: sight.vmId, alive };
    const event = { type: 'sandbox.seen', ...seen, startedAt, expiresAt, policyDigest };
    if (await this.#deps.store.post(id, JSON.stringify(event))) this.#deps.kick(id);
  }

  async #stopStray(sight: SandboxSight, signal: AbortSignal): Promise<void> {
    const { clock, host, log } = this.#deps;
    this.#seen.strayVms.add(sight.vmId);
    if (!this.#before.strayVms.has(sight.vmId) || clock.now() - sight.startedAt < STRAY_AGE_MS) return;
    log?.(`sandbox ${sight.name} runs without a session: stopping it`);
    await host.stop(sight, signal);
    this.#seen.strayVms.delete(sight.vmId);
  }

  async #sweepClaims(entries: readonly QueueEntry[], signal: AbortSignal): Promise<void> {
    const { owns, fleet, log } = this.#deps;
    for (const entry of entries) {
      const { acceptorId, sessionId } = entry;
      if (entry.phase !== 'claimed' || acceptorId === null || !owns(acceptorId)) continue;
      const owner = await this.#ownerOf(sessionId);
      if (owner.kind === 'opaque' || (owner.kind === 'known' && holdsClaim(owner, acceptorId))) continue;
      this.#seen.strayClaims.add(acceptorId);
      if (!this.#before.strayClaims.has(acceptorId)) continue;
      log?.(`session ${sessionId}: releasing a claim that nothing holds`);
      await this.#spare(() => fleet.release(sessionId, acceptorId, signal));
    }
  }

  /** An actor that is set aside keeps its slot for as long as it may have a vm, and no longer. */
  async #sweepSlots(sights: readonly SandboxSight[]): Promise<void> {
    const { store, kind, log } = this.#deps;
    const up = new Set(sights.filter((sight) => !isDown(sight)).map(({ tags }) => sessionOfTags(tags)));
    for (const id of await store.slotsSetAside(kind.name)) {
      if (up.has(id)) continue;
      this.#seen.idleSlots.add(id);
      if (!this.#before.idleSlots.has(id)) continue;
      if (await store.freeSlot(id)) log?.(`session ${id} is set aside and has no vm: its slot is free`);
    }
  }

  async #tidy(): Promise<void> {
    const { store, kind, clock } = this.#deps;
    await store.pruneJournal(JOURNAL_KEPT);
    const ended = await store.list({ machine: kind.name, state: 'ended', limit: 200 });
    for (const row of ended) {
      if (clock.now() - row.updatedAt > ENDED_KEPT_MS) await store.remove(row.id, row.rev);
    }
  }

  async #ownerOf(id: string): Promise<Owner> {
    const row = await this.#deps.store.read(id);
    if (row === null || row.state === 'ended') return { kind: 'none' };
    if (row.quarantine !== null) return { kind: 'opaque' };
    const restored = restore(this.#deps.kind, row);
    if (restored.kind !== 'restored') return { kind: 'opaque' };
    const { context, tags } = restored.snapshot;
    return { kind: 'known', context: context as SessionContext, tags };
  }
}

const isAlive = ({ status }: SandboxSight): boolean => status === 'running' || status === 'pending';

const isDown = ({ status }: SandboxSight): boolean =>
  status === 'stopped' || status === 'failed' || status === 'aborted';

const holdsClaim = ({ context, tags }: Owner & { kind: 'known' }, acceptorId: string): boolean =>
  tags.has('holdsClaim') && acceptorOf(context) === acceptorId;
