/**
 * What a session's actor asks the outside world to do: names, inputs, answers.
 *
 * Declarations only; `src/effects/` performs them. Inputs come from context
 * alone, so that the saved state is enough to repeat an effect. No answer
 * carries a secret. `at` is the instant of the answer, in our time.
 */
import { fromPromise, type OutputFrom } from 'xstate';
import type { SessionFacts } from './context.js';

export interface ClaimTerms {
  readonly claimDeadlineAt: number | null;
  readonly policyKey: string;
}
/** Whose vm, by id: an effect that comes late cannot touch the next boot. */
export interface Vm {
  readonly name: string;
  readonly vmId: string;
}
export interface Claimant {
  readonly sessionId: string;
  readonly episode: number;
  readonly acceptorId: string;
}

/** The claim turned out not to be ours: another's (`taken`), without a row (`gone`), or of an ended session. */
export type ClaimRefusal = { readonly kind: 'taken' | 'gone' | 'over'; readonly at: number };
export type ClaimAnswer = { readonly kind: 'claimed'; readonly at: number; readonly claim: ClaimTerms };

export type OpenAnswer =
  | {
      readonly kind: 'running';
      readonly at: number;
      /** New terms, when the effect had to claim again for a grant. */
      readonly claim: ClaimTerms | null;
      readonly vmId: string;
      readonly startedAt: number;
      readonly expiresAt: number;
      readonly policyDigest: string;
      readonly origin: 'created' | 'restored' | 'cold' | 'adopted';
    }
  | { readonly kind: 'settling' | 'foreign'; readonly at: number };

export type LaunchAnswer =
  | { readonly kind: 'launched'; readonly at: number; readonly claim: ClaimTerms | null }
  | { readonly kind: 'vmGone'; readonly at: number };

export type RemoteAnswer =
  | { readonly kind: 'starting' | 'running' | 'absent' | 'vmGone'; readonly at: number }
  | { readonly kind: 'exited'; readonly at: number; readonly code: number }
  /** Not `permanent`: another launch may well succeed (the static host was away). */
  | {
      readonly kind: 'unlaunchable';
      readonly at: number;
      readonly reason: string;
      readonly permanent: boolean;
    };

export type SecureAnswer =
  | {
      readonly kind: 'secured';
      readonly at: number;
      readonly policyDigest: string;
      readonly claim: ClaimTerms | null;
    }
  | { readonly kind: 'vmGone'; readonly at: number };

export type ExtendAnswer =
  | { readonly kind: 'extended' | 'limited'; readonly at: number; readonly expiresAt: number }
  | { readonly kind: 'vmGone'; readonly at: number };

export type StopAnswer =
  /** The vm is stopped; `saved` tells whether its disk was. */
  | { readonly kind: 'stopped'; readonly at: number; readonly saved: boolean }
  /** There is no such sandbox. */
  | { readonly kind: 'absent'; readonly at: number }
  | { readonly kind: 'stopping' | 'running'; readonly at: number };

export interface RowAnswer {
  readonly at: number;
  /** Null: the queue answers that it has no such row. */
  readonly status: SessionFacts['status'] | 'gone';
}

const effect = <Output, Input>(name: string) =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`effect ${name} has no implementation here`)));

export const sessionEffects = {
  claimSession: effect<ClaimAnswer | ClaimRefusal, Claimant>('claimSession'),
  renewClaim: effect<ClaimAnswer | ClaimRefusal, Claimant>('renewClaim'),
  openSandbox: effect<OpenAnswer | ClaimRefusal, Claimant & { sandboxName: string }>('openSandbox'),
  launchRemote: effect<LaunchAnswer | ClaimRefusal, Claimant & { vm: Vm; launchId: string }>('launchRemote'),
  lookAtRemote: effect<RemoteAnswer, { sessionId: string; vm: Vm; launchId: string }>('lookAtRemote'),
  secureSandbox: effect<SecureAnswer | ClaimRefusal, Claimant & { vm: Vm }>('secureSandbox'),
  extendSandbox: effect<ExtendAnswer, { sessionId: string; vm: Vm; untilAt: number }>('extendSandbox'),
  /** Starts the stop of whatever vm of ours runs under the name, if any. */
  stopSandbox: effect<StopAnswer, { sessionId: string; sandboxName: string }>('stopSandbox'),
  /** Looks whether the stop is through. */
  lookAtStop: effect<StopAnswer, { sessionId: string; sandboxName: string }>('lookAtStop'),
  readRow: effect<RowAnswer, { sessionId: string }>('readRow'),
  releaseClaim: effect<{ at: number }, Claimant>('releaseClaim'),
  discardSandbox: effect<{ at: number }, { sessionId: string; sandboxName: string }>('discardSandbox'),
};
export type SessionEffectName = keyof typeof sessionEffects;
export type SessionEffectOutput<K extends SessionEffectName> = OutputFrom<(typeof sessionEffects)[K]>;

/** What an exhausted effect leaves for `onError`. */
export interface EffectFailure {
  readonly message: string;
  readonly at: number;
}
