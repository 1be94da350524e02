/** Bearer tokens of the fleet API and their scopes: 401 for a stranger, 403 for too narrow a scope. */
import { randomBytes } from 'node:crypto';
import type { HttpContext } from './http.js';
import { bearerOf } from './http.js';

type Scope = 'machine' | 'orchestrator';

export interface Access {
  /** Makes a token with these scopes, for all outposts or for the list of one. */
  mint(scopes: readonly Scope[], token?: string, outpostId?: string): string;
  /** The token is rejected from now on. */
  revoke(token: string): void;
  /** The refusal, or null when the call may go on. */
  refuse(c: HttpContext, scope: Scope): Response | null;
}

export function createAccess(): Access {
  const tokens = new Map<string, { scopes: readonly Scope[]; outpostId: string | undefined }>();
  return {
    mint(scopes, token = `cog_${randomBytes(24).toString('hex')}`, outpostId = undefined) {
      tokens.set(token, { scopes, outpostId });
      return token;
    },
    revoke: (token) => {
      tokens.delete(token);
    },
    refuse(c, scope) {
      const known = tokens.get(bearerOf(c.req.header('authorization')));
      if (!known) return c.json({ detail: 'Invalid or missing bearer token' }, 401);
      const { scopes, outpostId } = known;
      const asked = c.req.query('outpost');
      if (outpostId !== undefined && asked !== undefined && asked !== outpostId)
        return c.json({ detail: 'Not your outpost' }, 403);
      // Whoever may create outposts may also serve them.
      if (scopes.includes(scope) || scopes.includes('orchestrator')) return null;
      return c.json({ detail: `Missing scope account.outposts.${scope}` }, 403);
    },
  };
}
