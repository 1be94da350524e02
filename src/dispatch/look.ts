/**
 * One look at the queue, made into facts, new actors and granted slots.
 *
 * The list is the truth and one call serves every session. A look accepts no
 * input: a lost hint costs time, never a session. It starts no effect itself;
 * actors that have news are handed to the driver.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { factsSchema, type SessionFacts } from '../../machines/session/context.js';
import { isEnded } from '../../machines/session/facts.js';
import type { Clock } from '../ports/clock.js';
import type { Fleet, QueueEntry } from '../ports/fleet.js';
import type { Store } from '../ports/store.js';
import type { ActorKind } from '../runtime/actor.js';
import { begin, toSaved } from '../runtime/saved.js';
import { factsOf } from './facts.js';
import { createLedger, worthReserving } from './ledger.js';

/** Complete walks without a row before it counts as missing. */
const ABSENT_WALKS = 2;
/** Every so many looks, facts are written again whether or not they changed for us: another process may differ. */
const FULL_EVERY = 20;
/** A look waits this long, by the wall clock, for an actor to reach `queued`; a busy one gets its slot next time. */
const SETTLE_MS = 500;
/** Actors read at a time. */
const PAGE = 500;
/** Longer ids than this do not fit into a sandbox's tags. */
const LONGEST_ID = 180;

export interface LookDeps {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly kind: ActorKind;
  readonly clock: Clock;
  readonly maxConcurrent: number;
  /** The input of a new session's actor. */
  inputOf(entry: QueueEntry, facts: SessionFacts): unknown;
  /** Drives an actor until it rests. */
  settle(id: string): Promise<unknown>;
  /** Drives an actor soon. */
  kick(id: string): void;
  log?(line: string): void;
}

export class Looker {
  readonly ledger;
  readonly #deps: LookDeps;
  /** Facts of every actor that is not ended, as last written or read. */
  readonly #facts = new Map<string, string>();
  readonly #absences = new Map<string, number>();
  readonly #unfit = new Set<string>();
  #entries: readonly QueueEntry[] = [];
  #looks = 0;

  constructor(deps: LookDeps) {
    this.#deps = deps;
    this.ledger = createLedger(deps.maxConcurrent);
  }

  /** Rows of the latest look. */
  get entries(): readonly QueueEntry[] {
    return this.#entries;
  }

  /** Reads which actors exist. Before the first look, and now and then, since others may add and remove. */
  async learnActors(): Promise<void> {
    const seen = new Set<string>();
    for (let after: string | undefined; ; ) {
      const rows = await this.#deps.store.known({
        machine: this.#deps.kind.name,
        except: 'ended',
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const row of rows) {
        seen.add(row.id);
        this.#facts.set(row.id, row.facts ?? '');
      }
      after = rows.at(-1)?.id;
      if (rows.length < PAGE) break;
    }
    for (const id of this.#facts.keys()) if (!seen.has(id)) this.forget(id);
  }

  /** The actor is gone; a row of its name would start a new one. */
  forget(id: string): void {
    this.#facts.delete(id);
    this.#absences.delete(id);
  }

  /** Whether a hint's entry differs from what is known. */
  isNews(sessionId: string, entry: QueueEntry | null): boolean {
    if (entry === null) return this.#facts.has(sessionId);
    const known = this.#facts.get(sessionId);
    return known === undefined ? isServable(entry) : known !== JSON.stringify(factsOf(entry));
  }

