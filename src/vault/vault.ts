/**
 * The vault: secrets sealed under their names, in the store.
 *
 * AES-256-GCM as compact JWE. The protected header is authenticated and names
 * the record, so a sealed value opens under its own name only. Writes nothing
 * in the clear, and repeats no secret in an error.
 */
import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { BugError, RefusedError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { SecretStore } from '../ports/store.js';
import type { Vault } from '../ports/vault.js';
import type { DerivedKey, KeyRing } from './keys.js';

export interface VaultDeps {
  readonly store: SecretStore;
  readonly keys: KeyRing;
  readonly clock: Pick<Clock, 'now'>;
}

const ALG = 'dir';
const ENC = 'A256GCM';
const SETTING = 'DEVIN_CONNECTION_SECRET';
/** Longer than any secret that is kept here. */
const LONGEST = 16_384;

export function createVault({ store, keys, clock }: VaultDeps): Vault {
  const sealing = keys.keysFor('sealing');
  return {
    async put(name, secret, expiresAt) {
      await store.keepSealed(name, await seal(sealing.current, name, secret), expiresAt);
    },

    async putWith(name, secret, setting) {
      return store.keepSealedWith(name, await seal(sealing.current, name, secret), setting);
    },

    async putOnce(name, secret, expiresAt) {
      const sealed = await seal(sealing.current, name, secret);
      return store.keepSealedOnce(name, sealed, expiresAt, clock.now());
    },

    async open(name) {
      const row = await store.sealed(name, clock.now());
      if (row === null) return null;
      const { secret, kid } = await unseal(name, row.sealed);
      // Sealed by the key before the present one: then that one can be taken away some day.
      if (kid !== sealing.current.kid)
        await store.reseal(name, row.sealed, await seal(sealing.current, name, secret));
      return secret;
    },

    drop: (name) => store.dropSealed({ name }),
    dropAll(prefix) {
      if (prefix === '') throw new BugError('vault: dropAll needs a prefix');
      return store.dropSealed({ prefix });
    },
    dropExpired: () => store.dropExpiredSealed(clock.now()),
  };

  async function unseal(name: string, sealed: string): Promise<{ secret: string; kid: string }> {
    try {
      const { kid } = decodeProtectedHeader(sealed);
      const key = sealing.find(kid);
      if (key === null) throw new Error('sealed with another key');
      const { plaintext, protectedHeader } = await compactDecrypt(sealed, key.bytes, {
        keyManagementAlgorithms: [ALG],
        contentEncryptionAlgorithms: [ENC],
      });
      if (protectedHeader.rec !== name) throw new Error('sealed under another name');
      return { secret: new TextDecoder().decode(plaintext), kid: key.kid };
    } catch {
      // Whatever was wrong with it: the reason could only help who tampered.
      throw new RefusedError(
        `what is kept as ${name} does not open: ${SETTING} was changed without ${SETTING}_PREVIOUS, or the database was`,
        { setting: SETTING },
      );
    }
  }
}

function seal(key: DerivedKey, name: string, secret: string): Promise<string> {
  if (secret.length > LONGEST) throw new BugError(`vault: ${name} is longer than any secret`);
  return new CompactEncrypt(new TextEncoder().encode(secret))
    .setProtectedHeader({ alg: ALG, enc: ENC, kid: key.kid, rec: name })
    .encrypt(key.bytes);
}
