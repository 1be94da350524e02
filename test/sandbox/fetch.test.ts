import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rewriteFetch } from '../../src/sandbox/index.js';

let base: string;
const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(() => void server.close());

test.each([
  ['https://vercel.com/api/v2/sandboxes?teamId=t', ''],
  [new URL('https://vercel.com/api/v2/sandboxes?teamId=t'), '/'],
  [new Request('https://vercel.com/api/v2/sandboxes?teamId=t'), '/'],
])('a request of the SDK reaches the address on this machine', async (input, tail) => {
  const response = await rewriteFetch(base + tail)(input);
  expect(await response.text()).toBe('GET /v2/sandboxes?teamId=t');
});

test.each([
  'https://vercel.com/apiary',
  'https://vercel.com.evil.example/api/v2',
  'http://vercel.com/api/v2',
  'https://example.com/',
])('a request for %s goes nowhere', async (url) => {
  await expect(rewriteFetch(base)(url)).rejects.toThrow('not for the Sandbox API');
});

test.each([
  'https://example.com',
  'http://example.com',
  'http://127.0.0.1.example.com',
  'http://127.0.0.1@example.com',
  'https://127.0.0.1',
  'http://10.0.0.1',
  'http://u:p@127.0.0.1',
])('%s is refused as the address of the API', (url) => {
  expect(() => rewriteFetch(url)).toThrow('this machine');
});
