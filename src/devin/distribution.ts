/**
 * Where the published files of devin-remote are.
 *
 * Only names addresses, never fetches: the download happens inside the sandbox.
 * A SHA goes into a URL and a shell script, so nothing but hex passes.
 */
import { BugError } from '../errors.js';
import { baseUrlOf } from './base-url.js';

export const DEFAULT_STATIC_BASE_URL = 'https://static.devin.ai/devin-rs/remote';

/** Whether `text` can name a published remote: 7 to 64 hex digits. */
export function isSha(text: string): boolean {
  return /^[0-9a-f]{7,64}$/i.test(text);
}

/**
 * The executable and its SHA-256 digest file (the digest in hex, perhaps followed by a file name).
 * Throws `RefusedError` for an unusable base address, `BugError` for what `isSha` denies.
 */
export function remoteFiles(baseUrl: string, sha: string): { binaryUrl: string; digestUrl: string } {
  if (!isSha(sha)) throw new BugError('remote distribution: a SHA was not checked before use');
  const binaryUrl = `${staticBaseUrl(baseUrl)}/devin-remote_${sha}_linux_x64`;
  return { binaryUrl, digestUrl: `${binaryUrl}.sha256` };
}

/** The text file that holds the SHA of the latest remote. Throws `RefusedError` for an unusable base address. */
export function latestUrl(baseUrl: string): string {
  return `${staticBaseUrl(baseUrl)}/latest_linux_x64`;
}

function staticBaseUrl(value: string): string {
  return baseUrlOf(value, 'DEVIN_WORKER_STATIC_BASE_URL');
}
