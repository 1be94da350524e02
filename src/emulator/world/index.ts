/**
 * The embedded world: Devin's cloud and Vercel's, on one clock, for use without
 * accounts.
 *
 * Composes the two emulators and tells an orchestrator where they are. Decides
 * nothing about sessions; holds its state in memory and its disks under `dir`.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, createClock } from '../../ports/clock.js';
import {
  type DevinCloud,
  type DevinCloudOptions,
  type SessionControl,
  startDevinCloud,
} from '../devin/index.js';
import { startVercelCloud, type VercelCloud, type VercelCloudOptions } from '../vercel/index.js';
import { type Demo, runDemo } from './demo.js';
import { cloudEnvironment } from './environment.js';
import type { ClockSpec, WorldInfo } from './info.js';

export { sweepAbandonedWorlds } from './abandoned.js';
export { type AttachedWorld, attachWorld } from './attach.js';
export { type Demo, type DemoReport, demoScripts } from './demo.js';

export interface WorldOptions {
  /** Where sandboxes' disks live; belongs to one world at a time. */
  readonly dir: string;
  /** How many times as fast as the wall the world's clock runs. Default 1. */
  readonly speed?: number;
  readonly ports?: { readonly devin?: number; readonly vercel?: number };
  /** How far each cloud's own clock is ahead, in milliseconds. */
  readonly skew?: { readonly devinMs?: number; readonly vercelMs?: number };
  readonly plan?: VercelCloudOptions['plan'];
  readonly worldToken?: string;
  /** Anything else that the emulators take. */
  readonly devin?: Omit<DevinCloudOptions, 'clock' | 'extend'>;
  readonly vercel?: Omit<VercelCloudOptions, 'clock' | 'dir'>;
}

export interface World extends WorldInfo {
  readonly worldClock: Clock;
  /** `x-world-token` of `/_world/` at `devinUrl` and of `/_vercel/` at Vercel's origin. */
  readonly worldToken: string;
  readonly devin: DevinCloud;
  readonly vercel: VercelCloud;
  readonly control: SessionControl;
  /** Starts `n` demo sessions; the answer's `reports` settle as they end. */
  runDemo(n: number, signal?: AbortSignal): Promise<Demo>;
  /** Ends both clouds and every process in their sandboxes. */
  close(): Promise<void>;
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const started = Date.now();
  const clock: ClockSpec = { speed: options.speed ?? 1, origin: { wall: started, clock: started } };
  const worldClock = createClock(clock);
  const worldToken = options.worldToken ?? randomBytes(24).toString('base64url');

  const vercel = await startVercelCloud({
    ...options.vercel,
    clock: worldClock,
    dir: join(options.dir, 'vercel'),
    worldToken,
    ...(options.plan === undefined ? {} : { plan: options.plan }),
    ...(options.ports?.vercel === undefined ? {} : { port: options.ports.vercel }),
    ...(options.skew?.vercelMs === undefined ? {} : { skewMs: options.skew.vercelMs }),
  });
  let info: WorldInfo | null = null;
  const devin = await startDevinCloud({
    ...options.devin,
    clock: worldClock,
    worldToken,
    ...(options.ports?.devin === undefined ? {} : { port: options.ports.devin }),
    ...(options.skew?.devinMs === undefined ? {} : { skewMs: options.skew.devinMs }),
    extend: (app) => {
      app.get('/_world', (c) => c.json(info));
      app.get('/_world/', (c) => c.json(info));
    },
  }).catch(async (error) => {
    await vercel.close();
    throw error;
  });

  info = {
    devinUrl: devin.url,
    vercelUrl: vercel.url,
    clock,
    env: cloudEnvironment(devin, vercel),
  };
  return {
    ...info,
    worldClock,
    worldToken,
    devin,
    vercel,
    control: devin.control,
    runDemo: (n, signal) =>
      runDemo(n, { control: devin.control, clock: worldClock, ...(signal ? { signal } : {}) }),
    async close() {
      await vercel.close();
      await devin.close();
    },
  };
}
