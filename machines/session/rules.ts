/**
 * The numbers of a session's lifecycle, in one place.
 *
 * Milliseconds unless a name says otherwise. A deployment overrides those that
 * its settings name; the rest follow from Devin's and Vercel's contracts.
 */
export interface SessionRules {
  /** First life of a vm and length of one extension (SANDBOX_TIMEOUT_MS). */
  readonly sandboxTimeoutMs: number;
  /** A vm is extended when less than this is left. */
  readonly headroomMs: number;
  /** The longest life of one vm that the plan allows (SANDBOX_MAX_LIFETIME_MS). */
  readonly maxLifetimeMs: number;
  /** A vm rolls over this long before the plan would end it. */
  readonly rollOverMarginMs: number;
  /** Pause between two looks at a healthy remote (PROBE_INTERVAL_MS). */
  readonly probeEveryMs: number;
  /** The same while no word has come from the vm, so that its end may go untold (UNHEARD_PROBE_INTERVAL_MS). */
  readonly unheardProbeEveryMs: number;
  /** How long a sandbox may be booting or stopping before an episode that needs it is given up. */
  readonly settleWithinMs: number;
  /** A claim is renewed when less than this, or a third of its life, is left. */
  readonly renewMarginMs: number;
  /** Least pause between two renewals of one claim. */
  readonly renewPauseMs: number;
  /** Devin gives a session up when no machine connects within about five minutes of the claim. */
  readonly connectWithinMs: number;
  /** Consecutive single reads that confirm `suspended`, and the pause before each. */
  readonly suspendedReads: number;
  readonly suspendedReadEveryMs: number;
  /** Reads of the final status after a clean exit, and the pause between them. */
  readonly finalReads: number;
  readonly finalReadEveryMs: number;
  /** Restarts of a crashed remote before giving up, with their backoff. */
  readonly restartLimit: number;
  readonly restartBackoffMs: Backoff;
  /** Vms that may be lost before giving up. */
  readonly vmLossLimit: number;
  /** A remote that ran this long without a crash is stable: earlier crashes and losses are forgiven. */
  readonly stableAfterMs: number;
  /** Failed episodes in a row before a session is parked, and the pause before each new one. */
  readonly giveUpLimit: number;
  readonly retryBackoffMs: Backoff;
  /** Looks after a launch that may find no trace of it before it counts as lost. */
  readonly absentLooks: number;
  /** Pause between looks while something settles (a launch, a boot, a stop). */
  readonly lookBackoffMs: Backoff;
  /** Pause before a failed renewal, extension or policy correction is tried anew. */
  readonly tryAgainMs: number;
  /** How long the saved state of a session at rest is kept (the snapshot's expiration); null = for ever. */
  readonly keepMs: number | null;
}

/** Doubles from `first` to `most`. */
export interface Backoff {
  readonly first: number;
  readonly most: number;
}

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

export function sessionRules(settings: Partial<SessionRules> = {}): SessionRules {
  const sandboxTimeoutMs = settings.sandboxTimeoutMs ?? 20 * minute;
  const probeEveryMs = settings.probeEveryMs ?? 2 * minute;
  return {
    sandboxTimeoutMs,
    headroomMs: Math.min(10 * minute, sandboxTimeoutMs / 2),
    maxLifetimeMs: day,
    rollOverMarginMs: 5 * minute,
    probeEveryMs,
    unheardProbeEveryMs: probeEveryMs,
    settleWithinMs: 15 * minute,
    renewMarginMs: minute,
    renewPauseMs: 5 * second,
    connectWithinMs: 5 * minute,
    suspendedReads: 3,
    suspendedReadEveryMs: 3 * second,
    finalReads: 5,
    finalReadEveryMs: 2 * second,
    restartLimit: 5,
    restartBackoffMs: { first: 2 * second, most: minute },
    vmLossLimit: 5,
    stableAfterMs: 10 * minute,
    giveUpLimit: 5,
    retryBackoffMs: { first: 10 * second, most: 10 * minute },
    absentLooks: 8,
    lookBackoffMs: { first: second / 2, most: 5 * second },
    tryAgainMs: 15 * second,
    keepMs: 30 * day,
    ...settings,
  };
}

/** The pause before try number `tries + 1`. */
export function backoffMs({ first, most }: Backoff, tries: number): number {
  return Math.min(most, first * 2 ** Math.min(tries, 30));
}
