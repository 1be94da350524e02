import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ContractError, TransientError } from '../../src/errors.js';
import type { Fleet, WatchHint } from '../../src/ports/fleet.js';
import {
  client,
  createHandClock,
  json,
  never,
  OUTPOST,
  piecewise,
  row,
  serve,
  thrownBy,
  until,
} from './support.js';

const event = (type: string, object: unknown, cursor?: unknown) =>
  `data: ${JSON.stringify({ type, object, cursor })}\n\n`;

function stream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  return response;
}

/** A server whose n-th stream says the n-th text and ends. */
const streams = (...texts: string[]) => {
  let next = 0;
  return serve((_heard, response) => void stream(response).end(texts[next++]));
};

async function hintsOf(fleet: Fleet, signal = never()): Promise<WatchHint[]> {
  const hints: WatchHint[] = [];
  for await (const hint of fleet.watch(signal)) hints.push(hint);
  return hints;
}

const seen = (hints: readonly WatchHint[]) =>
  hints.map(({ change, sessionId, entry }) => `${change} ${sessionId} ${entry?.status ?? 'without row'}`);

describe('watching the queue', () => {
  test('rows change and go -> hints with the rows, then the stream ends by design', async () => {
    const { url, heard } = await streams(
      event('MODIFIED', row('a'), 'c1') +
        event('DELETED', row('b', { status: { session_status: 'terminated' } }), 'c2'),
    );
    const { fleet, oddities } = client(url);
    expect(seen(await hintsOf(fleet))).toEqual(['modified a pending', 'deleted b terminated']);
    expect(oddities).toEqual([]);
    expect(Object.fromEntries(heard[0]?.url.searchParams ?? [])).toEqual({ watch: 'true', outpost: OUTPOST });
    expect(heard[0]?.headers.accept).toBe('text/event-stream');
  });

  test('a hint -> comes as soon as its event is complete, long before the stream ends', async () => {
    const { url } = await serve(
      (_heard, response) => void stream(response).write(event('MODIFIED', row('a'), 'c1')),
    );
    const caller = new AbortController();
    const iterator = client(url).fleet.watch(caller.signal)[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { sessionId: 'a' } });
    const reason = new Error('enough');
    const pending = thrownBy(iterator.next());
    caller.abort(reason);
    expect(await pending).toBe(reason);
  });

  test('the caller leaves the loop -> the connection is closed', async () => {
    let closed = false;
    const { url } = await serve((_heard, response) => {
      response.on('close', () => {
        closed = true;
      });
      stream(response).write(event('MODIFIED', row('a'), 'c1') + event('MODIFIED', row('b'), 'c2'));
    });
    for await (const hint of client(url).fleet.watch(never())) {
      expect(hint.sessionId).toBe('a');
      break;
    }
    await until(() => closed);
  });

  test('every watch -> goes on after the last event that was handed over, also when that was unknown', async () => {
    const { url, heard } = await streams(
      event('MODIFIED', row('a'), 'c1') + event('MODIFIED', row('b'), 'c2'),
      event('BOOKMARK', null, 'c3'),
      event('MODIFIED', row('a'), null) + event('MODIFIED', row('a')) + event('MODIFIED', row('a'), 7),
      ': keepalive\n\n',
    );
    const { fleet } = client(url);
    for await (const _hint of fleet.watch(never())) break;
    for (let round = 0; round < 3; round += 1) await hintsOf(fleet);
    expect(heard.map(({ url }) => url.searchParams.get('cursor'))).toEqual([null, 'c1', 'c3', 'c3']);
  });

  test.each([400, 404, 410, 422])(
    'the cursor is stale (%i) -> transient, and the next watch starts afresh',
    async (status) => {
      let requests = 0;
      const { url, heard } = await serve((_heard, response) => {
        requests += 1;
        if (requests === 2) return json(response, status, { detail: 'cursor' });
        stream(response).end(event('MODIFIED', row('a'), `c${requests}`));
      });
      const { fleet } = client(url);
      await hintsOf(fleet);
      const error = await thrownBy(hintsOf(fleet));
      expect(error).toBeInstanceOf(TransientError);
      expect((error as Error).message).toContain(`watch: ${status} from the fleet API`);
      await hintsOf(fleet);
      expect(heard.map(({ url }) => url.searchParams.get('cursor'))).toEqual([null, 'c1', null]);
    },
  );

  test('the service is away for one watch -> the cursor is kept', async () => {
    let requests = 0;
    const { url, heard } = await serve((_heard, response) => {
      requests += 1;
      if (requests === 2) return json(response, 503, '');
      stream(response).end(event('MODIFIED', row('a'), 'c1'));
    });
    const { fleet } = client(url);
    await hintsOf(fleet);
    await expect(hintsOf(fleet)).rejects.toThrow('watch: 503 from the fleet API');
    await hintsOf(fleet);
    expect(heard[2]?.url.searchParams.get('cursor')).toBe('c1');
  });

  test('malformed events between good ones -> skipped and reported, the good ones come', async () => {
    const { url } = await streams(
      [
        'data: {broken\n\n',
        'data: null\n\n',
        'data: {"object":{}}\n\n',
        event('MODIFIED', 'no row', 'c1'),
        event('MODIFIED', row('a'), 'c2'),
        'strange line\nid: 5\nretry: soon\n\n',
        `event: named\n${event('MODIFIED', row('b'), 'c3')}`,
      ].join(''),
    );
    const { fleet, oddities } = client(url);
    expect(seen(await hintsOf(fleet))).toEqual(['modified a pending', 'modified b pending']);
    expect(oddities).toEqual([
      'watch: skipped an event that is unreadable',
      'watch: skipped an event that is unreadable',
      'watch: skipped an event that is unreadable',
      'watch: the row (no session id) is unreadable at the top level',
    ]);
  });

  test('a row that cannot be read but says whose it is -> still a reason to look', async () => {
    const { url } = await streams(
      event('MODIFIED', { ...row('a'), status: null }, 'c1') +
        event('MODIFIED', { ...row('b', { metadata: { outpost_id: 'other' } }), status: null }, 'c2'),
    );
    const { fleet, oddities } = client(url);
    expect(seen(await hintsOf(fleet))).toEqual(['modified a without row']);
    expect(oddities).toHaveLength(2);
  });

  test('rows of another outpost and unknown types -> no hints', async () => {
    const { url } = await streams(
      event('MODIFIED', row('a', { metadata: { outpost_id: 'outpost_env-2' } }), 'c1') +
        event('ADDED', row('b'), 'c2'),
    );
    expect(await hintsOf(client(url).fleet)).toEqual([]);
  });

  test('the connection is cut in mid-event -> what was complete has come, then transient', async () => {
    const { url } = await serve((_heard, response) => {
      stream(response).write(`${event('MODIFIED', row('a'), 'c1')}data: {"type"`);
      setImmediate(() => response.destroy());
    });
    const hints: WatchHint[] = [];
    const error = await thrownBy(
      (async () => {
        for await (const hint of client(url).fleet.watch(never())) hints.push(hint);
      })(),
    );
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toMatch(/^watch: the stream of the fleet API broke off/);
    expect(seen(hints)).toEqual(['modified a pending']);
  });

  test('200 but a web page -> contract error', async () => {
    const { url } = await serve((_heard, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    await expect(hintsOf(client(url).fleet)).rejects.toThrow(ContractError);
  });

  test('an event without end -> contract error, not all of memory', async () => {
    const { url } = await serve((_heard, response) => {
      stream(response).write('data: ');
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    const error = await thrownBy(hintsOf(client(url).fleet));
    expect(error).toBeInstanceOf(ContractError);
    expect((error as Error).message).toBe('watch: an event is longer than 8 MB');
  });
});

describe('a stream cut into arbitrary pieces', () => {
  const text = [
    '\ufeff: keepalive\r\n\r\n',
    event('MODIFIED', row('devin-ä€😀'), 'c1'),
    event('MODIFIED', row('b'), 'c2').replaceAll('\n', '\r\n'),
    ': keepalive\n\n',
    event('DELETED', row('b'), 'c3').replaceAll('\n', '\r'),
    `data: {"type":"MODIFIED",\ndata: "object":${JSON.stringify(row('c'))}}\n\n`,
  ].join('');
  const expected = [
    'modified devin-ä€😀 pending',
    'modified b pending',
    'deleted b pending',
    'modified c pending',
  ];

  const bytes = new TextEncoder().encode(text);

  test('byte by byte -> the same hints', async () => {
    const { fleet } = client('http://127.0.0.1:1', {
      fetch: piecewise(
        'text/event-stream',
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
    });
    expect(seen(await hintsOf(fleet))).toEqual(expected);
  });

  test.each(Array.from({ length: 40 }, (_none, seed) => seed + 1))(
    'pieces of seed %i -> the same hints',
    async (seed) => {
      const random = randomOf(seed);
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + Math.floor(random() * 200);
        chunks.push(bytes.slice(at, end));
        at = end;
      }
      const { fleet } = client('http://127.0.0.1:1', { fetch: piecewise('text/event-stream', chunks) });
      expect(seen(await hintsOf(fleet))).toEqual(expected);
    },
  );
});

describe('the time of a stream', () => {
  const MINUTE = 60_000;

  /** A stream that is held open, and the means to say something on it. */
  async function held() {
    let open: ServerResponse | undefined;
    let closed = false;
    const { url } = await serve((_heard, response) => {
      open = stream(response);
      open.flushHeaders();
      open.on('close', () => {
        closed = true;
      });
    });
    const { clock, advance, slept } = createHandClock();
    const { fleet } = client(url, { clock });
    const hints: WatchHint[] = [];
    let ended = false;
    const watching = (async () => {
      for await (const hint of fleet.watch(never())) hints.push(hint);
      ended = true;
    })();
    // The clock is asked once for the headers, and once for each piece that is waited for.
    await until(() => slept() === 2);
    const write = (text: string) => open?.write(text);
    return { advance, write, slept, hints, watching, ended: () => ended, closed: () => closed };
  }

  test('silent for 60 s -> ended, and the connection is closed', async () => {
    const { advance, watching, closed } = await held();
    advance(MINUTE);
    await watching;
    await until(closed);
  });

  test('something every 59 s -> stays open until five minutes are over, then it is ended', async () => {
    const { advance, write, slept, hints, watching, ended } = await held();
    for (let said = 1; said <= 5; said += 1) {
      advance(59_000);
      const before = slept();
      write(event('MODIFIED', row('a'), `c${said}`));
      await until(() => slept() === before + 1);
      expect([hints.length, ended()]).toEqual([said, false]);
    }
    advance(5_000);
    await watching;
  });

  test('keepalive comments alone -> are no silence', async () => {
    const { advance, write, watching, slept, ended } = await held();
    for (let said = 0; said < 3; said += 1) {
      advance(59_000);
      const before = slept();
      write(': keepalive\n\n');
      await until(() => slept() === before + 1);
      expect(ended()).toBe(false);
    }
    advance(MINUTE);
    await watching;
  });

  test('no headers for 60 s -> transient', async () => {
    const { url, heard } = await serve(() => {});
    const { clock, advance } = createHandClock();
    const error = thrownBy(hintsOf(client(url, { clock }).fleet));
    await until(() => heard.length === 1);
    advance(MINUTE);
    expect(await error).toBeInstanceOf(TransientError);
  });
});

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
