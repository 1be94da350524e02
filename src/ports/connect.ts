/**
 * What a connection's effects need of Devin and of Vercel, and how its secrets
 * are named in the vault.
 *
 * Errors: TransientError, ContractError for answers that make no sense. What a
 * person or the other side refuses for good is an answer.
 */
import { z } from 'zod';

/** What a connection brings. A secret. */
export const credentialsSchema = z.object({
  token: z.string().regex(/^cog_[\x21-\x7e]{1,4000}$/),
  apiUrl: z.url(),
  outpostId: z.string().regex(/^[A-Za-z0-9_-]{1,200}$/),
  outpostName: z.string().max(200).nullable(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

export interface Refused {
  readonly kind: 'refused';
  readonly problem: string;
  /** The code is unknown, or was used: by an earlier try whose answer was lost, it may be. */
  readonly ofCode: boolean;
}

/** Devin's side. */
export interface Partner {
  /** Where an administrator confirms. */
  connectUrl(challenge: string): string;
  exchange(
    grant: { readonly code: string; readonly verifier: string },
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'granted'; readonly credentials: Credentials } | Refused>;
  /** Whether Devin's API takes the token, found by one call that changes nothing. */
  accepts(credentials: Credentials, signal: AbortSignal): Promise<boolean>;
}

/** Access to one project of somebody else. A secret. */
export const accessSchema = z.object({ token: z.string().min(1), teamId: z.string().nullable() });
export type Access = z.infer<typeof accessSchema>;

/** Vercel's side, where projects are set up. */
export interface Installer {
  exchange(
    code: string,
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'installed'; readonly access: Access } | Refused>;
  /** The project's name; null when the access does not reach a project of that id. */
  nameOf(projectId: string, access: Access, signal: AbortSignal): Promise<string | null>;
  /** Writes one variable for production, in place of what is there. */
  write(
    projectId: string,
    access: Access,
    variable: { readonly key: string; readonly value: string },
    signal: AbortSignal,
  ): Promise<{ readonly kind: 'written' } | Pick<Refused, 'kind' | 'problem'>>;
}

/** The vault's name of the credentials that sessions are served with. */
export const CREDENTIALS = 'credentials';

/** The vault's names of what belongs to one attempt; all of it goes when the attempt is over. */
export const secretsOf = (attemptId: string) => ({
  all: `attempt/${attemptId}/`,
  verifier: `attempt/${attemptId}/verifier`,
  code: `attempt/${attemptId}/code`,
  granted: `attempt/${attemptId}/granted`,
  /** Vercel's code, access and the values that a project is given. */
  installation: `attempt/${attemptId}/installation`,
  access: `attempt/${attemptId}/access`,
  values: `attempt/${attemptId}/values`,
  /** Where the browser goes in the end; stays for as long as the attempt's record. */
  next: `next/${attemptId}`,
});
