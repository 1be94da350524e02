/**
 * The queue's watch: server-sent events from a cursor on.
 *
 * Only `data:` lines and comments, no event names or ids; ends by itself after
 * `maxMs`. A stalled one stays open and withholds its events.
 */
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Clock } from '../../ports/clock.js';
import type { HttpContext } from './http.js';
import type { Change, Queue } from './queue.js';
import { type Place, writeCursor } from './wire.js';

export interface WatchOptions {
  readonly clock: Clock;
  readonly maxMs: number;
  readonly keepaliveMs: number;
  readonly signal: AbortSignal;
}

export function answerWatch(
  c: HttpContext,
  ask: { queue: Queue; after: Place | null; outpost: string | undefined; stalled: boolean },
  options: WatchOptions,
): Response {
  const missed = ask.after ? ask.queue.changesAfter(ask.after) : [];
  if (!missed) return c.json({ detail: 'Cursor is too old' }, 410);

  const out = c.env.outgoing;
  out.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  out.write(': keepalive\n\n');

  const closed = new AbortController();
  const send = (change: Change) => {
    if (ask.stalled || (ask.outpost !== undefined && change.outpostId !== ask.outpost)) return;
    const data = { type: change.type, object: change.row, cursor: writeCursor(change.place) };
    out.write(`data: ${JSON.stringify(data)}\n\n`);
  };
  for (const change of missed) send(change);
  const unsubscribe = ask.queue.onChange(send);
  out.on('close', () => {
    unsubscribe();
    closed.abort();
  });
  void keepOpen(options, AbortSignal.any([closed.signal, options.signal]), () =>
    out.write(': keepalive\n\n'),
  ).finally(() => out.end());
  return RESPONSE_ALREADY_SENT;
}

async function keepOpen(options: WatchOptions, signal: AbortSignal, beat: () => void): Promise<void> {
  const endAt = options.clock.now() + options.maxMs;
  try {
    for (;;) {
      const left = endAt - options.clock.now();
      if (left <= 0) return;
      await options.clock.sleep(Math.min(left, options.keepaliveMs), signal);
      beat();
    }
  } catch {
    // The client left or the cloud closed.
  }
}
