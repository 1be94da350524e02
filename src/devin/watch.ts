/**
 * The queue's event stream, as hints.
 *
 * Never the truth: events repeat, come late or are withheld, and a list always
 * runs beside. Keeps only the last cursor, so that the next stream goes on where
 * this one ended.
 */
import { createParser } from 'eventsource-parser';
import { ContractError, TransientError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { WatchHint } from '../ports/fleet.js';
import type { RemoteClock } from '../remote-clock.js';
import { eventSchema } from './answer.js';
import { readIdentity, readRow } from './entry.js';
import { failureOf } from './failure.js';
import { nameOf } from './paths.js';
import { connectionError, LONGEST_ANSWER_BYTES, type Transport } from './transport.js';

export interface WatchOptions {
  readonly transport: Transport;
  readonly outpostId: string;
  readonly clock: Clock;
  readonly remoteClock: RemoteClock;
  readonly onOddity: (text: string) => void;
}

/** A stream that sends nothing for so long, not even a keepalive comment, is dead. */
const LONGEST_SILENCE_MS = 60_000;
/** Streams end by design; one that does not is ended here. */
const LONGEST_STREAM_MS = 300_000;

/** Answers the opener of streams; all of them share one cursor. An aborted stream throws the signal's reason. */
export function createWatch(options: WatchOptions): (signal: AbortSignal) => AsyncIterable<WatchHint> {
  const { transport, outpostId, clock, remoteClock, onOddity } = options;
  let cursor: string | null = null;

  /** The hint in one event's data, if there is one for us. Takes the cursor in either case. */
  const takeEvent = (data: string): WatchHint | null => {
    const event = eventSchema.safeParse(jsonOrNull(data)).data;
    if (!event) {
      onOddity('watch: skipped an event that is unreadable');
      return null;
    }
    cursor = event.cursor ?? cursor;
    const change = CHANGES.get(event.type);
    return change ? hintOf(change, event.object, outpostId, onOddity) : null;
  };

  const open = async (signal: AbortSignal): Promise<Response> => {
    const query = { watch: 'true', outpost: outpostId, ...(cursor ? { cursor } : {}) };
    const path = '/opbeta/outposts/devins';
    const request = { label: 'watch', method: 'GET', path, query, accept: 'text/event-stream' } as const;
    const { response } = await transport.open(request, signal);
    if (!response.ok) {
      if (!cursor || !STALE_CURSOR_STATUSES.has(response.status))
        throw failureOf('watch', response, remoteClock);
      cursor = null;
      throw new TransientError(
        `watch: ${response.status} from the fleet API: the cursor is stale, starting afresh`,
      );
    }
    const type = response.headers.get('content-type') ?? EVENT_STREAM;
    if (!type.startsWith(EVENT_STREAM)) throw new ContractError('watch: the answer is no event stream');
    return response;
  };

  return async function* watch(signal) {
    signal.throwIfAborted();
    const stream = new AbortController();
    const onAbort = () => stream.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const endAt = clock.now() + LONGEST_STREAM_MS;
    const orSilence = <T>(work: Promise<T>) =>
      beforeTimeout(work, clock, Math.min(LONGEST_SILENCE_MS, endAt - clock.now()));
    try {
      const response = await orSilence(open(stream.signal));
      if (response === TIMEOUT) throw new TransientError('watch: no answer from the fleet API within 60 s');
      const reader = response.body?.getReader();
      const feed = createFeed();
      while (reader && clock.now() < endAt) {
        const read = reader.read().catch((error) => {
          throw connectionError('watch', 'the stream of the fleet API broke off', error, stream.signal);
        });
        const chunk = await orSilence(read);
        if (chunk === TIMEOUT || chunk.done) return;
        for (const data of feed(chunk.value)) {
          const hint = takeEvent(data);
          if (hint) yield hint;
        }
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      stream.abort();
    }
  };
}

const EVENT_STREAM = 'text/event-stream';
const STALE_CURSOR_STATUSES: ReadonlySet<number> = new Set([400, 404, 410, 422]);
/** Other types are ignored. */
const CHANGES: ReadonlyMap<string, WatchHint['change']> = new Map([
  ['MODIFIED', 'modified'],
  ['DELETED', 'deleted'],
]);

/** A row that cannot be read is still a reason to look, as long as it says whose it is. */
function hintOf(
  change: WatchHint['change'],
  object: unknown,
  outpostId: string,
  onOddity: (text: string) => void,
): WatchHint | null {
  const reading = readRow(object);
  if (reading.kind === 'row') {
    const { entry } = reading.row;
    return entry.outpostId === outpostId ? { change, sessionId: entry.sessionId, entry } : null;
  }
  const identity = readIdentity(object);
  onOddity(`watch: the row ${nameOf(identity)} is unreadable at ${reading.path}`);
  return identity?.outpostId === outpostId ? { change, sessionId: identity.sessionId, entry: null } : null;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Takes bytes as they come, answers the data of each event that is complete. */
function createFeed(): (chunk: Uint8Array) => readonly string[] {
  const decoder = new TextDecoder();
  let complete: string[] = [];
  let tooLong = false;
  const parser = createParser({
    maxBufferSize: LONGEST_ANSWER_BYTES,
    onEvent: (event) => complete.push(event.data),
    onError: (error) => {
      tooLong ||= error.type === 'max-buffer-size-exceeded';
    },
  });
  return (chunk) => {
    complete = [];
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (tooLong) throw new ContractError('watch: an event is longer than 8 MB');
    return complete;
  };
}

const TIMEOUT: unique symbol = Symbol('timeout');

/** The work's result, or TIMEOUT when the clock has moved on by `ms` before. */
async function beforeTimeout<T>(work: Promise<T>, clock: Clock, ms: number): Promise<T | typeof TIMEOUT> {
  const over = new AbortController();
  const timeout: Promise<typeof TIMEOUT> = clock.sleep(Math.max(0, ms), over.signal).then(
    () => TIMEOUT,
    () => TIMEOUT,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    over.abort();
  }
}
