/**
 * Keys for every purpose, derived from one secret.
 *
 * HKDF-SHA-256 with a label for each purpose: a key that leaks tells nothing of
 * another. The secret before the present one still opens and verifies what it
 * sealed and signed, so that it can be changed without a gap.
 */
import { hkdfSync } from 'node:crypto';

/** What keys are for. A label is never used for anything else, and never changes. */
export const LABELS = {
  sealing: 'outposts sealing 1',
  session: 'outposts session cookie 1',
  attempt: 'outposts attempt cookie 1',
  form: 'outposts form token 1',
  client: 'outposts client name 1',
} as const;
export type Label = keyof typeof LABELS;

export interface DerivedKey {
  /** Tells which of the keys it is, and nothing about it. */
  readonly kid: string;
  /** 256 bits. */
  readonly bytes: Uint8Array;
}

export interface KeySet {
  readonly current: DerivedKey;
  /** The current one, and the one before if there is one. */
  readonly all: readonly DerivedKey[];
  /** One of them by its id; null: another's. */
  find(kid: string | undefined): DerivedKey | null;
}

export interface KeyRing {
  /** `context`: what else the key depends on, such as the secret of a role. */
  keysFor(label: Label, context?: string): KeySet;
}

export function createKeyRing(secret: string, previous: string | null): KeyRing {
  return {
    keysFor(label, context = '') {
      const current = derive(secret, label, context);
      const all = previous === null ? [current] : [current, derive(previous, label, context)];
      return { current, all, find: (kid) => all.find((key) => key.kid === kid) ?? null };
    },
  };
}

const KEY_BYTES = 32;
const KID_BYTES = 6;

function derive(secret: string, label: Label, context: string): DerivedKey {
  const expand = (what: string, bytes: number) =>
    new Uint8Array(hkdfSync('sha256', secret, context, `${LABELS[label]}${what}`, bytes));
  return {
    kid: Buffer.from(expand(' id', KID_BYTES)).toString('base64url'),
    bytes: expand('', KEY_BYTES),
  };
}
