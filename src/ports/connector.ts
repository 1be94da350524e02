/**
 * How the pages and the two callbacks move a connection; `src/connect/` does it.
 *
 * No answer carries a secret, but for the addresses that a browser is sent to.
 * All of it may be repeated. Errors: TransientError while the database is away,
 * RefusedError for settings.
 */

/** Of one attempt, what its own browser may see. Texts may come from outside. */
export interface AttemptView {
  readonly attemptId: string;
  /**
   * `waiting`: for the person, at Devin or (a project's) on our page. `working`: look again. `superseded`: another
   * attempt has taken its place. `gone`: nothing is known of it.
   */
  readonly kind:
    | 'preparing'
    | 'waiting'
    | 'working'
    | 'connected'
    | 'expired'
    | 'refused'
    | 'failed'
    | 'superseded'
    | 'gone';
  /** The whole dotted state, for curiosity. */
  readonly state: string;
  /** For `refused` and `failed`: what happened and what to do, in words. */
  readonly problem: string | null;
  /** Whether `retry` may help. */
  readonly retryable: boolean;
  readonly expiresAt: number | null;
  /** The project of somebody that is being set up; null: this deployment itself. */
  readonly project: {
    readonly projectId: string;
    readonly teamId: string | null;
    readonly name: string | null;
    /** Variables that were written so far. */
    readonly written: readonly string[];
  } | null;
  readonly outpost: { readonly id: string; readonly name: string | null } | null;
}

/** This deployment's own connection, as its operators see it. */
export interface ConnectionView {
  readonly state: string;
  /** What sessions are served with now. `environment`: DEVIN_OUTPOSTS_TOKEN and DEVIN_OUTPOST_ID. */
  readonly source: 'browser' | 'environment' | 'none';
  readonly outpostId: string | null;
  readonly apiHost: string | null;
  /** Whether the environment's, of the same outpost, would be used if the browser's were forgotten. */
  readonly fallsBack: boolean;
  /** When it was connected; null for the environment's. */
  readonly since: number | null;
  /** How the latest attempt went wrong, if it did. */
  readonly problem: string | null;
  readonly working: boolean;
  /** Sessions that hold a slot: what a disconnect, or another outpost, would leave alone. */
  readonly sessions: number;
}

export interface Connector {
  /** Begins to connect this deployment; answers where to send the browser. An earlier attempt is superseded. */
  begin(): Promise<
    | { readonly kind: 'begun'; readonly attemptId: string; readonly redirectTo: string }
    /** An authorization is being exchanged or stored right now. */
    | { readonly kind: 'busy' }
  >;
  /** Begins to set up somebody's project, from what Vercel's installation brought. */
  beginProject(installation: Installation): Promise<{ readonly attemptId: string }>;
  /** Where to send the browser of a project's attempt that waits; null when it does not wait (any more). */
  continueProject(attemptId: string): Promise<string | null>;
  /** Devin sent the browser back with a code. Only the first code of an attempt counts. */
  returned(attemptId: string, code: string): Promise<void>;
  /** Devin sent the browser back without one. `error` as in RFC 6749 §4.1.2.1. */
  denied(attemptId: string, error: string): Promise<void>;
  /** Tries again what failed. */
  retry(attemptId: string): Promise<void>;
  look(attemptId: string): Promise<AttemptView>;
  /** Where the browser goes when a project's attempt is connected; https on vercel.com. */
  nextOf(attemptId: string): Promise<string | null>;
  own(): Promise<ConnectionView>;
  disconnect(): Promise<void>;
}

export interface Installation {
  readonly code: string;
  readonly configurationId: string;
  readonly projectId: string;
  readonly teamId: string | null;
  /** Checked by `isVercelUrl` before. */
  readonly next: string;
}
