/** Every deadline of a connection as an absolute instant, derived from context. Null: not armed. */
import type { ConnectionContext } from './context.js';

export type Deadline = (context: ConnectionContext) => number | null;

export const connectionDeadlines = {
  authorizeBy: (c) => c.authorizeBy,
  retryBy: (c) => c.retryBy,
  endsAt: (c) => c.endsAt,
} satisfies Record<string, Deadline>;
