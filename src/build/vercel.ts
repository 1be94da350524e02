/**
 * `npm run build:vercel`: the folder that would be deployed, in `.vercel/output`.
 *
 * Needs no account and no network, but for installing the Vercel CLI once.
 */
import { fileURLToPath } from 'node:url';
import { messageOf } from '../errors.js';
import { buildOutput } from './output.js';
import { describeOutput } from './sizes.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const output = fileURLToPath(new URL('../../.vercel/output', import.meta.url));

try {
  await buildOutput({ root, output, env: process.env, log: console.log });
  console.log(await describeOutput(output));
} catch (error) {
  console.error(messageOf(error, 10_000));
  process.exitCode = 1;
}
