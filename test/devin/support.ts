/**
 * A fleet API of which each test writes the answers, and a client of it.
 *
 * Real sockets on 127.0.0.1; knows no semantics (the emulator has those).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createFleet, type FleetOptions } from '../../src/devin/fleet.js';
import type { Clock } from '../../src/ports/clock.js';
import { createRemoteClock } from '../../src/remote-clock.js';

export interface Heard {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export type Handler = (heard: Heard, response: ServerResponse) => void | Promise<void>;

/** Starts a server for the current test; answers its address and what it has heard. */
export async function serve(handler: Handler): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      const entry = { method: request.method ?? '', url, headers: request.headers, body };
      heard.push(entry);
      void handler(entry, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A clock that only moves when told. */
export function createHandClock(start = Date.UTC(2026, 7, 4, 12)) {
  let now = start;
  let slept = 0;
  const sleepers = new Set<{ dueAt: number; wake: () => void }>();
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        slept += 1;
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { dueAt: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
  };
  const advance = (ms: number) => {
    now += ms;
    for (const sleeper of [...sleepers]) {
      if (sleeper.dueAt > now) continue;
      sleepers.delete(sleeper);
      sleeper.wake();
    }
  };
  return { clock, advance, slept: () => slept };
}

export const TOKEN = 'cog_secret-of-this-test';
export const OUTPOST = 'outpost_env-1';

/** A client of `apiUrl`, with everything it reported. */
export function client(apiUrl: string, options: Partial<FleetOptions> = {}) {
  const oddities: string[] = [];
  const clock = options.clock ?? createHandClock().clock;
  const remoteClock = options.remoteClock ?? createRemoteClock(clock);
  const fleet = createFleet({
    apiUrl,
    token: () => TOKEN,
    outpostId: OUTPOST,
    onOddity: (text) => oddities.push(text),
    ...options,
    clock,
    remoteClock,
  });
  return { fleet, oddities, remoteClock, clock };
}

interface RowParts {
  metadata?: object;
  spec?: object;
  status?: object;
}

/** A row as the API writes it. */
export function row(sessionId: string, parts: RowParts = {}) {
  const metadata = {
    session_id: sessionId,
    outpost_id: OUTPOST,
    created_at: 1,
    updated_at: 1,
    ...parts.metadata,
  };
  const spec = { kind: 'new', platform: null, remote_binary_sha: null, ...parts.spec };
  const status = {
    phase: 'pending',
    acceptor_id: null,
    claim_deadline: null,
    session_status: 'pending',
    ...parts.status,
  };
  return { metadata, spec, status };
}

/** A row as a successful claim answers it. */
export function claimed(sessionId: string, acceptorId: string, parts: RowParts = {}) {
  const grant = { connect_token: 'ct-secret', gateway_url: 'wss://gateway.devin.ai/v1' };
  const status = { phase: 'claimed', acceptor_id: acceptorId, ...grant, ...parts.status };
  return row(sessionId, { ...parts, status });
}

/** A stand-in for fetch whose answer arrives exactly as cut: sockets join pieces as they like. */
export function piecewise(contentType: string, pieces: readonly Uint8Array[]): typeof fetch {
  return async () => {
    const left = [...pieces];
    const body = new ReadableStream({
      pull(controller) {
        const piece = left.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': contentType } });
  };
}

export const never = () => new AbortController().signal;

/** What was thrown; fails when nothing was. */
export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Resolves as soon as `holds` does; fails after five seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const endAt = Date.now() + 5_000;
  while (!holds()) {
    if (Date.now() > endAt) throw new Error('it did not come to hold within 5 s');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
