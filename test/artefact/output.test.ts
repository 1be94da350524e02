/** What would be deployed, looked at file by file. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { functionSizes } from '../../src/build/sizes.js';
import { SESSION_RUN_ID } from '../../src/workflows/runs.js';
import { BUILD_MS, builtOutput, ROOT, SECRETS } from './built.js';

const API = ['/api/cron', '/api/index'];
const QUEUE = ['/.well-known/workflow/v1/flow', '/.well-known/workflow/v1/step'];

let output = '';
let files: readonly string[] = [];
beforeAll(async () => {
  output = await builtOutput();
  const entries = await readdir(output, { recursive: true, withFileTypes: true });
  files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(output, join(entry.parentPath, entry.name)));
}, BUILD_MS);

const json = async (path: string) => JSON.parse(await readFile(join(output, path), 'utf8'));
const configOf = (path: string) => json(`functions${path}.func/.vc-config.json`);
const filesOf = (path: string) => {
  const dir = `functions${path}.func/`;
  return files.filter((file) => file.startsWith(dir)).map((file) => file.slice(dir.length));
};

describe('the functions', () => {
  test('are the two of the api folder and the two behind queues, and no webhook', async () => {
    const functions = (await functionSizes(output)).map(({ path }) => path);
    expect(functions).toEqual([...QUEUE, ...API]);
    expect(files.filter((file) => file.includes('webhook') && !file.includes('/node_modules/'))).toEqual([]);
  });

  test('a pass has 75 s, any other request 30 s, a wake-up of a run as much as the plan allows', async () => {
    expect(await configOf('/api/cron')).toMatchObject({ maxDuration: 75 });
    expect(await configOf('/api/index')).toMatchObject({ maxDuration: 30 });
    for (const path of QUEUE) expect(await configOf(path)).toMatchObject({ maxDuration: 'max' });
  });

  test('all run on Node 24 and none brings a setting', async () => {
    for (const path of [...API, ...QUEUE]) {
      const { runtime, environment = {} } = await configOf(path);
      expect({ path, runtime, environment }).toEqual({ path, runtime: 'nodejs24.x', environment: {} });
    }
  });

  test('queues trigger the workflow and its steps, each from its own topic, and nothing else', async () => {
    const trigger = (topic: string) => [
      expect.objectContaining({ type: 'queue/v2beta', topic, consumer: 'default' }),
    ];
    expect((await configOf(QUEUE[0] ?? '')).experimentalTriggers).toEqual(trigger('__wkf_workflow_*'));
    expect((await configOf(QUEUE[1] ?? '')).experimentalTriggers).toEqual(trigger('__wkf_step_*'));
    for (const path of API) expect(await configOf(path)).not.toHaveProperty('experimentalTriggers');
  });

  test('stay small', async () => {
    const most: Record<string, number> = { flow: 7e6, step: 12e6, cron: 25e6, index: 25e6 };
    for (const { path, bytes, files } of await functionSizes(output)) {
      console.log(`${path}: ${(bytes / 1e6).toFixed(1)} MB in ${files} files`);
      expect(bytes, path).toBeLessThan(most[basename(path)] ?? 0);
    }
  });
});

describe('the workflow', () => {
  interface Manifest {
    readonly workflows: Record<string, Record<string, { workflowId: string }>>;
    readonly steps: Record<string, Record<string, { stepId: string }>>;
  }
  const manifest = (): Promise<Manifest> => json('functions/.well-known/workflow/v1/manifest.json');

  test('is the one by whose id runs are started', async () => {
    const ids = Object.values((await manifest()).workflows).flatMap((byName) =>
      Object.values(byName).map(({ workflowId }) => workflowId),
    );
    expect(ids).toEqual([SESSION_RUN_ID]);
  });

  test('has our three steps; all others belong to the engine or to the Sandbox SDK', async () => {
    const { 'src/workflows/session.ts': ours, ...others } = (await manifest()).steps;
    expect(Object.keys(ours ?? {}).sort()).toEqual(['continueSession', 'driveSession', 'ringHolder']);
    for (const file of Object.keys(others))
      expect(file).toMatch(/^node_modules\/(workflow|@vercel\/sandbox)\//);
  });
});

describe('the addresses', () => {
  interface Route {
    readonly handle?: string;
    readonly src?: string;
    readonly dest?: string;
  }
  test('files and functions come before the rewrite to the api, which leaves .well-known alone', async () => {
    const { version, routes } = (await json('config.json')) as { version: number; routes: Route[] };
    expect(version).toBe(3);
    expect(routes[0]).toEqual({ handle: 'filesystem' });
    const rewrite = new RegExp(routes[1]?.src ?? '');
    expect(routes[1]?.dest).toBe('/api');
    for (const path of ['/', '/api/health', '/api/sessions/x/doorbell', '/anything/else'])
      expect(path).toMatch(rewrite);
    const wellKnown = '/.well-known/workflow/v1/flow';
    expect(wellKnown).not.toMatch(rewrite);
    expect(
      routes.filter(
        ({ src, dest }) =>
          dest !== undefined && dest !== '/404.html' && new RegExp(src ?? '').test(wellKnown),
      ),
    ).toEqual([]);
  });

  test('the cron comes each minute', async () => {
    expect((await json('config.json')).crons).toEqual([{ path: '/api/cron', schedule: '* * * * *' }]);
  });

  test('what is served as a file is robots.txt and diagrams', () => {
    const served = files.filter((file) => file.startsWith('static/'));
    expect(served).toContain('static/robots.txt');
    expect(served.filter((file) => !/^static\/(robots\.txt|diagrams\/[^.].*)$/.test(file))).toEqual([]);
  });
});

describe('what must not be deployed', () => {
  test('the functions of the api hold compiled code, packages, and what the page reads', () => {
    const known = [
      /^(api|src|machines)\/[\w/-]+\.js(\.map)?$/,
      /^src\/dashboard\/assets\/[\w.-]+\.(css|js|svg)$/,
      /^node_modules\//,
      /^(package\.json|\.vc-config\.json)$/,
    ];
    for (const path of API)
      expect(filesOf(path).filter((file) => !known.some((pattern) => pattern.test(file)))).toEqual([]);
  });

  test('the functions behind queues are one file each', () => {
    for (const path of QUEUE)
      expect(filesOf(path).sort()).toEqual(['.vc-config.json', 'index.js', 'package.json']);
  });

  test('no source, no test, no settings, no database, no native code', () => {
    const unwanted = /\.(tsx?|mts|cts|node|db|db-wal|test\.js)$|(^|\/)\.env/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
    const packages = /\/node_modules\/(@libsql|libsql|@neon-rs|vitest|typescript|tsx|esbuild)\//;
    expect(files.filter((file) => packages.test(file))).toEqual([]);
    const parts = /\/src\/(cli|emulator|build)\//;
    expect(files.filter((file) => parts.test(file))).toEqual([]);
  });

  test('nothing of the environment or the machine that it was built on', async () => {
    const found: string[] = [];
    for (const file of files) {
      // Vercel's compiler writes absolute paths into the source maps of the api functions.
      const places = file.endsWith('.js.map') ? [] : [ROOT];
      const content = await readFile(join(output, file), 'latin1');
      for (const trace of [...Object.values(SECRETS), ...places])
        if (content.includes(trace)) found.push(`${file}: ${trace}`);
    }
    expect(found).toEqual([]);
  });
});

describe('elsewhere, without a setting and without our packages', () => {
  let elsewhere = '';
  beforeAll(async () => {
    elsewhere = await mkdtemp(join(tmpdir(), 'outposts-artefact-'));
    await cp(join(output, 'functions'), elsewhere, { recursive: true });
  });
  afterAll(() => rm(elsewhere, { recursive: true, force: true }));

  const run = async (code: string, env: Record<string, string> = {}): Promise<unknown> => {
    const args = ['--input-type=module', '--eval', code];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: elsewhere, env });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  };
  const say = (value: string) =>
    `process.stdout.write('\\n' + JSON.stringify(${value}) + '\\n', () => process.exit());`;

  test.each(API)('%s loads as an app', async (path) => {
    const code = `const { default: app } = await import('./${path}.func${path}.js'); ${say('typeof app.fetch')}`;
    expect(await run(code)).toBe('function');
  });

  test.each(QUEUE)('%s loads as a handler', async (path) => {
    const code = `const { POST } = (await import('./${path}.func/index.js')); ${say('typeof POST')}`;
    expect(await run(code)).toBe('function');
  });

  test('on Vercel without any setting -> health says 503 and names each; no page is shown; the cron is shut', async () => {
    const code = `
      const { default: app } = await import('./api/index.func/api/index.js');
      const { default: cron } = await import('./api/cron.func/api/cron.js');
      const at = (path) => new Request('https://outposts.example' + path);
      const health = await app.fetch(at('/api/health'));
      const page = await app.fetch(at('/'));
      const pass = await cron.fetch(at('/api/cron'));
      ${say('{ health: health.status, said: await health.text(), page: page.status, cron: pass.status }')}`;
    const answer = (await run(code, { VERCEL: '1', VERCEL_ENV: 'production' })) as { said: string };
    expect(answer).toMatchObject({ health: 503, page: 503, cron: 401 });
    for (const name of ['DATABASE_URL', 'DEVIN_CONNECTION_SECRET', 'CRON_SECRET'])
      expect(answer.said).toContain(name);
  });
});
