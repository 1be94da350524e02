/** Who may see a page and act on it, as whoever serves it has found out. */
import type { Context, MiddlewareHandler } from 'hono';

export interface Visitor {
  readonly role: 'viewer' | 'operator';
  /** What this visitor's forms carry. */
  readonly token: string;
  /** Where a form signs the visitor out; null: there is no sign-in. */
  readonly leave: string | null;
}

export interface Admission {
  /** Stands before every route, and lets nobody through who may not see it. */
  readonly gate: MiddlewareHandler;
  /** Who asks, once the gate has let them through. */
  visitor(c: Context): Visitor;
  /** Whether a form carries what this visitor's forms do. */
  isToken(c: Context, given: string): boolean;
}
