/** What `preview` is told; apart from preview.ts, which loads the workflow engine. */
export interface PreviewOptions {
  /** The built output to serve; default: the project's own. */
  readonly output?: string;
  /** Calls the crons, as the platform would. */
  readonly cron: boolean;
  /** Overrides PORT. */
  readonly port?: number;
  readonly json: boolean;
  /** Address of an embedded world to serve instead of the real clouds. */
  readonly world?: string;
}
