/**
 * Which hosts a token of a connection may be sent to.
 *
 * The address comes from outside, with the token itself: it is used only when
 * it is Devin's, or when the operator has listed it.
 */

/** Devin's own, and whatever is below them. */
const DEVIN = ['devin.ai', 'devinenterprise.com'];

/**
 * The address without its last slash, or null. `listed`: `host` or `host:port`, in lower case; plain http only for
 * those of them that are on this machine.
 */
export function trustedApiUrl(text: string, listed: readonly string[]): string | null {
  const url = text.length <= LONGEST && URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username || url.password || url.search || url.hash) return null;
  if (!/^[A-Za-z0-9._~/-]*$/.test(url.pathname)) return null;
  const isListed = listed.includes(url.host);
  const isDevins = DEVIN.some((host) => url.host === host || url.host.endsWith(`.${host}`));
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isListed && isLoopback(url));
  return isSafe && (isListed || isDevins) ? `${url.origin}${url.pathname.replace(/\/+$/, '')}` : null;
}

const LONGEST = 500;
const isLoopback = ({ hostname }: URL) => /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(hostname);
