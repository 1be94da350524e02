/**
 * The built output for tests, and what was in the environment when it was built.
 *
 * Built when a test first asks and the sources are others than those of an
 * earlier build; whichever worker asks first builds, the others wait. It is
 * never replaced: other sources make another folder, old ones go.
 */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf } from '../../src/build/inputs.js';
import { exclusively } from '../../src/build/lock.js';
import { ageOf, buildOutput } from '../../src/build/output.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = join(ROOT, '.outposts/artefact');
/** Nobody's test runs for that long. */
const UNUSED_MS = 3 * 60 * 60_000;

/** Settings as a project on Vercel has them while it is built; none may be found in what was built. */
export const SECRETS = {
  CRON_SECRET: 'canary-of-the-cron-secret-0123456789',
  DATABASE_URL: 'postgres://canary-user:canary-password@canary.example/canary-database',
  DEVIN_OUTPOSTS_TOKEN: 'cog_canary_token_of_a_service_user',
  DEVIN_OUTPOST_ID: 'outpost_env-canary',
} as const;

/** How long a test has to allow for a first build, with the installation of the Vercel CLI. */
export const BUILD_MS = 900_000;

/** Path of a Build Output API folder made from the sources as they are now. */
export async function builtOutput(): Promise<string> {
  await mkdir(FOLDERS, { recursive: true });
  return exclusively(`${FOLDERS}.lock`, async () => {
    const folder = join(FOLDERS, (await digestOf(ROOT)).slice(0, 16));
    const output = join(folder, 'output');
    if ((await ageOf(ROOT, output)) !== 'current') {
      const log = (line: string) => console.log(`artefact: ${line}`);
      await buildOutput({ root: ROOT, output, env: { ...process.env, ...SECRETS }, log });
    }
    await utimes(folder, new Date(), new Date());
    await removeUnused();
    return output;
  });
}

async function removeUnused(): Promise<void> {
  for (const name of await readdir(FOLDERS)) {
    const folder = join(FOLDERS, name);
    const { mtimeMs } = await stat(folder);
    if (Date.now() - mtimeMs > UNUSED_MS) await rm(folder, { recursive: true, force: true });
  }
}
