/**
 * Drives one actor as far as it goes now.
 *
 * Saves the next state before performing its effect, so that a crash repeats an
 * effect instead of losing one; every effect is therefore safe to repeat. Any
 * number of drivers in any number of processes may call it: the row's lease and
 * compare-and-set on `rev` let one of them through. Decides nothing: see the
 * machine.
 */
import { type AnyMachineSnapshot, transition } from 'xstate';
import { BugError, messageOf, StaleDriverError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { ActorRow, Hold, NewsRow, Store, Trouble } from '../ports/store.js';
import type { ActorKind } from './actor.js';
import { bounded } from './bounded.js';
import { failureOf } from './failure.js';
import { holdLease, LEASE_MS } from './lease.js';
import { doneEvent, errorEvent, type PendingEffect, pendingEffect, type Timer, timers } from './level.js';
import { restore, stateOf, toSaved } from './saved.js';

const NO_TROUBLE: Trouble = { attempt: 0, retryAt: null, problem: null };

/** Far more facts and due timers than any chart passes on its way to an effect or to rest. */
const MOST_TURNS = 100;

export interface Transition {
  readonly id: string;
  readonly rev: number;
  readonly at: number;
  readonly event: { readonly type: string };
  readonly from: string;
  readonly to: string;
  readonly context: unknown;
  /** One of MAX_CONCURRENT slots became free. */
  readonly freedSlot: boolean;
}

export interface DriveDeps {
  readonly store: Store;
  readonly kind: ActorKind;
  readonly clock: Clock;
  /** Names this driver in leases; unique per process. */
  readonly owner: string;
  /** In [0, 1). */
  random(): number;
  /** A short line for the operator's log. */
  log?(line: string): void;
  onTransition?(transition: Transition): void;
}

export type DriveAnswer =
  /** Nothing to do before `wakeAt`; null: only news moves it. */
  | { readonly kind: 'rests'; readonly wakeAt: number | null; readonly state: string }
  /** An effect is pending that this driver does not perform, or has no time for: drive again. */
  | { readonly kind: 'more' }
  /** Another driver is at it until `wakeAt`. */
  | { readonly kind: 'busy'; readonly wakeAt: number }
  /** The lease or the row went to another driver in the middle. */
  | { readonly kind: 'stale' }
  /** The row was written by a newer version of this program. */
  | { readonly kind: 'superseded'; readonly version: number }
  | { readonly kind: 'quarantined'; readonly reason: string }
  | { readonly kind: 'absent' };

export interface DriveOptions {
  /** Wall-clock budget: no effect is begun after it. Milliseconds. */
  readonly budgetMs?: number;
  /** Stops the drive between two steps and aborts a running effect. */
  readonly signal?: AbortSignal;
  /** From then on no effect is begun; a running one ends in peace, and its answer is saved. */
  readonly settle?: AbortSignal;
  /** Effects that this driver performs, all unless given; before any other it answers `more`. */
  readonly performs?: (effect: string) => boolean;
}

export async function drive(deps: DriveDeps, id: string, options: DriveOptions = {}): Promise<DriveAnswer> {
  const taken = await deps.store.take(id, deps.owner, LEASE_MS);
  if (taken.kind === 'absent') return taken;
  if (taken.kind === 'busy') return { kind: 'busy', wakeAt: deps.clock.now() + taken.leftMs };
  const lease = holdLease(deps.store, id, deps.owner, options.signal);
  let answer: DriveAnswer | null = null;
  try {
    answer = await new Drive(deps, lease.signal, options).run(taken.row, taken.news);
    return answer;
  } catch (error) {
    if (error instanceof StaleDriverError) return { kind: 'stale' };
    if (lease.signal.aborted) return { kind: 'more' };
    throw error;
  } finally {
    lease.stop();
    // A row that rests is free already; one that another driver has taken is left alone.
    if (answer?.kind !== 'rests') await deps.store.free(id, deps.owner).catch(() => undefined);
  }
}

/** One drive: the row as it was read, and the snapshot as it is saved. */
class Drive {
  readonly #deps: DriveDeps;
  readonly #signal: AbortSignal;
  readonly #endAt: number;
  readonly #settle: AbortSignal | undefined;
  readonly #performs: (effect: string) => boolean;
  #row!: ActorRow;
  #news: NewsRow[] = [];
  #snapshot!: AnyMachineSnapshot;
  #rev = 0;
  #trouble: Trouble = NO_TROUBLE;
  /** Transitions in a row for which nothing happened outside. */
  #turns = 0;

  constructor(deps: DriveDeps, signal: AbortSignal, { budgetMs, settle, performs }: DriveOptions) {
    this.#deps = deps;
    this.#signal = signal;
    this.#endAt = performance.now() + (budgetMs ?? Number.POSITIVE_INFINITY);
    this.#settle = settle;
    this.#performs = performs ?? (() => true);
  }

  async run(row: ActorRow, news: readonly NewsRow[]): Promise<DriveAnswer> {
    const refusal = await this.#load(row, news);
    if (refusal !== null) return refusal;
    try {
      return await this.#loop();
    } catch (error) {
      // A broken invariant must neither loop nor be lost: the row waits for a person.
      if (error instanceof BugError) return this.#setAside(`this program has a defect: ${error.message}`);
      throw error;
    }
  }

  async #loop(): Promise<DriveAnswer> {
    for (;;) {
      this.#signal.throwIfAborted();
      if (await this.#foldNews()) continue;
      if (await this.#foldFacts()) continue;
      if (await this.#fireDueTimer()) continue;
      const effect = judged(() => pendingEffect(this.#deps.kind, this.#snapshot));
      const { retryAt } = this.#trouble;
      if (effect !== null && (retryAt === null || retryAt <= this.#deps.clock.now())) {
        if (!this.#mayBegin(effect)) return { kind: 'more' };
        const answer = await this.#perform(effect);
        if (answer !== null) return answer;
        continue;
      }
      const soonest = this.#wakeAt((effect && retryAt) ?? Number.POSITIVE_INFINITY);
      const wakeAt = soonest === Number.POSITIVE_INFINITY ? null : soonest;
      const factsRev = this.#row.factsRev;
      if (await this.#deps.store.rest(this.#hold(), { factsRev, wakeAt })) {
        return { kind: 'rests', wakeAt, state: stateOf(this.#snapshot) };
      }
      const again = await this.#reload();
      if (again !== null) return again;
    }
  }

  #mayBegin(effect: PendingEffect): boolean {
    return !this.#settle?.aborted && performance.now() < this.#endAt && this.#performs(effect.name);
  }

  async #load(row: ActorRow, news: readonly NewsRow[]): Promise<DriveAnswer | null> {
    if (row.quarantine !== null) return { kind: 'quarantined', reason: row.quarantine };
    const restored = restore(this.#deps.kind, row);
    if (restored.kind === 'newer') return { kind: 'superseded', version: restored.version };
    this.#row = row;
    this.#rev = row.rev;
    if (restored.kind === 'unreadable') return this.#setAside(restored.reason);
    this.#news = [...news];
    this.#snapshot = restored.snapshot;
    const { attempt, retryAt, problem } = row;
    this.#trouble = { attempt, retryAt, problem };
    return null;
  }

  async #reload(): Promise<DriveAnswer | null> {
    const taken = await this.#deps.store.take(this.#row.id, this.#deps.owner, LEASE_MS);
    if (taken.kind !== 'taken')
      throw new StaleDriverError(`drive ${this.#row.id}: the lease went to another driver`);
    return this.#load(taken.row, taken.news);
  }

  async #setAside(reason: string): Promise<DriveAnswer> {
    this.#deps.log?.(`${this.#row.id}: set aside: ${reason}`);
    const done = await this.#deps.store.quarantine(this.#hold(), reason);
    return done ? { kind: 'quarantined', reason } : { kind: 'stale' };
  }

  async #foldNews(): Promise<boolean> {
    const news = this.#news.shift();
    if (news === undefined) return false;
    this.#turns = 0;
    const event = this.#parse(this.#deps.kind.eventSchema, news.event);
    await this.#commit(event, [news.seq]);
    return true;
  }

  async #foldFacts(): Promise<boolean> {
    if (this.#row.facts === null || this.#snapshot.status !== 'active') return false;
    return this.#turn(this.#factsEvent(this.#row.facts));
  }

  #factsEvent(facts: string): { type: string } | null {
    try {
      return this.#deps.kind.factsEvent(facts, this.#snapshot.context);
    } catch (error) {
      throw new BugError(`the queue's facts do not parse: ${messageOf(error)}`);
    }
  }

  #fireDueTimer(): Promise<boolean> {
    return this.#turn(this.#dueTimer());
  }

  /** Takes an event that neither news nor an effect brought: a chart that waits for nothing else must come to an end. */
  async #turn(event: { type: string } | null): Promise<boolean> {
    if (event === null) return false;
    this.#turns += 1;
    if (this.#turns > MOST_TURNS)
      throw new BugError(`'${this.#deps.kind.name}' turns in circles: ${event.type}`);
    await this.#commit(event, []);
    return true;
  }

  /** Says what stood in the way while the time passed, when something did. */
  #dueTimer(): { type: string; cause?: string } | null {
    const [soonest] = this.#timers();
    if (soonest === undefined || soonest.at > this.#deps.clock.now()) return null;
    const { problem } = this.#trouble;
    return problem === null ? soonest.event : { ...soonest.event, cause: problem };
  }

  /** Performs the pending effect and takes its answer as the next event; answers how the drive ends, if it does. */
  async #perform(effect: PendingEffect): Promise<DriveAnswer | null> {
    const { kind, clock } = this.#deps;
    const implementation = kind.effects[effect.name];
    if (implementation === undefined) throw new BugError(`no effect '${effect.name}' in '${kind.name}'`);
    this.#turns = 0;
    const hold = this.#hold();
    const call = {
      key: `${hold.id}:${hold.rev}:${effect.id}`,
      attempt: this.#trouble.attempt + 1,
      now: () => clock.now(),
      fence: async () => {
        if (!(await this.#deps.store.holds(hold))) {
          throw new StaleDriverError(`${effect.name} ${hold.id}: another driver has moved it`);
        }
      },
    };
    let output: unknown;
    try {
      output = await bounded(
        (signal) => implementation(effect.input as never, { ...call, signal }),
        this.#signal,
      );
    } catch (error) {
      if (error instanceof StaleDriverError) throw error;
      this.#signal.throwIfAborted();
      return this.#noteFailure(effect, error);
    }
    // A deadline that passed while the effect ran beats its late answer; the effect is safe to repeat.
    await this.#commit(this.#dueTimer() ?? doneEvent(effect, output), [], 'over');
    return null;
  }

  async #noteFailure(effect: PendingEffect, error: unknown): Promise<DriveAnswer | null> {
    const { kind, clock, store } = this.#deps;
    const now = clock.now();
    const failure = failureOf(error, effect.name, this.#trouble.attempt, this.#deps.random());
    const { message, problem, attempt } = failure;
    if (failure.counts && attempt >= kind.patience(effect.name)) {
      this.#deps.log?.(`${this.#row.id}: gave up on ${effect.name} after ${attempt} tries: ${message}`);
      await this.#commit(this.#dueTimer() ?? errorEvent(effect, { message, at: now }), [], 'over');
      return null;
    }
    this.#deps.log?.(`${this.#row.id}: ${problem}`);
    const { factsRev } = this.#row;
    const retryAt = now + failure.pauseMs;
    const wakeAt = this.#wakeAt(retryAt);
    const note = { attempt, retryAt, wakeAt, problem, factsRev };
    if (!(await store.defer(this.#hold(), note))) return { kind: 'stale' };
    return { kind: 'rests', wakeAt, state: stateOf(this.#snapshot) };
  }

  /**
   * Takes one event and saves where it leads; the journal entry is part of the same transaction.
   * `effect`: whether the pending one still has to be done, or has just ended, well or not.
   */
  async #commit(
    event: { type: string } | null,
    newsTaken: number[],
    effect: 'pending' | 'over' = 'pending',
  ): Promise<void> {
    const { kind, clock, store } = this.#deps;
    const next = event === null ? this.#snapshot : this.#step(event);
    const moved = next !== this.#snapshot;
    if (!moved && newsTaken.length === 0) {
      throw new BugError(`'${kind.name}' ignores ${event?.type} in ${stateOf(this.#snapshot)}`);
    }
    const at = clock.now();
    const from = stateOf(this.#snapshot);
    const to = stateOf(next);
    const { columns, journal, heldSlot } = judged(() => ({
      columns: toSaved(kind, next),
      journal: { at, event: JSON.stringify(event), from, to, context: JSON.stringify(next.context) },
      heldSlot: kind.holdsSlot(this.#snapshot),
    }));
    const trouble = effect === 'pending' && this.#stays(next) ? this.#trouble : NO_TROUBLE;
    const saved = await store.save(this.#hold(), {
      next: columns,
      trouble,
      journal: moved ? journal : null,
      newsTaken,
      at,
    });
    if (!saved) throw new StaleDriverError(`save ${this.#row.id}: another driver has moved it`);
    const freedSlot = heldSlot && !columns.holdsSlot;
    this.#snapshot = next;
    this.#rev += 1;
    this.#trouble = trouble;
    if (moved && event !== null) {
      const { id } = this.#row;
      this.#deps.onTransition?.({
        id,
        rev: this.#rev,
        at,
        event,
        from,
        to,
        context: next.context,
        freedSlot,
      });
    }
  }

  /** Whether `next` waits for the very effect that is pending now: what is known of its failures then holds. */
  #stays(next: AnyMachineSnapshot): boolean {
    const { kind } = this.#deps;
    if (this.#trouble.retryAt === null || stateOf(next) !== stateOf(this.#snapshot)) return false;
    return judged(() => pendingEffect(kind, this.#snapshot)?.id === pendingEffect(kind, next)?.id);
  }

  #step(event: { type: string }): AnyMachineSnapshot {
    // The pure function happily moves a snapshot that is done.
    if (this.#snapshot.status !== 'active') return this.#snapshot;
    const [next] = judged(() => transition(this.#deps.kind.machine, this.#snapshot, event as never));
    if (next.status === 'error') throw new BugError(`${event.type}: ${JSON.stringify(next.error)}`);
    return next;
  }

  #parse(schema: ActorKind['eventSchema'], text: string): { type: string } | null {
    try {
      return schema.parse(JSON.parse(text));
    } catch (error) {
      this.#deps.log?.(`${this.#row.id}: dropped news that does not parse: ${messageOf(error, 120)}`);
      return null;
    }
  }

  #hold(): Hold {
    return { id: this.#row.id, owner: this.#deps.owner, rev: this.#rev };
  }

  #timers(): Timer[] {
    return judged(() => timers(this.#deps.kind, this.#snapshot));
  }

  /** The soonest of the timers and `retryAt`, in whole milliseconds as the row keeps it; 0 would mean now. */
  #wakeAt(retryAt: number): number {
    return Math.max(1, Math.ceil(Math.min(retryAt, ...this.#timers().map(({ at }) => at))));
  }
}

/** Whatever the chart throws, or what its kind says of it, is a defect of this program. */
function judged<T>(ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    throw error instanceof BugError ? error : new BugError(messageOf(error));
  }
}
