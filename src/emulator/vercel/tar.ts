/**
 * Reads the gzipped tar archives that the SDK writes files with.
 *
 * Knows regular files and directories, ustar prefixes and pax paths and sizes;
 * any other kind of entry is refused.
 */
import { gunzipSync } from 'node:zlib';
import { badRequest } from './api-error.js';

export interface TarEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly mode: number;
  readonly content: Buffer;
}

const BLOCK = 512;
/** The largest archive that is unpacked, in bytes. */
const LIMIT = 256 * 1024 * 1024;

/** @throws ApiError 400 when the bytes are no such archive. */
export function readTarGz(bytes: Buffer): TarEntry[] {
  let tar: Buffer;
  try {
    tar = gunzipSync(bytes, { maxOutputLength: LIMIT });
  } catch {
    throw badRequest('The body is not a gzip archive.');
  }
  const entries: TarEntry[] = [];
  let pax = new Map<string, string>();
  for (let offset = 0; offset + BLOCK <= tar.length; ) {
    const header = tar.subarray(offset, offset + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = Number(pax.get('size') ?? octal(header, 124, 12));
    const start = offset + BLOCK;
    if (!Number.isSafeInteger(size) || size < 0 || start + size > tar.length) {
      throw badRequest('The archive is cut or damaged.');
    }
    const content = tar.subarray(start, start + size);
    offset = start + Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'x') {
      pax = readPax(content);
      continue;
    }
    const kind = type === '5' ? 'directory' : type === '0' || type === '\0' ? 'file' : null;
    if (kind === null) throw badRequest('The archive holds more than files and directories.');
    entries.push({ path: pax.get('path') ?? pathOf(header), kind, mode: octal(header, 100, 8), content });
    pax = new Map();
  }
  return entries;
}

function pathOf(header: Buffer): string {
  const name = text(header, 0, 100);
  const prefix = text(header, 257, 5) === 'ustar' ? text(header, 345, 155) : '';
  return prefix ? `${prefix}/${name}` : name;
}

/** Records of the form `<length> <key>=<value>\n`. */
function readPax(content: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString('utf8', at, space));
    if (space < 0 || !Number.isInteger(length) || length <= space - at)
      throw badRequest('Damaged pax header.');
    const [key = '', ...value] = content.toString('utf8', space + 1, at + length - 1).split('=');
    records.set(key, value.join('='));
    at += length;
  }
  return records;
}

function text(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function octal(header: Buffer, start: number, length: number): number {
  return Number.parseInt(text(header, start, length).trim() || '0', 8);
}
