/** What `serve` is told; apart from serve.ts, which loads the workflow engine. */
export const ENGINES = ['workflow', 'poller'] as const;

export interface ServeOptions {
  readonly engine: (typeof ENGINES)[number];
  /** Overrides PORT. */
  readonly port?: number;
  /** Port of the page where PUBLIC_URL makes the other one public; any free one unless given. */
  readonly pagePort?: number;
  readonly json: boolean;
  /** Address of an embedded world to serve instead of the real clouds. */
  readonly world?: string;
}
