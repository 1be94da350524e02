/** Bearer tokens of the fleet API and their scopes: 401 for a stranger, 403 for too narrow a scope. */
import { randomBytes } from 'node:crypto';
import type { HttpContext } from './http.js';
import { bearerOf } from './http.js';

type Scope = 'machine' | 'orchestrator';

export interface Access {
  /** Makes a token with these scopes. */
  mint(scopes: readonly Scope[], token?: string): string;
  /** The token is rejected from now on. */
  revoke(token: string): void;
  /** The refusal, or null when the call may go on. */
  refuse(c: HttpContext, scope: Scope): Response | null;
}

export function createAccess(): Access {
  const tokens = new Map<string, readonly Scope[]>();
  return {
    mint(scopes, token = `cog_${randomBytes(24).toString('hex')}`) {
      tokens.set(token, scopes);
      return token;
    },
    revoke: (token) => {
      tokens.delete(token);
    },
    refuse(c, scope) {
      const scopes = tokens.get(bearerOf(c.req.header('authorization')));
      if (!scopes) return c.json({ detail: 'Invalid or missing bearer token' }, 401);
      // Whoever may create outposts may also serve them.
      if (scopes.includes(scope) || scopes.includes('orchestrator')) return null;
      return c.json({ detail: `Missing scope account.outposts.${scope}` }, 403);
    },
  };
}
