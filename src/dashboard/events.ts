/**
 * Sends the changing part of the page whenever something changed.
 *
 * Many changes in a moment become one drawing, and one that looks like the
 * last is not sent. A reader that is slow holds nothing up but itself.
 */
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';

/** Least wall time between two drawings. */
const COALESCE_MS = 250;
/** So that a broken connection is noticed on both sides. */
const HEARTBEAT_MS = 15_000;

export interface LiveSource {
  changes(signal: AbortSignal): AsyncIterable<void>;
  draw(): Promise<string>;
}

export function streamLive(c: Context, source: LiveSource): Response {
  return streamSSE(c, async (stream) => {
    const ended = new AbortController();
    stream.onAbort(() => ended.abort());
    const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
    try {
      await follow(stream, source, ended.signal);
    } catch {
      // Whoever reads connects again and sees in the page itself what is wrong.
    } finally {
      clearInterval(heartbeat);
      ended.abort();
    }
  });
}

async function follow(stream: SSEStreamingApi, source: LiveSource, signal: AbortSignal): Promise<void> {
  const bell = ringWhenChanged(source, signal);
  let sent = '';
  while (!signal.aborted) {
    const drawn = await source.draw();
    if (drawn !== sent) await stream.writeSSE({ event: 'live', data: drawn });
    sent = drawn;
    await stream.sleep(COALESCE_MS);
    if (!(await bell.rung())) return;
  }
}

/** Remembers that something changed until someone asks; `rung` is false once no more changes will come. */
function ringWhenChanged(source: LiveSource, signal: AbortSignal): { rung(): Promise<boolean> } {
  let changed = false;
  let over = false;
  let wake = () => {};
  const listen = async () => {
    for await (const _ of source.changes(signal)) {
      changed = true;
      wake();
    }
  };
  const end = () => {
    over = true;
    wake();
  };
  signal.addEventListener('abort', end, { once: true });
  listen().then(end, end);
  return {
    async rung() {
      while (!changed && !over) await new Promise<void>((resolve) => (wake = resolve));
      const answer = !over;
      changed = false;
      return answer;
    },
  };
}
