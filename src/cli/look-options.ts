/** What the commands that only look are asked. */
export interface LookOptions {
  /** `file:…`, instead of DATABASE_URL. */
  readonly database?: string;
  /** Address of a running world, whose clock and database count. */
  readonly world?: string;
  readonly json: boolean;
}

export interface SessionsOptions extends LookOptions {
  /** Top-level or dotted. */
  readonly state?: string;
  /** Part of the id. */
  readonly search?: string;
  readonly limit: number;
}
