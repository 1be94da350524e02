/**
 * What a connection's actor asks the outside world to do: names, inputs, answers.
 *
 * Declarations only; `src/effects/` performs them. No answer carries a secret.
 * `at` is the instant of the answer, in our time.
 */
import { fromPromise } from 'xstate';
import type { Outpost, Project } from './context.js';

export interface Attempt {
  readonly attemptId: string;
}

/** Final: another try of the same attempt would end alike. `problem` says what happened and what to do. */
export interface Refusal {
  readonly kind: 'refused';
  readonly at: number;
  readonly problem: string;
}

export interface InstallAnswer {
  readonly kind: 'installed';
  readonly at: number;
  readonly teamId: string | null;
  readonly name: string | null;
}

export interface GrantAnswer {
  readonly kind: 'granted';
  readonly at: number;
  readonly outpost: Outpost;
}

export interface AdoptAnswer {
  readonly kind: 'adopted';
  readonly at: number;
  readonly outpost: Outpost;
}

export interface WriteAnswer {
  /** `partly`: the rest is refused for now; another try writes the same values. */
  readonly kind: 'written' | 'partly';
  readonly at: number;
  readonly written: readonly string[];
  readonly problem: string | null;
}

const effect = <Output, Input>(name: string) =>
  fromPromise<Output, Input>(() => Promise.reject(new Error(`effect ${name} has no implementation here`)));

export const connectionEffects = {
  /** Exchanges Vercel's code for access to the project, and learns its name. */
  exchangeInstallation: effect<InstallAnswer | Refusal, Attempt & { project: Project }>(
    'exchangeInstallation',
  ),
  /** Exchanges Devin's code for the outpost and its token, which goes into the vault. */
  exchangeCode: effect<GrantAnswer | Refusal, Attempt>('exchangeCode'),
  /** Tries the token, and serves sessions with it from then on. */
  adoptConnection: effect<AdoptAnswer | Refusal, Attempt>('adoptConnection'),
  /** Writes the settings into the project, one after the other. */
  configureProject: effect<WriteAnswer, Attempt & { project: Project }>('configureProject'),
  /** Deletes the attempt's secrets. */
  forgetAttempt: effect<{ at: number }, Attempt>('forgetAttempt'),
  /** Deletes the credentials that sessions are served with, and the secrets of an attempt that came to nothing. */
  forgetConnection: effect<{ at: number }, Attempt>('forgetConnection'),
};

/** What an exhausted effect leaves for `onError`. */
export interface EffectFailure {
  readonly message: string;
  readonly at: number;
}
