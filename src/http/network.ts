/** Whom an address belongs to, as limits count them. */
import { isIPv4, isIPv6 } from 'node:net';

/** Groups of an IPv6 address that a provider gives to one customer: the first 64 bits. */
const GROUPS = 4;
const ALL_GROUPS = 8;

/** The IPv4 address, or the network of an IPv6 one, whose holder has all the others in it; null: neither. */
export function networkOf(address: string): string | null {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return null;
  // The URL parser writes each address in one way.
  const text = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [before = '', after] = text.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const zeros = Array.from({ length: ALL_GROUPS - head.length - tail.length }, () => '0');
  return [...head, ...(after === undefined ? [] : zeros), ...tail].slice(0, GROUPS).join(':');
}
