/**
 * Reads Devin's account that sessions are served with: the one that was
 * connected in the browser, else the environment's.
 *
 * Keeps it for some seconds, so that a loop that asks at each call costs the
 * database little, and a token that was changed is used soon.
 */
import { RefusedError } from '../errors.js';
import type { AccountReader, DevinAccount } from '../ports/account.js';
import { CREDENTIALS, credentialsSchema } from '../ports/connect.js';
import type { Vault } from '../ports/vault.js';
import { trustedApiUrl } from './trusted.js';

/** By the wall. */
const FRESH_MS = 5_000;

export interface AccountReaderDeps {
  /** Null: nothing can be connected in the browser here. */
  readonly vault: Pick<Vault, 'open'> | null;
  readonly trustedHosts: readonly string[];
  readonly environment: Omit<DevinAccount, 'source'> | null;
}

export function createAccountReader({ vault, trustedHosts, environment }: AccountReaderDeps): AccountReader {
  let latest: { readonly at: number; readonly account: Promise<DevinAccount | null> } | null = null;
  return {
    current() {
      const now = performance.now();
      if (latest === null || now - latest.at >= FRESH_MS) {
        const reading = { at: now, account: read() };
        latest = reading;
        reading.account.catch(() => {
          if (latest === reading) latest = null;
        });
      }
      return latest.account;
    },
    forget() {
      latest = null;
    },
  };

  async function read(): Promise<DevinAccount | null> {
    const kept = (await vault?.open(CREDENTIALS)) ?? null;
    if (kept === null) return environment === null ? null : { source: 'environment', ...environment };
    const { token, apiUrl, outpostId } = credentialsSchema.parse(JSON.parse(kept));
    const trusted = trustedApiUrl(apiUrl, trustedHosts);
    if (trusted === null)
      throw new RefusedError('the connection names an API host that no token is sent to', {
        setting: 'DEVIN_API_HOSTS',
      });
    return { source: 'browser', token, apiUrl: trusted, outpostId };
  }
}
