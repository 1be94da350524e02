/**
 * What a Vercel OIDC token says about itself: whose it is and until when.
 *
 * Checks no signature: Vercel does. Claims as the Sandbox SDK reads them.
 */
import { z } from 'zod';
import type { Secret } from './secret.js';

export interface OidcClaims {
  readonly teamId: string;
  readonly projectId: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const claims = z.object({
  owner_id: z.string().min(1),
  project_id: z.string().min(1),
  exp: z.number().positive(),
});

/** The claims, or null when they cannot be read. */
export function readOidcClaims(token: Secret): OidcClaims | null {
  try {
    const payload = Buffer.from(token.reveal().split('.')[1] ?? '', 'base64url').toString('utf8');
    const { owner_id, project_id, exp } = claims.parse(JSON.parse(payload));
    return { teamId: owner_id, projectId: project_id, expiresAt: exp * 1000 };
  } catch {
    return null;
  }
}
