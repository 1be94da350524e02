/** How an output is served: a small one, made for these tests. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadFunctions } from '../../src/cli/output-functions.js';
import { createOutputServer } from '../../src/cli/output-server.js';
import { settleCronSecret } from '../../src/cli/preview-secret.js';

let output = '';
beforeEach(async () => {
  output = await mkdtemp(join(tmpdir(), 'outposts-output-'));
  await put('static/diagrams/session machine.svg', '<svg/>');
});
afterEach(() => rm(output, { recursive: true, force: true }));

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(output, path)), { recursive: true });
  await writeFile(join(output, path), content);
}

async function putFunction(path: string, config: object, code: string): Promise<void> {
  await put(`functions/${path}.func/.vc-config.json`, JSON.stringify({ handler: 'index.mjs', ...config }));
  await put(`functions/${path}.func/index.mjs`, code);
}

const REWRITE = { src: '^(?:/((?!\\.well-known/).*))$', dest: '/api', check: true };

async function serve({
  routes = [{ handle: 'filesystem' }, REWRITE] as object[],
  crons = [] as object[],
} = {}) {
  await put('config.json', JSON.stringify({ version: 3, routes, crons }));
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const functions = await loadFunctions(output, log);
  const url = 'http://127.0.0.1:1';
  const server = await createOutputServer({ output, functions, url, cronSecret: 'open', log });
  const ask = async (path: string, init?: RequestInit) => {
    const response = await server.answer(new Request(`${url}${path}`, init));
    return { status: response.status, text: await response.text() };
  };
  return { server, ask, lines };
}

const APP = (body: string) => `export default { fetch: async (request) => ${body} };`;

describe('addresses', () => {
  test('a path that is no file and no function -> the function of the rewrite, which sees the path', async () => {
    await putFunction('api/index', {}, APP('new Response(new URL(request.url).pathname)'));
    await putFunction('api/cron', {}, APP("new Response('cron')"));
    const { ask } = await serve();
    expect(await ask('/api/sessions/a/doorbell')).toEqual({ status: 200, text: '/api/sessions/a/doorbell' });
    expect(await ask('/api/cron')).toEqual({ status: 200, text: 'cron' });
    expect(await ask('/diagrams/session%20machine.svg')).toEqual({ status: 200, text: '<svg/>' });
    expect((await ask('/.well-known/anything')).status).toBe(404);
  });

  test('a function with a queue trigger -> has no address, and is called by the queue', async () => {
    await putFunction(
      '.well-known/workflow/v1/flow',
      { experimentalTriggers: [{ topic: '__wkf_workflow_*' }] },
      "export const POST = async () => new Response('ran');",
    );
    const { ask, server } = await serve();
    expect((await ask('/.well-known/workflow/v1/flow', { method: 'POST' })).status).toBe(404);
    const [flow] = server.queueFunctions;
    expect(flow?.topics).toEqual(['__wkf_workflow_*']);
    const ran = await flow?.call(new Request('http://127.0.0.1:1', { method: 'POST' }));
    expect(await ran?.text()).toBe('ran');
  });

  test('a kind of route that is not known here -> refused, rather than served as it would not be', async () => {
    await putFunction('api/index', {}, APP('new Response()'));
    const route = { src: '/x', dest: '/api', has: [{ type: 'header', key: 'x' }] };
    await expect(serve({ routes: [route] })).rejects.toThrow("the output's config is not one of ours");
  });
});

describe('calls', () => {
  test('longer than the maxDuration -> 504, aborted, and logged', async () => {
    await putFunction(
      'api/index',
      { maxDuration: 0.05 },
      APP(`new Promise((resolve) => request.signal.addEventListener('abort', () => {
        globalThis.abortedForTest = true;
        resolve(new Response('late'));
      }))`),
    );
    const { ask, lines } = await serve();
    expect(await ask('/')).toEqual({ status: 504, text: 'The function took too long.\n' });
    expect(globalThis).toHaveProperty('abortedForTest', true);
    expect(lines).toEqual(['/api/index took longer than its 0.05 s']);
  });

  test('a function that throws -> 500, the reason in the log only', async () => {
    await putFunction(
      'api/index',
      {},
      "export default { fetch: async () => { throw new Error('secret reason'); } };",
    );
    const { ask, lines } = await serve();
    expect(await ask('/')).toEqual({ status: 500, text: 'The function failed.\n' });
    expect(lines).toEqual(['/api/index failed: secret reason']);
  });

  test('stopping -> waits for what runs, takes nothing more', async () => {
    await putFunction(
      'api/index',
      {},
      APP('new Promise((resolve) => { globalThis.endForTest = () => resolve(new Response()); })'),
    );
    const { ask, server } = await serve();
    const running = ask('/');
    let stopped = false;
    const stopping = server.stop().then(() => {
      stopped = true;
    });
    expect((await ask('/')).status).toBe(503);
    expect(stopped).toBe(false);
    (globalThis as unknown as { endForTest(): void }).endForTest();
    await Promise.all([running, stopping]);
    expect(stopped).toBe(true);
  });

  test('the cron is called with its secret while an earlier call still runs', async () => {
    await putFunction(
      'api/cron',
      {},
      `const calls = (globalThis.callsForTest = []);
       export default { fetch: (request) => new Promise((resolve) => {
         calls.push(request.headers.get('authorization'));
         if (calls.length === 3) globalThis.thirdForTest(calls);
       }) };`,
    );
    const third = new Promise((resolve) => {
      Object.assign(globalThis, { thirdForTest: resolve });
    });
    const { server } = await serve({ crons: [{ path: '/api/cron', schedule: '* * * * *' }] });
    server.callCrons(60_000);
    expect(await third).toEqual(['Bearer open', 'Bearer open', 'Bearer open']);
    // The calls never end, so neither does this; it only stops the cron.
    void server.stop();
  });
});

test('the cron secret that is set counts; without one a file keeps the one that was made', async () => {
  expect(await settleCronSecret('given', output)).toEqual({ value: 'given', path: null });
  const made = await settleCronSecret(undefined, output);
  expect(made.path).toBe(join(output, 'preview-cron-secret'));
  expect(await settleCronSecret('', output)).toEqual(made);
});
