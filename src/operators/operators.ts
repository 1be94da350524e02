/**
 * Who may see and who may act: roles, their secrets, and the cookie of a person
 * who has signed in.
 *
 * A cookie is a signed token that names the role; its key comes from the root
 * secret and the role's own together, so that changing either ends it. Keeps no
 * list of sessions. Knows no routes.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { KeyRing, KeySet } from '../vault/keys.js';
import { isSameSecret } from '../vault/same-secret.js';

export const ROLES = ['viewer', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface Person {
  readonly role: Role;
  /** Names this sign-in; the same when its cookie is renewed. */
  readonly id: string;
  /** When the person signed in, and when this cookie was made: seconds since the epoch. */
  readonly signedInAt: number;
  readonly issuedAt: number;
}

export interface OperatorsOptions {
  readonly keys: KeyRing;
  /** Null: nobody has the role. */
  readonly secrets: Readonly<Record<Role, string | null>>;
  /** Milliseconds of the wall. */
  readonly now?: () => number;
}

export interface Operators {
  /** Whether anybody can sign in at all. */
  readonly open: boolean;
  /** Whose secret it is; null: nobody's. Takes as long whichever it is. */
  roleOf(secret: string): Role | null;
  /** The cookie of somebody who has just signed in. */
  admit(role: Role): Promise<string>;
  /** Null for a cookie that is forged, over, or of a secret that was changed. */
  recognize(cookie: string | undefined): Promise<Person | null>;
  /** A fresh cookie of the same sign-in, when the old one is due for it; else null. */
  renew(person: Person): Promise<string | null>;
  /** What forms of this person have to carry. */
  formToken(person: Person): string;
  isFormToken(person: Person, given: string): boolean;
}

/** From the sign-in on, whatever is renewed. */
export const SIGNED_IN_FOR_S = 12 * 3_600;
const RENEW_AFTER_S = 3_600;
const AUDIENCE = 'outposts session';
const LONGEST_COOKIE = 2_000;

const claimsSchema = z.object({
  role: z.enum(ROLES),
  sid: z.string().min(1),
  iat: z.number(),
  since: z.number(),
});

export function createOperators({ keys, secrets, now = Date.now }: OperatorsOptions): Operators {
  const signing = new Map<Role, KeySet>();
  for (const role of ROLES) {
    const secret = secrets[role];
    if (secret !== null) signing.set(role, keys.keysFor('session', `${role} ${secret}`));
  }
  const forms = keys.keysFor('form');
  const seconds = () => Math.floor(now() / 1_000);

  const cookieOf = (role: Role, id: string, signedInAt: number): Promise<string> => {
    const key = signing.get(role)?.current;
    if (key === undefined) throw new Error(`there is no secret for the role ${role}`);
    return new SignJWT({ role, sid: id, since: signedInAt })
      .setProtectedHeader({ alg: 'HS256', kid: key.kid })
      .setAudience(AUDIENCE)
      .setIssuedAt(seconds())
      .setExpirationTime(signedInAt + SIGNED_IN_FOR_S)
      .sign(key.bytes);
  };

  return {
    open: signing.size > 0,

    roleOf(secret) {
      const fits = ROLES.filter((role) => {
        const expected = secrets[role];
        // Compared in any case, so that it does not show which roles there are.
        const same = isSameSecret(secret, expected ?? '');
        return same && expected !== null;
      });
      return fits.at(-1) ?? null;
    },

    admit: (role) => cookieOf(role, randomBytes(12).toString('base64url'), seconds()),

    async recognize(cookie) {
      if (cookie === undefined || cookie.length > LONGEST_COOKIE) return null;
      try {
        const { kid } = decodeProtectedHeader(cookie);
        for (const [role, set] of signing) {
          const key = set.find(kid);
          if (key === null) continue;
          const { payload } = await jwtVerify(cookie, key.bytes, {
            algorithms: ['HS256'],
            audience: AUDIENCE,
            currentDate: new Date(now()),
          });
          const claims = claimsSchema.parse(payload);
          const over = claims.since + SIGNED_IN_FOR_S <= seconds();
          if (claims.role !== role || over) return null;
          return { role, id: claims.sid, signedInAt: claims.since, issuedAt: claims.iat };
        }
      } catch {
        // Whatever is wrong with it: whoever sent it is nobody.
      }
      return null;
    },

    async renew({ role, id, signedInAt, issuedAt }) {
      return seconds() - issuedAt < RENEW_AFTER_S ? null : cookieOf(role, id, signedInAt);
    },

    formToken: ({ id }) => tokenOf(forms.current.bytes, id),
    isFormToken: ({ id }, given) => forms.all.some(({ bytes }) => isSameSecret(given, tokenOf(bytes, id))),
  };
}

const tokenOf = (key: Uint8Array, id: string) => createHmac('sha256', key).update(id).digest('base64url');
