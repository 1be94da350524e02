/** What it takes to start the emulated cloud, and what its owner can do with it. */
import type { Clock } from '../../ports/clock.js';
import type { Calls } from './calls.js';
import type { Faults } from './faults.js';
import type { Plan } from './model.js';
import type { SandboxView } from './views.js';

export interface VercelCloudOptions {
  readonly clock: Clock;
  /** Where disks live. Belongs to one emulator at a time. */
  readonly dir: string;
  /** How far the cloud's clock is ahead of `clock`, in every instant and in the Date header. */
  readonly skewMs?: number;
  readonly port?: number;
  readonly token?: string;
  readonly teamId?: string;
  readonly projectId?: string;
  readonly plan?: Partial<Plan>;
  /** How long these take, in the clock's milliseconds; 0 by default. */
  readonly bootMs?: number;
  readonly stopMs?: number;
  readonly snapshotMs?: number;
  readonly defaultSnapshotExpirationMs?: number;
  /** Opens the switches under /_vercel/ to whoever sends it as `x-world-token`. */
  readonly worldToken?: string;
}

export interface VercelCloud {
  /** Stands for `https://vercel.com/api`. */
  readonly url: string;
  readonly token: string;
  readonly teamId: string;
  readonly projectId: string;
  readonly faults: Faults;
  readonly calls: Calls;
  /** Every sandbox that exists, oldest first. */
  sandboxes(): SandboxView[];
  /** Sandboxes that were deleted. */
  removed(): SandboxView[];
  /** The vm of a sandbox dies at once, unsaved. Nothing happens when none lives. @throws ApiError 404. */
  kill(name: string, as?: 'failed' | 'aborted'): Promise<void>;
  /** The images of a sandbox expire now. @throws ApiError 404. */
  expireSnapshot(name: string): Promise<void>;
  /** The next `times` stops of a sandbox end without an image, and the disk is lost. @throws ApiError 404. */
  breakSnapshot(name: string, times?: number): void;
  /** Kills every process it started, then stops serving. The directory stays. */
  close(): Promise<void>;
}