  /** `grant` false: facts only, nothing new is begun (the orchestrator is draining). */
  async look(signal: AbortSignal, grant: boolean): Promise<void> {
    const { fleet, store, settle, kick } = this.#deps;
    const { entries, complete } = await fleet.list(signal);
    this.#entries = entries;
    this.#looks += 1;
    const claimable = entries.filter(isServable).map((entry) => entry.sessionId);

    for (const entry of entries) {
      if (grant && !this.#facts.has(entry.sessionId)) await this.#enroll(entry);
    }
    const news = this.#news(entries, complete);
    const changed = await store.observe(news);
    for (const [id, text] of news) if (this.#facts.has(id)) this.#facts.set(id, text);
    const waking = new Set(changed);
    // Those that may be claimed must reach `queued` before slots are handed out.
    await Promise.all(claimable.filter((id) => waking.delete(id)).map((id) => within(settle(id), SETTLE_MS)));
    for (const id of waking) kick(id);

    this.ledger.trigger.looked({ claimable });
    if (grant) await this.#reserve();
  }

  async #reserve(): Promise<void> {
    const { store, kick, maxConcurrent } = this.#deps;
    const ledger = this.ledger.getSnapshot().context;
    if (!worthReserving(ledger)) return;
    const event = JSON.stringify({ type: 'slot.granted' });
    const answer = await store.grantSlots(ledger.waiting, maxConcurrent, event);
    this.ledger.trigger.reserved(answer);
    for (const id of answer.granted) kick(id);
  }

  async #enroll(entry: QueueEntry): Promise<void> {
    if (!isServable(entry) || !this.#isFit(entry)) return;
    const { store, kind, clock, inputOf } = this.#deps;
    const facts = factsOf(entry);
    const text = JSON.stringify(facts);
    const actor = toSaved(kind, begin(kind, inputOf(entry, facts)));
    const id = entry.sessionId;
    let fresh = await store.enroll(id, actor, text, clock.now());
    if (!fresh) {
      const row = await store.read(id);
      // An actor that ended makes room for a session that came back.
      if (row?.state === 'ended' && (await store.remove(id, row.rev))) {
        fresh = await store.enroll(id, actor, text, clock.now());
      }
    }
    this.#facts.set(id, fresh ? text : '');
  }

  #isFit(entry: QueueEntry): boolean {
    const problem =
      entry.platform !== 'linux'
        ? `asks for ${entry.platform.slice(0, 40)}; only linux is served`
        : Buffer.byteLength(entry.sessionId) > LONGEST_ID
          ? `has an id of more than ${LONGEST_ID} bytes`
          : null;
    if (problem === null) return true;
    if (!this.#unfit.has(entry.sessionId)) {
      this.#unfit.add(entry.sessionId);
      this.#deps.log?.(`session ${entry.sessionId.slice(0, 60)} is left alone: it ${problem}`);
    }
    return false;
  }

  /** Facts that differ from what was last written, missing rows included. */
  #news(entries: readonly QueueEntry[], complete: boolean): Map<string, string> {
    const full = this.#looks % FULL_EVERY === 0;
    const news = new Map<string, string>();
    const present = new Set<string>();
    for (const entry of entries) {
      present.add(entry.sessionId);
      this.#absences.delete(entry.sessionId);
      const known = this.#facts.get(entry.sessionId);
      const text = JSON.stringify(factsOf(entry));
      if (known !== undefined && (full || known !== text)) news.set(entry.sessionId, text);
    }
    if (complete) this.#countAbsences(present, news);
    return news;
  }

  #countAbsences(present: ReadonlySet<string>, news: Map<string, string>): void {
    for (const [id, known] of this.#facts) {
      if (present.has(id) || known.includes('"presence":"missing"')) continue;
      const walks = (this.#absences.get(id) ?? 0) + 1;
      this.#absences.set(id, walks);
      const facts = factsSchema.safeParse(walks >= ABSENT_WALKS ? safeJson(known) : null);
      if (facts.success) news.set(id, JSON.stringify({ ...facts.data, presence: 'missing' }));
    }
  }
}

const isServable = (entry: QueueEntry): boolean => entry.phase === 'pending' && !isEnded(entry.status);

/** Settles with `work`, or after `ms` without it. */
const within = (work: Promise<unknown>, ms: number): Promise<unknown> =>
  Promise.race([work, pause(ms, undefined, { ref: false })]);

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
