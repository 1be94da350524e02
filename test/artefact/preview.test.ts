/** The built output, served on this machine. */
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { startChild } from '../e2e/child.js';
import { until } from '../e2e/support.js';
import { BUILD_MS, builtOutput } from './built.js';

let output = '';
beforeAll(async () => {
  output = await builtOutput();
}, BUILD_MS);

const preview = (env: Record<string, string> = {}, args: readonly string[] = []) =>
  startChild(null, null, { command: 'preview', args: ['--output', output, ...args], env });

async function upAt(child: Awaited<ReturnType<typeof preview>>): Promise<string> {
  await child.up();
  return child.lines.find(({ text }) => text?.startsWith('page: '))?.text?.slice('page: '.length) ?? '';
}

/** Sends the path as it is, where `fetch` would tidy it up. */
const statusOf = (url: string, path: string, method = 'GET') =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, method }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });

describe('preview', () => {
  test('without settings -> health says what is missing, files and 404s are as deployed, SIGTERM ends it', async () => {
    const child = await preview();
    const url = await upAt(child);
    const health = await fetch(`${url}/api/health`);
    expect(health.status).toBe(503);
    expect(await health.text()).toContain('DEVIN_OUTPOSTS_TOKEN');

    expect(await (await fetch(`${url}/robots.txt`)).text()).toContain('Disallow: /');
    const head = await fetch(`${url}/robots.txt`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(await statusOf(url, '/robots.txt', 'DELETE')).toBe(405);
    for (const path of [
      '/nothing',
      '/api/nothing',
      '/static/robots.txt',
      '/../package.json',
      '/%2e%2e/package.json',
    ])
      expect(await statusOf(url, path), path).toBe(404);
    expect(await statusOf(url, '/api/cron')).toBe(401);

    child.signal('SIGTERM');
    expect(await child.ended()).toBe(0);
  });

  test('what queues call is reached by nobody else, however it is spelt', async () => {
    const url = await upAt(await preview());
    const paths = ['flow', 'step', 'webhook/x', 'flow?__health', 'flow/', 'manifest.json'].flatMap((name) =>
      ['/.well-known', '//.well-known', '/%2ewell-known', '/.well-known/.', '/x/../.well-known'].map(
        (start) => `${start}/workflow/v1/${name}`,
      ),
    );
    for (const path of paths)
      for (const method of ['GET', 'POST', 'HEAD'])
        expect(await statusOf(url, path, method), `${method} ${path}`).toBe(404);
  });

  test('no cron secret is set -> one is made in a file for its owner only, and printed nowhere', async () => {
    const child = await preview();
    await child.up();
    const [, path = ''] = /the secret of \/api\/cron is in ([^"]+)"/.exec(child.output()) ?? [];
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const secret = await readFile(path, 'utf8');
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect(child.output()).not.toContain(secret);
  });

  test('--cron -> the cron is called', async () => {
    const child = await preview({}, ['--cron']);
    await child.line(
      'an answer of the cron',
      ({ text }) => text?.startsWith('the cron /api/cron was answered') === true,
    );
  });

  test('nothing built -> it says how to build, and ends', async () => {
    const child = await startChild(null, null, { command: 'preview', args: ['--output', '/nowhere/output'] });
    expect(await child.ended()).toBe(1);
    await until('the reason', () => child.output().includes('npm run build:vercel'));
  });
});
