/**
 * One authenticated exchange with the fleet API.
 *
 * Never retries (callers have backoff), never follows a redirect (the bearer
 * token stays with the configured host), never reads more than 8 MB, never lets
 * the token or a body into a message. An abort by the caller rejects with the
 * caller's reason; everything else is sorted by src/errors.ts.
 */
import { ContractError, type RefusalScope, RefusedError, TransientError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { RemoteClock } from '../remote-clock.js';
import { baseUrlOf } from './base-url.js';
import { failureOf } from './failure.js';

export interface TransportOptions {
  readonly apiUrl: string;
  readonly token: () => string | Promise<string>;
  readonly clock: Clock;
  readonly remoteClock: RemoteClock;
  readonly fetch: typeof fetch;
  readonly userAgent: string;
  /** Bound of a whole `call`, in wall time: it measures a socket, as the lease of a row is measured by the wall. */
  readonly timeoutMs: number;
}

export interface FleetRequest {
  /** Operation and session, for messages: `claim devin-abc`. */
  readonly label: string;
  readonly method: 'GET' | 'POST';
  /** Below the base address, escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly accept?: string;
  /** Whose data it carries, so whom a rejection of it concerns; the installation's unless given. */
  readonly scope?: RefusalScope;
}

export interface FleetAnswer {
  readonly status: number;
  readonly text: string;
  /** When the request left and when its answer began, by our clock. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface Transport {
  /** Sends and reads the whole answer. Statuses in `expected` are answers too; their text is not read. */
  call(request: FleetRequest, expected: readonly number[], signal: AbortSignal): Promise<FleetAnswer>;
  /** Sends, and answers as soon as the headers are there; status and body are the caller's. */
  open(
    request: FleetRequest,
    signal: AbortSignal,
  ): Promise<{ response: Response; sentAt: number; receivedAt: number }>;
}

export function createTransport(options: TransportOptions): Transport {
  const base = baseUrlOf(options.apiUrl, 'DEVIN_API_URL');

  const open: Transport['open'] = async (request, signal) => {
    signal.throwIfAborted();
    const token = headerToken(await options.token());
    signal.throwIfAborted();
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      accept: request.accept ?? 'application/json',
      'user-agent': options.userAgent,
    };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const query = request.query ? `?${new URLSearchParams(request.query)}` : '';
    const sentAt = options.clock.now();
    const response = await options
      .fetch(`${base}${request.path}${query}`, {
        method: request.method,
        headers,
        redirect: 'manual',
        signal,
        ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      })
      .catch((error) => {
        throw connectionError(request.label, 'the fleet API cannot be reached', error, signal);
      });
    const receivedAt = options.clock.now();
    options.remoteClock.learnFromDate(response.headers.get('date'), sentAt, receivedAt);
    return { response, sentAt, receivedAt };
  };

  return {
    open,
    async call(request, expected, signal) {
      signal.throwIfAborted();
      const bound = new AbortController();
      const onAbort = () => bound.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => {
        const seconds = options.timeoutMs / 1_000;
        bound.abort(new TransientError(`${request.label}: no answer from the fleet API within ${seconds} s`));
      }, options.timeoutMs);
      try {
        const { response, sentAt, receivedAt } = await open(request, bound.signal);
        const { status } = response;
        if (!response.ok) {
          discard(response);
          if (expected.includes(status)) return { status, text: '', sentAt, receivedAt };
          throw failureOf(request.label, response, options.remoteClock, request.scope);
        }
        const text = await readText(request.label, response, bound.signal);
        return { status, text, sentAt, receivedAt };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

/** What a broken connection is: the abort's reason when it was aborted, else transient. */
export function connectionError(label: string, what: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new TransientError(`${label}: ${what}${code}`, { cause: error });
}

/** Lets go of a body that nobody reads. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

export const LONGEST_ANSWER_BYTES = 8 * 1024 * 1024;

async function readText(label: string, response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > LONGEST_ANSWER_BYTES) break;
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw connectionError(label, 'the answer of the fleet API broke off', error, signal);
  }
  if (bytes > LONGEST_ANSWER_BYTES) throw new ContractError(`${label}: the answer is longer than 8 MB`);
  return text + decoder.decode();
}

/** A token that no header can carry is refused here: the error of `fetch` would quote it. */
function headerToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  const setting = 'DEVIN_OUTPOSTS_TOKEN';
  throw new RefusedError(`${setting}: is empty or has characters that no token has`, { setting });
}
