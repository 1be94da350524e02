/**
 * One bounded exchange of JSON with a server that brings or takes secrets.
 *
 * Never follows a redirect, never reads more than 64 kB, and lets neither what
 * was sent nor what came back into a message. Retries nothing.
 */
import type { z } from 'zod';
import { ContractError, TransientError } from '../errors.js';
import { withDeadline } from '../ports/clock.js';

export interface Question {
  /** Operation and object, for messages: `exchange the code at Devin`. */
  readonly label: string;
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly token?: string;
  /** Sent form-encoded. */
  readonly form?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
}

export interface Answer {
  readonly status: number;
  /** Null: what came was no JSON. */
  readonly json: unknown;
}

/** By the wall: an effect has twenty seconds for all that it asks. */
const TIMEOUT_MS = 8_000;
const LONGEST_BYTES = 64 * 1024;
/** Somebody waits, for ten minutes at most: who asks for more patience is asked again all the same. */
const LONGEST_RETRY_AFTER_S = 60;

/** Rejects with TransientError for what passes (no answer, 429, 5xx); any other status is an answer. */
export async function ask(question: Question, signal: AbortSignal): Promise<Answer> {
  const { label, method, url, token, form, json } = question;
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': 'devin-outposts-vercel',
  };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (form !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
  if (json !== undefined) headers['content-type'] = 'application/json';
  const body = form !== undefined ? new URLSearchParams(form).toString() : JSON.stringify(json);
  const limit = withDeadline(TIMEOUT_MS, signal);
  try {
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: limit.signal,
      ...(method === 'POST' ? { body } : {}),
    });
    const { status } = response;
    if (status === 429 || status >= 500) {
      await response.body?.cancel();
      throw new TransientError(`${label}: answered ${status}`, {
        retryAfterMs: secondsOf(response.headers.get('retry-after')),
      });
    }
    return { status, json: parsed(await textOf(label, response)) };
  } catch (error) {
    if (error instanceof TransientError) throw error;
    if (signal.aborted) throw signal.reason;
    // The cause may repeat the address, and an address may hold a secret.
    throw new TransientError(`${label}: no answer`);
  } finally {
    limit.clear();
  }
}

/** What the answer should be. Rejects with ContractError that names the field, never its value. */
export function expecting<T>(label: string, schema: z.ZodType<T>, json: unknown): T {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') || 'the whole of it';
  throw new ContractError(`${label}: the answer is not what was expected (${where})`);
}

async function textOf(label: string, response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > LONGEST_BYTES) throw new ContractError(`${label}: the answer is longer than 64 kB`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function secondsOf(header: string | null): number | null {
  const seconds = /^\d{1,9}$/.test(header ?? '') ? Number(header) : null;
  return seconds === null ? null : Math.min(seconds, LONGEST_RETRY_AFTER_S) * 1_000;
}
