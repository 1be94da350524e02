/** What `start` is asked; kept apart from it, so that the command line can be read without loading it. */

export const DRAIN_MODES = ['leave', 'finish', 'snapshot'] as const;
export type DrainMode = (typeof DRAIN_MODES)[number];

export interface StartOptions {
  /** Real Devin and Vercel instead of the embedded world. */
  readonly local: boolean;
  /** Scripted sessions to start in the embedded world. */
  readonly sessions?: number;
  /** End when nothing is left to do: 0 when all went well, 1 with the reasons when not. */
  readonly exitWhenIdle: boolean;
  /** How many times as fast as the wall the embedded world's clock runs. */
  readonly speed: number;
  /** Overrides PORT. */
  readonly port?: number;
  readonly json: boolean;
  /** What the first Ctrl-C does with sessions that are being served. */
  readonly drain: DrainMode;
  /** Address of a world that runs already. */
  readonly world?: string;
}
