/**
 * What an operator sees of the fleet at one moment: plain data, without
 * secrets, made by whoever wires the parts and drawn by the page and by the
 * terminal alike.
 *
 * Instants are milliseconds of the orchestrator's clock. Texts may come from
 * outside: whoever draws them escapes them.
 */

export interface SessionView {
  readonly id: string;
  /** The state's dotted path: `serving.monitoring`. */
  readonly state: string;
  readonly stateSince: number;
  readonly episode: number;
  readonly sandboxName: string | null;
  readonly vmId: string | null;
  readonly vmExpiresAt: number | null;
  readonly claimDeadlineAt: number | null;
  /** In words, what has to happen next: `a free slot`. */
  readonly waitsFor: string | null;
  /** How the episode ended, once it did. */
  readonly outcome: string | null;
  /** What an operator has to mend. */
  readonly problem: string | null;
  /** Why the row is set aside. */
  readonly quarantine: string | null;
  readonly holdsSlot: boolean;
}

export interface FleetView {
  readonly at: number;
  /** How many milliseconds of the clock pass in one of the wall's. */
  readonly speed: number;
  readonly slots: { readonly used: number; readonly max: number };
  /** Sessions per dotted state, those that `sessions` leaves out included. */
  readonly states: Readonly<Record<string, number>>;
  readonly sessions: readonly SessionView[];
  /** What is wrong with the whole, in words: the fleet API refuses the token. */
  readonly problems: readonly string[];
  /** Sessions that wait for a slot. */
  readonly queueDepth: number;
}

export const ACTION_NAMES = ['start', 'suspend', 'resume', 'end', 'stop', 'retry'] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

export interface ActionAnswer {
  readonly ok: boolean;
  readonly message: string;
}

export type Health =
  | { readonly kind: 'ready'; readonly details: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unready'; readonly reason: string };
