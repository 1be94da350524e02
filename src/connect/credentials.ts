/** What a connection brings, as it is kept in the vault. */
import { z } from 'zod';

export const credentialsSchema = z.object({
  token: z.string().regex(/^cog_[\x21-\x7e]{1,4000}$/),
  apiUrl: z.url(),
  outpostId: z.string().regex(/^[A-Za-z0-9_-]{1,200}$/),
  outpostName: z.string().nullable(),
});
export type Credentials = z.infer<typeof credentialsSchema>;

/** The vault's name of the credentials that sessions are served with. */
export const CREDENTIALS = 'credentials';
