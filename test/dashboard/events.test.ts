import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createParser } from 'eventsource-parser';
import { afterEach, expect, it } from 'vitest';
import { localAdmission } from '../../src/dashboard/guard.js';
import { createDashboard } from '../../src/dashboard/index.js';
import { fleetView } from './support.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A page on a real socket whose sessions the test changes, and which tells when its reader has gone. */
async function serve() {
  const bells = new Set<() => void>();
  const ring = () => {
    for (const bell of bells) bell();
    bells.clear();
  };
  let draws = 0;
  let queueDepth = 0;
  let failing = false;
  let over = false;
  let gone = () => {};
  const left = new Promise<void>((resolve) => (gone = resolve));
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const app = createDashboard({
    view: async () => {
      if (failing) throw new Error('the database is away');
      draws += 1;
      return fleetView({ queueDepth });
    },
    async *changes(signal) {
      signal.addEventListener('abort', () => {
        gone();
        ring();
      });
      while (!signal.aborted && !over) {
        await new Promise<void>((resolve) => bells.add(resolve));
        if (!over) yield;
      }
    },
    health: async () => ({ kind: 'ready', details: {} }),
    actions: {},
    admission: localAdmission('t', [host]),
    title: 'Outposts',
    log: () => {},
    world: 'embedded',
  });
  server.on('request', getRequestListener(app.fetch));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://${host}/events`,
    left,
    draws: () => draws,
    change(depth: number) {
      queueDepth = depth;
      ring();
    },
    ring,
    fail() {
      failing = true;
      ring();
    },
    end() {
      over = true;
      ring();
    },
  };
}

/** Reads events one by one; `next` is null at the end of the stream. */
async function read(url: string) {
  const leaving = new AbortController();
  const answer = await fetch(url, { signal: leaving.signal });
  const found: { event: string | undefined; data: string }[] = [];
  const parser = createParser({ onEvent: ({ event, data }) => found.push({ event, data }) });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  return {
    answer,
    leave: () => leaving.abort(),
    async next() {
      while (found.length === 0) {
        const { done, value } = await reader.read();
        if (done) return null;
        parser.feed(decoder.decode(value, { stream: true }));
      }
      return found.shift();
    },
  };
}
const depthIn = (data: string) => /In Devin’s queue<\/dt><dd><b>(\d+)/.exec(data)?.[1];

it('a reader -> gets the present at once, then each change', async () => {
  const page = await serve();
  const reader = await read(page.url);
  expect(reader.answer.headers.get('content-type')).toMatch('text/event-stream');
  const first = await reader.next();
  expect(first?.event).toBe('live');
  expect(first?.data).toMatch(/^<div id="live"/);
  expect(depthIn(first?.data ?? '')).toBe('0');
  page.change(7);
  expect(depthIn((await reader.next())?.data ?? '')).toBe('7');
  reader.leave();
  await page.left;
});

it('a hundred changes in a moment -> a drawing or two, and the last one is the truth', async () => {
  const page = await serve();
  const reader = await read(page.url);
  await reader.next();
  const before = page.draws();
  for (let depth = 1; depth <= 100; depth++) {
    page.change(depth);
    await new Promise(setImmediate);
  }
  let depth = depthIn((await reader.next())?.data ?? '');
  while (depth !== '100') depth = depthIn((await reader.next())?.data ?? '');
  expect(page.draws() - before).toBeLessThanOrEqual(10);
  reader.leave();
  await page.left;
});

it('a change that changes nothing to see -> nothing is sent', async () => {
  const page = await serve();
  const reader = await read(page.url);
  await reader.next();
  const before = page.draws();
  while (page.draws() === before) {
    page.ring();
    await new Promise(setImmediate);
  }
  page.change(1);
  expect(depthIn((await reader.next())?.data ?? '')).toBe('1');
  reader.leave();
  await page.left;
});

it('a view that fails -> the stream ends, so that the reader comes back', async () => {
  const page = await serve();
  const reader = await read(page.url);
  await reader.next();
  page.fail();
  expect(await reader.next()).toBeNull();
});

it('no more changes to come -> the stream ends', async () => {
  const page = await serve();
  const reader = await read(page.url);
  await reader.next();
  page.end();
  expect(await reader.next()).toBeNull();
});
