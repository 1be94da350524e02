/**
 * Builds what the api folder does not give a deployment: the functions behind
 * Vercel's queues, and the static files.
 *
 *     node --import tsx src/build/functions.ts
 *
 * Vercel runs it as the build command, in the project's directory. It writes
 * `.vercel/output`; Vercel adds the api functions, and the crons and rewrites
 * of vercel.json. Nothing of the sources is published.
 */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildQueueFunctions } from './queue-functions.js';

/** Nothing here is for search engines. */
const ROBOTS = 'User-agent: *\nDisallow: /\n';

const root = process.cwd();
const output = join(root, '.vercel/output');
const files = join(output, 'static');

await rm(output, { recursive: true, force: true });
await buildQueueFunctions(root, output);
await mkdir(files, { recursive: true });
await writeFile(join(files, 'robots.txt'), ROBOTS);
await cp(join(root, 'visualizations'), join(files, 'diagrams'), { recursive: true }).catch(noneDrawn);
// Vercel appends the rewrite to the api: files and functions come first.
const config = { version: 3, routes: [{ handle: 'filesystem' }] };
await writeFile(join(output, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);

function noneDrawn(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
