/**
 * Secrets at rest.
 *
 * What is put in is sealed under its name before it reaches the database, so a
 * row that is copied to another name, or changed, does not open. Who has the
 * database and not the key has nothing.
 *
 * Errors: TransientError while the database is away; RefusedError that names
 * DEVIN_CONNECTION_SECRET when something is there and does not open.
 */

export interface Vault {
  /** Keeps `secret` under `name`, in place of what was there. `expiresAt` null: until it is dropped. */
  put(name: string, secret: string, expiresAt: number | null): Promise<void>;
  /**
   * Keeps `secret` until it is dropped and makes a setting of the store what it says, both or neither. Answers 0, or
   * how many slots are held when that keeps the setting from being changed.
   */
  putWith(
    name: string,
    secret: string,
    setting: { readonly key: string; readonly value: string },
  ): Promise<number>;
  /** Keeps it for a while, unless something is there already that has not expired; false then. One compare-and-set. */
  putOnce(name: string, secret: string, expiresAt: number): Promise<boolean>;
  /** Null: there is nothing, or it has expired. */
  open(name: string): Promise<string | null>;
  /** Forgets one secret. */
  drop(name: string): Promise<void>;
  /** Forgets all whose names begin with `prefix`. */
  dropAll(prefix: string): Promise<void>;
  /** Forgets what has expired; `open` does not give it even before. */
  dropExpired(): Promise<void>;
}
