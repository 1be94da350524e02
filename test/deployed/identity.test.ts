import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/index.js';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { startVercelCloud } from '../../src/emulator/vercel/index.js';
import { RefusedError } from '../../src/errors.js';
import { assemble, type Base, openBase } from '../../src/parts.js';
import { createClock } from '../../src/ports/clock.js';
import { rewriteFetch } from '../../src/sandbox/index.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.close());

/** How Vercel hands a function the headers of the request that it serves. */
const CONTEXT = Symbol.for('@vercel/request-context');
const platform = globalThis as { [CONTEXT]?: { get(): { headers: Record<string, string> } } };
afterEach(() => {
  delete platform[CONTEXT];
});
const serveWith = (token: string | null) => {
  const headers: Record<string, string> = token === null ? {} : { 'x-vercel-oidc-token': token };
  platform[CONTEXT] = { get: () => ({ headers }) };
};

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const identity = (project: string) =>
  [
    part({ alg: 'RS256' }),
    part({
      owner_id: 'team_emulated',
      project_id: project,
      exp: Math.floor(Date.now() / 1_000) + 3_600,
      nonce: project,
    }),
    'signature',
  ].join('.');

/** A deployment as Vercel runs it: no token in its settings. */
async function deploy(token: string) {
  const clock = createClock();
  const vercel = await startVercelCloud({ clock, dir: await temporaryDirectory(), token });
  onEnd(() => vercel.close());
  const devin = await startDevinCloud({ clock });
  onEnd(() => devin.close());
  const parsed = parseConfig(
    {
      VERCEL: '1',
      VERCEL_PROJECT_ID: vercel.projectId,
      DEVIN_API_URL: devin.url,
      DEVIN_OUTPOSTS_TOKEN: devin.token,
      DEVIN_OUTPOST_ID: devin.outpostId,
      DEVIN_CREDENTIALS_FROM_ENV: 'true',
      DEVIN_WORKER_STATIC_BASE_URL: devin.staticUrl,
      DATABASE_URL: await postgres.createDatabase(),
      CRON_SECRET: 'only-for-tests-0123456789',
    },
    { mode: 'vercel' },
  );
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems));
  const base = await openBase({
    config: parsed.config as Base['config'],
    clock,
    sandboxFetch: rewriteFetch(vercel.url),
    log: () => undefined,
  });
  onEnd(() => base.store.close());
  const { host } = await assemble(base);
  const open = () =>
    host.open(
      {
        name: 'devin-one',
        tags: { session: 'devin-one' },
        policy: { enabled: false },
        gatewayUrl: 'https://gateway.example',
        alsoNeeded: [],
      },
      async () => undefined,
      AbortSignal.timeout(20_000),
    );
  return { vercel, host, open };
}

test("a function on Vercel -> its sandboxes are opened with the request's own identity, and with the next request's", async () => {
  const token = identity('prj_emulated');
  const { open, host, vercel } = await deploy(token);
  serveWith(token);
  expect(await open()).toMatchObject({ kind: 'running', origin: 'created' });
  expect(await host.find('devin-one', AbortSignal.timeout(5_000))).toMatchObject({ status: 'running' });
  const listed = [];
  for await (const sight of host.list(AbortSignal.timeout(5_000))) listed.push(sight.name);
  expect(listed).toEqual(['devin-one']);
  expect(vercel.sandboxes()).toHaveLength(1);

  serveWith(identity('prj_of-somebody-else'));
  await expect(host.find('devin-one', AbortSignal.timeout(5_000))).rejects.toBeInstanceOf(RefusedError);
});

test('a request without an identity -> refused, and the message says which setting', async () => {
  const { open } = await deploy(identity('prj_emulated'));
  serveWith(null);
  await expect(open()).rejects.toMatchObject({ name: 'RefusedError', setting: 'VERCEL_OIDC_TOKEN' });
});
