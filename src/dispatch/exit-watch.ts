/**
 * Holds one wait on each serving session's supervisor, so that the end of a
 * remote is noticed when it happens.
 *
 * Only a long-lived process does this; the slow probe is the safety net. A wait
 * that drops is taken up again. It carries no facts: the actor looks for itself.
 */
import type { SessionContext } from '../../machines/session/context.js';
import type { Clock } from '../ports/clock.js';
import type { SandboxHost } from '../ports/sandbox.js';
import type { Store } from '../ports/store.js';

/** Pause before a dropped wait is taken up again. */
export const AGAIN_MS = 2_000;
/** Pause after an end was told: by then the actor has looked, and usually moved on. */
const TOLD_MS = 60_000;

export interface ExitWatchDeps {
  readonly host: SandboxHost;
  readonly store: Store;
  readonly clock: Clock;
  kick(id: string): void;
}

export class ExitWatch {
  readonly #deps: ExitWatchDeps;
  #stopped = false;
  readonly #holds = new Map<string, { launch: string; stop: AbortController }>();

  constructor(deps: ExitWatchDeps) {
    this.#deps = deps;
  }

  /** Tells where an actor is now: a wait is held exactly while it serves. */
  follow(id: string, state: string, context: SessionContext): void {
    if (this.#stopped) return;
    const top = state.split('.')[0];
    const serves = (top === 'serving' || top === 'extending') && context.vm !== null;
    const launch = `${context.vm?.vmId} ${context.episode}-${context.launches}`;
    const held = this.#holds.get(id);
    if (serves && held?.launch === launch) return;
    held?.stop.abort();
    this.#holds.delete(id);
    if (!serves || context.vm === null) return;
    const stop = new AbortController();
    this.#holds.set(id, { launch, stop });
    const vm = { name: context.sandboxName, vmId: context.vm.vmId };
    void this.#hold(id, vm, `${context.episode}-${context.launches}`, stop.signal);
  }

  /** Ends every wait; none is begun afterwards. */
  stop(): void {
    this.#stopped = true;
    for (const held of this.#holds.values()) held.stop.abort();
    this.#holds.clear();
  }

  async #hold(id: string, vm: { name: string; vmId: string }, launchId: string, signal: AbortSignal) {
    while (!signal.aborted) {
      const end = await this.#deps.host.awaitExit(vm, launchId, signal).catch(() => 'dropped' as const);
      if (signal.aborted) return;
      if (end === 'ended') await this.#tell(id);
      await this.#deps.clock.sleep(end === 'ended' ? TOLD_MS : AGAIN_MS, signal).catch(() => undefined);
    }
  }

  async #tell(id: string): Promise<void> {
    const posted = this.#deps.store.post(id, JSON.stringify({ type: 'doorbell.rung' }), { once: true });
    // When the store is away the probe tells it later.
    await posted.then(() => this.#deps.kick(id)).catch(() => undefined);
  }
}
