/** What an address brings, read strictly: hostile until it has the shape that it should. */

/**
 * The parameter's value when it is there exactly once and fits; `absent` when it is not there at all; `wrong` when it
 * is repeated, too long or of another shape.
 */
export function parameter(
  query: URLSearchParams,
  name: string,
  shape: RegExp,
): { readonly kind: 'given'; readonly value: string } | { readonly kind: 'absent' | 'wrong' } {
  const [value, ...others] = query.getAll(name);
  if (value === undefined) return { kind: 'absent' };
  return others.length === 0 && shape.test(value) ? { kind: 'given', value } : { kind: 'wrong' };
}

/** The one value, or null. */
export function oneOf(query: URLSearchParams, name: string, shape: RegExp): string | null {
  const found = parameter(query, name, shape);
  return found.kind === 'given' ? found.value : null;
}

/** Of codes: what a server may make of printable characters. */
export const CODE = /^[\x21-\x7e]{1,512}$/;
export const ID = /^[A-Za-z0-9_-]{1,200}$/;

/** The address as it was given, when it is https on vercel.com and nothing else; else null. */
export function vercelUrl(text: string): string | null {
  if (text.length > 2_000 || /[\s\\]/.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, href } = new URL(text);
  const isVercel = hostname === 'vercel.com' || hostname.endsWith('.vercel.com');
  return protocol === 'https:' && isVercel && port === '' && !username && !password ? href : null;
}
