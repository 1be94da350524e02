/** Small things of HTTP that the API and the control endpoints share. */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ApiAnswer } from './api.js';
import { ApiError, badRequest } from './api-error.js';

const BODY_LIMIT = 64 * 1024 * 1024;

/** @throws ApiError 400 when the body is larger than the emulator takes. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw badRequest('The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as JSON, `{}` when empty. @throws ApiError 400. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw badRequest('The body is not JSON.');
  }
}

export function sendJson(
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(json));
}

export function sendError(response: ServerResponse, error: unknown): void {
  const known =
    error instanceof ApiError ? error : new ApiError(500, 'internal_server_error', 'Internal error.');
  sendJson(response, known.status, { error: { code: known.code, message: known.message } });
}

/** Sends an answer; with `cut` the connection breaks in the middle of it. */
export async function sendAnswer(response: ServerResponse, answer: ApiAnswer, cut: boolean): Promise<void> {
  if ('lines' in answer) return sendLines(response, answer.lines, cut);
  if ('file' in answer) {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    if (cut) return breakOff(response, '');
    return pipeline(createReadStream(answer.file), response);
  }
  if (!cut) return sendJson(response, 200, answer.json);
  const text = JSON.stringify(answer.json);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  breakOff(response, text.slice(0, text.length / 2));
}

async function sendLines(
  response: ServerResponse,
  lines: AsyncIterable<object>,
  cut: boolean,
): Promise<void> {
  // The SDK compares the content type as a whole: no charset.
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  response.flushHeaders();
  let sent = 0;
  for await (const line of lines) {
    // A client that left does not end the command.
    if (response.destroyed) return;
    const text = `${JSON.stringify(line)}\n`;
    if (cut && sent === 1) return breakOff(response, text.slice(0, text.length / 2));
    response.write(text);
    sent += 1;
  }
  if (cut) breakOff(response, '');
  else response.end();
}

function breakOff(response: ServerResponse, part: string): void {
  response.write(part, () => response.destroy());
}
