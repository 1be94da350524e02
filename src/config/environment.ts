/**
 * The environment together with what `.env` adds to it.
 *
 * A variable that the real environment has, even blank, is never overridden,
 * and the process's own environment is left as it is: what child processes
 * inherit does not change because a file lies in the directory.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { RefusedError } from '../errors.js';
import type { Environment } from './values.js';

/** Reads `.env` in `directory` (none there is fine). RefusedError when it is there and cannot be read. */
export function readEnvironment(options: { env: Environment; directory: string }): Environment {
  return { ...fromFile(join(options.directory, '.env')), ...options.env };
}

function fromFile(path: string): Environment {
  try {
    return parse(readFileSync(path));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return {};
    throw new RefusedError(`read ${path}: ${code ?? 'failed'}`, { setting: '.env', cause });
  }
}
