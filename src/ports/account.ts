/** Devin's account that sessions are served with, as it is now. */

export interface DevinAccount {
  readonly source: 'browser' | 'environment';
  /** A secret: for a header, and nothing else. */
  readonly token: string;
  readonly apiUrl: string;
  readonly outpostId: string;
}

export interface AccountReader {
  /**
   * Null: nothing is connected. A token that was changed is known within seconds. Rejects with RefusedError when
   * what is kept does not open, or names a host that no token goes to, and with TransientError.
   */
  current(): Promise<DevinAccount | null>;
  /** Reads anew at the next `current`. */
  forget(): void;
}
