/**
 * Hostnames and networks in one canonical spelling, or null for nonsense.
 *
 * What cannot be read strictly is nothing: a sloppy reading of an allow list
 * would open what nobody allowed.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = '[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?';
const HOSTNAME = new RegExp(`^(${LABEL}\\.)*${LABEL}$`);

/** Lower-case ASCII, with at most a leading `*.`. Addresses are no hostnames: see canonicalSubnet. */
export function canonicalHost(text: string): string | null {
  const glob = text.startsWith('*.') ? '*.' : '';
  let name = text.slice(glob.length).toLowerCase().replace(/\.$/, '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for ASCII itself.
  if (!/^[\x00-\x7f]*$/.test(name)) name = domainToASCII(name);
  if (glob.length + name.length > 253 || !HOSTNAME.test(name)) return null;
  // A numeric last label makes an address of it, in spellings that only some resolvers read.
  return /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name) ? null : glob + name;
}

/** A URL's hostname that names this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** An address or CIDR as a CIDR without host bits: `10.1.2.3/8` is `10.0.0.0/8`, `::1` is `::1/128`. */
export function canonicalSubnet(text: string): string | null {
  const [address = '', prefix, ...rest] = text.split('/');
  const width = isIPv4(address) ? 32 : isIPv6(address) && !address.includes('%') ? 128 : null;
  if (width === null || rest.length > 0) return null;
  if (prefix !== undefined && !/^(0|[1-9]\d{0,2})$/.test(prefix)) return null;
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return null;
  const hostBits = BigInt(width - bits);
  const network = (toNumber(address, width) >> hostBits) << hostBits;
  return `${toText(network, width)}/${bits}`;
}

function toNumber(address: string, width: number): bigint {
  const groups =
    width === 32
      ? address.split('.').map((part) => BigInt(part))
      : ipv6Groups(address).map((group) => BigInt(`0x${group}`));
  const groupBits = BigInt(width / groups.length);
  return groups.reduce((sum, group) => (sum << groupBits) | group, 0n);
}

/** The eight groups, hexadecimal. The URL parser knows every spelling, dotted tails included. */
function ipv6Groups(address: string): string[] {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const head = left === '' ? [] : left.split(':');
  if (right === undefined) return head;
  const tail = right === '' ? [] : right.split(':');
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

function toText(network: bigint, width: number): string {
  const [count, groupBits] = width === 32 ? [4, 8n] : [8, 16n];
  const groups = Array.from(
    { length: count },
    (_, index) => (network >> (groupBits * BigInt(count - 1 - index))) & ((1n << groupBits) - 1n),
  );
  if (width === 32) return groups.join('.');
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1);
}
