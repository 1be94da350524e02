/**
 * Base addresses from settings. Credentials and programs travel to and from
 * them, so anything but https is refused, except on this machine.
 */
import { RefusedError } from '../errors.js';

/**
 * The address without a trailing slash. Plain characters only, because it also ends up in shell scripts.
 * Throws `RefusedError` naming `setting`; the value itself is never shown, it may hold a password.
 */
export function baseUrlOf(value: string, setting: string): string {
  const refuse = (why: string) => new RefusedError(`${setting}: ${why}`, { setting });
  if (!URL.canParse(value)) throw refuse('is not a URL');
  const url = new URL(value);
  const loopback = isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback))
    throw refuse('must be an https URL');
  if (url.username || url.password) throw refuse('must not contain a user name or password');
  if (url.search || url.hash) throw refuse('must not have a query or fragment');
  if (!PLAIN_PATH.test(url.pathname)) throw refuse('has unexpected characters in its path');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const PLAIN_PATH = /^[A-Za-z0-9._~%/-]*$/;

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
