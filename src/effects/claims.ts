/**
 * Claims, with the secrets that come with them.
 *
 * A claim's answer carries the connect token, the gateway and the allow list.
 * They stay in this process's memory between the effects of one episode; a
 * process that does not have them claims again under the same acceptor, which
 * renews, and gets fresh ones. Nothing here is ever written anywhere.
 */

import type { Claimant, ClaimRefusal, ClaimTerms } from '../../machines/session/effects.js';
import { isOver } from '../../machines/session/facts.js';
import type { ConnectGrant, Fleet, SessionPolicy, SessionStatus } from '../ports/fleet.js';
import type { EffectCall } from '../runtime/actor.js';
import { policyKey } from './policy-key.js';

export interface HeldClaim {
  readonly kind: 'held';
  readonly grant: ConnectGrant;
  readonly policy: SessionPolicy;
  readonly remoteSha: string | null;
  readonly status: SessionStatus | null;
  /** Terms of a claim made just now; null when memory served. */
  readonly claim: ClaimTerms | null;
}

export class Claims {
  readonly #fleet: Fleet;
  readonly #held = new Map<string, HeldClaim>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** What this process knows of the claim, or a new answer. */
  async obtain(claimant: Claimant, call: EffectCall): Promise<HeldClaim | ClaimRefusal> {
    const known = this.#held.get(claimant.acceptorId);
    return known === undefined ? this.claim(claimant, call) : { ...known, claim: null };
  }

  /** Claims or renews. A claim of a session that is over is held all the same: the caller gives it back. */
  async claim(claimant: Claimant, call: EffectCall): Promise<HeldClaim | ClaimRefusal> {
    const answer = await this.#fleet.claim(claimant.sessionId, claimant.acceptorId, call.signal);
    if (answer.kind !== 'claimed') {
      this.forget(claimant);
      return { kind: answer.kind, at: call.now() };
    }
    const { entry, grant, claimDeadlineAt } = answer;
    const held: HeldClaim = {
      kind: 'held',
      grant,
      policy: entry.policy,
      remoteSha: entry.remoteSha,
      status: entry.status,
      claim: { claimDeadlineAt, policyKey: policyKey(entry.policy) },
    };
    this.#held.set(claimant.acceptorId, held);
    return isOver(entry.status) ? { kind: 'over', at: call.now() } : held;
  }

  async release(claimant: Claimant, call: EffectCall): Promise<void> {
    await this.#fleet.release(claimant.sessionId, claimant.acceptorId, call.signal);
    this.forget(claimant);
  }

  /** The next launch, whenever it comes, starts from a fresh answer. */
  forget({ acceptorId }: Claimant): void {
    this.#held.delete(acceptorId);
  }
}
