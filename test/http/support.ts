import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { createDeployment, type Deployment } from '../../src/deployment.js';
import type { Runs } from '../../src/ports/runs.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
export const onEnd = (cleanup: () => unknown): void => {
  cleanups.push(cleanup);
};

export const CRON_SECRET = 'a-secret-of-this-test-0123';
export const TOKEN = 'cog_token-of-this-test';

/** Settings of a deployment whose clouds do not answer. */
export async function settings(): Promise<Record<string, string>> {
  const dir = await mkdtemp(join(tmpdir(), 'outposts-http-'));
  onEnd(() => rm(dir, { recursive: true, force: true }));
  return {
    DEVIN_API_URL: 'http://127.0.0.1:9',
    DEVIN_OUTPOSTS_TOKEN: TOKEN,
    DEVIN_OUTPOST_ID: 'outpost_env-of-this-test',
    DEVIN_CREDENTIALS_FROM_ENV: 'true',
    VERCEL_TOKEN: 'vercel-token-of-this-test',
    VERCEL_TEAM_ID: 'team_of-this-test',
    VERCEL_PROJECT_ID: 'prj_of-this-test',
    DATABASE_URL: `file:${join(dir, 'outposts.db')}`,
    CRON_SECRET,
    PUBLIC_URL: 'https://outposts.example.com',
  };
}

export function deploymentOf(env: Record<string, string>): Deployment & { readonly lines: string[] } {
  const lines: string[] = [];
  const deployment = createDeployment(env);
  onEnd(() =>
    deployment.base().then(
      ({ store }) => store.close(),
      () => undefined,
    ),
  );
  return { ...deployment, log: (line: string) => lines.push(line), lines };
}

/** Runs that only note who was rung. */
export function noted(): Runs & { readonly rung: string[] } {
  const rung: string[] = [];
  return {
    rung,
    async ring(id) {
      rung.push(id);
      return 'rung';
    },
    answers: async () => true,
    async dismiss() {},
    async replace() {},
  };
}
