/**
 * What the adapter is told once, at the start.
 *
 * A wrong setting is refused here, by its name, before anything is called.
 */
import { RefusedError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { RemoteClock } from '../remote-clock.js';
import { isLoopback } from './address.js';
import type { Cloud } from './cloud.js';

export interface SandboxCredentials {
  readonly token: string;
  readonly teamId: string;
  readonly projectId: string;
}

export interface SandboxSettings {
  /** Ignored when there is an `image`. */
  readonly runtime: string;
  readonly image?: string;
  readonly vcpus: number;
  /** How long a vm first lives. */
  readonly timeoutMs: number;
  /** The longest a vm may live, by the plan. */
  readonly maxLifetimeMs: number;
  readonly region?: string;
  /** How long a stopped disk is kept; 0 = for ever. */
  readonly snapshotExpirationMs: number;
  /**
   * What marks a sandbox as this installation's, at least one tag. The first is what lists are filtered by;
   * a sandbox whose tags differ in any of them is another's.
   */
  readonly tags: Readonly<Record<string, string>>;
  /** Where the remote is downloaded from: https, or http on loopback. */
  readonly staticBaseUrl: string;
}

export interface SandboxHostOptions {
  /** Asked before each call; undefined leaves it to the SDK and the deployment's OIDC token. */
  readonly credentials?: (() => Promise<SandboxCredentials>) | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock: Clock;
  readonly remoteClock: RemoteClock;
  readonly settings: SandboxSettings;
  /** Hears of input that was dropped and answers that were strange. */
  readonly onOddity?: ((message: string) => void) | undefined;
  /** How long one answer is awaited, wall milliseconds; the default is 15 s. */
  readonly callTimeoutMs?: number | undefined;
}

/** What every operation of the adapter works with. */
export interface Workshop {
  readonly cloud: Cloud;
  readonly remoteClock: RemoteClock;
  readonly settings: SandboxSettings;
  readonly onOddity: (message: string) => void;
}

/** @throws RefusedError naming the setting. */
export function checkSettings({ staticBaseUrl, tags }: SandboxSettings): void {
  const url = URL.canParse(staticBaseUrl) ? new URL(staticBaseUrl) : null;
  const loopback = isLoopback(url?.hostname ?? '');
  const plain =
    url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!plain || !(url.protocol === 'https:' || (url.protocol === 'http:' && loopback))) {
    throw new RefusedError('the address of the remote must be an https URL', {
      setting: 'DEVIN_WORKER_STATIC_BASE_URL',
    });
  }
  const entries = Object.entries(tags);
  // Lists filter by `key:value`.
  if (
    entries.length === 0 ||
    entries.some(([key, value]) => /[:\s]/.test(key + value) || value.length > 256)
  ) {
    throw new RefusedError('tags of the installation: at least one, without colons and blanks', {
      setting: 'ACCEPTOR_ID or the outpost',
    });
  }
}
