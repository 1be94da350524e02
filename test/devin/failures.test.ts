import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createFleet } from '../../src/devin/fleet.js';
import { ContractError, RefusedError, TransientError } from '../../src/errors.js';
import type { Fleet } from '../../src/ports/fleet.js';
import { createRemoteClock } from '../../src/remote-clock.js';
import { client, createHandClock, json, never, row, serve, TOKEN, thrownBy, until } from './support.js';

const NOW = Date.UTC(2026, 7, 4, 12);

const operations: [string, (fleet: Fleet, signal: AbortSignal) => Promise<unknown>][] = [
  ['list', (fleet, signal) => fleet.list(signal)],
  ['read devin-1', (fleet, signal) => fleet.read('devin-1', signal)],
  ['claim devin-1', (fleet, signal) => fleet.claim('devin-1', 'me', signal)],
  ['release devin-1', (fleet, signal) => fleet.release('devin-1', 'me', signal)],
  ['watch', (fleet, signal) => fleet.watch(signal)[Symbol.asyncIterator]().next()],
];

const failing = async (status: number, headers = {}) => {
  const { url } = await serve((_heard, response) =>
    json(response, status, { detail: 'secret detail' }, headers),
  );
  return url;
};

describe.each(operations)('%s', (label, act) => {
  test.each([
    [401, 'DEVIN_OUTPOSTS_TOKEN', ['DEVIN_OUTPOSTS_TOKEN was rejected']],
    [403, 'DEVIN_OUTPOSTS_TOKEN', ['DEVIN_API_URL', 'account.outposts.machine']],
    [402, 'DEVIN_OUTPOSTS_TOKEN', ['DEVIN_OUTPOSTS_TOKEN']],
    [422, 'DEVIN_OUTPOST_ID', ['DEVIN_OUTPOST_ID']],
    [301, 'DEVIN_API_URL', ['DEVIN_API_URL', 'redirects']],
  ])('%i -> refused, naming %s', async (status, setting, mentions) => {
    const error = await thrownBy(act(client(await failing(status)).fleet, never()));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ setting });
    const { message } = error as Error;
    expect(message).toMatch(new RegExp(`^${label}: ${status} from the fleet API: `));
    for (const mention of mentions) expect(message).toContain(mention);
    expect(message).not.toMatch(/secret/);
  });

  test.each([400, 408, 418, 429, 500, 502, 503, 504, 599])('%i -> transient', async (status) => {
    const error = await thrownBy(act(client(await failing(status)).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toMatchObject({ message: `${label}: ${status} from the fleet API`, retryAfterMs: null });
  });

  test('429 with Retry-After -> transient, saying when', async () => {
    const url = await failing(429, { 'retry-after': '7' });
    expect(await thrownBy(act(client(url).fleet, never()))).toMatchObject({ retryAfterMs: 7_000 });
  });

  test('nobody listens -> transient, with the code and without the token', async () => {
    const error = await thrownBy(act(client(`http://127.0.0.1:${await unusedPort()}`).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toBe(`${label}: the fleet API cannot be reached (ECONNREFUSED)`);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(TOKEN);
  });

  test('the connection is cut before an answer -> transient', async () => {
    const { url } = await serve((_heard, response) => void response.destroy());
    const error = await thrownBy(act(client(url).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toMatch(`${label}: the fleet API cannot be reached`);
  });

  test('the caller aborts while it waits -> its reason', async () => {
    const { url, heard } = await serve(() => {});
    const caller = new AbortController();
    const work = thrownBy(act(client(url).fleet, caller.signal));
    await until(() => heard.length === 1);
    const reason = new Error('lease lost');
    caller.abort(reason);
    expect(await work).toBe(reason);
  });

  test('the caller has aborted already -> its reason, and nothing is sent', async () => {
    const { url, heard } = await serve(() => {});
    const reason = new Error('lease lost');
    expect(await thrownBy(act(client(url).fleet, AbortSignal.abort(reason)))).toBe(reason);
    expect(heard).toEqual([]);
  });

  test('a redirect elsewhere -> the token does not travel', async () => {
    const elsewhere = await serve((_heard, response) => json(response, 200, {}));
    const { url } = await serve((_heard, response) => json(response, 307, '', { location: elsewhere.url }));
    await expect(act(client(url).fleet, never())).rejects.toThrow(RefusedError);
    expect(elsewhere.heard).toEqual([]);
  });

  test.each(['', 'two words', 'line\nbreak', 'ümlaut'])(
    'the token is %j -> refused without showing it',
    async (token) => {
      const { url, heard } = await serve(() => {});
      const error = await thrownBy(act(client(url, { token: () => token }).fleet, never()));
      expect(error).toBeInstanceOf(RefusedError);
      expect(error).toMatchObject({ setting: 'DEVIN_OUTPOSTS_TOKEN' });
      if (token) expect(String((error as Error).stack)).not.toContain(token);
      expect(heard).toEqual([]);
    },
  );
});

describe.each(operations.filter(([label]) => label !== 'watch'))('%s', (label, act) => {
  test('no answer in time -> transient', async () => {
    const { url } = await serve(() => {});
    const error = await thrownBy(act(client(url, { timeoutMs: 30 }).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toBe(`${label}: no answer from the fleet API within 0.03 s`);
  });

  test('the body never ends -> transient', async () => {
    const { url } = await serve((_heard, response) => void response.writeHead(200).write('{"items":['));
    const error = await thrownBy(act(client(url, { timeoutMs: 100 }).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toContain('no answer from the fleet API within 0.1 s');
  });

  test('the body is cut -> transient', async () => {
    const { url } = await serve((_heard, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"items":[', () => response.destroy());
    });
    const error = await thrownBy(act(client(url).fleet, never()));
    expect(error).toBeInstanceOf(TransientError);
    expect((error as Error).message).toMatch(`${label}: the answer of the fleet API broke off`);
  });

  test('the body is huge -> contract error, and the rest is not read', async () => {
    let closed = false;
    const { url } = await serve((_heard, response) => {
      response.on('close', () => {
        closed = true;
      });
      const more = () => {
        while (response.write(' '.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    const error = await thrownBy(act(client(url).fleet, never()));
    expect(error).toBeInstanceOf(ContractError);
    expect((error as Error).message).toBe(`${label}: the answer is longer than 8 MB`);
    await until(() => closed);
  });
});

describe.each(operations.filter(([label]) => !/watch|release/.test(label)))('%s', (_label, act) => {
  test.each(['', '{', '<html>secret</html>', '[1,]'])(
    '200 with %j -> contract error without the body',
    async (body) => {
      const { url } = await serve((_heard, response) => json(response, 200, body));
      const error = await thrownBy(act(client(url).fleet, never()));
      expect(error).toBeInstanceOf(ContractError);
      expect((error as Error).message).toContain('the answer is not JSON');
      expect((error as Error).message).not.toContain('secret');
      expect((error as Error).cause).toBeUndefined();
    },
  );
});

test.each(['list', 'watch'])('%s: 404 -> refused: never an empty queue', async (operation) => {
  const act = operations.find(([label]) => label === operation)?.[1];
  const error = await thrownBy(act?.(client(await failing(404)).fleet, never()) ?? Promise.resolve());
  expect(error).toBeInstanceOf(RefusedError);
  expect(error).toMatchObject({ setting: 'DEVIN_API_URL' });
});

describe('Retry-After', () => {
  // A machine that is not in UTC: no form of a date may be taken for local time.
  vi.stubEnv('TZ', 'Asia/Tokyo');
  const http = (ms: number) => new Date(ms).toUTCString();
  const rfc850 = (ms: number) => http(ms).replace(/^(\w+), (\d+) (\w+) \d\d(\d\d)/, 'Tuesday, $2-$3-$4');
  test.each([
    ['seconds', { 'retry-after': '120' }, 120_000],
    ['zero seconds', { 'retry-after': '0' }, 0],
    ['fractions of a second', { 'retry-after': '1.5' }, 1_500],
    [
      'a date, by the Date of a remote that is ten minutes ahead',
      { 'retry-after': http(NOW + 630_000), date: http(NOW + 600_000) },
      30_000,
    ],
    [
      'a date, by the Date of a remote that is ten minutes behind',
      { 'retry-after': http(NOW - 570_000), date: http(NOW - 600_000) },
      30_000,
    ],
    ['a date in the older form', { 'retry-after': rfc850(NOW + 30_000), date: http(NOW) }, 30_000],
    [
      'a date in the form without a zone',
      { 'retry-after': 'Tue Aug  4 12:00:30 2026', date: http(NOW) },
      30_000,
    ],
    ['a date that is past', { 'retry-after': http(NOW - 5_000), date: http(NOW) }, 0],
    ['a very long time', { 'retry-after': '999999999' }, 3_600_000],
    ['nonsense', { 'retry-after': 'foo 5' }, null],
    ['a negative number', { 'retry-after': '-5' }, null],
    ['nothing', { 'retry-after': '' }, null],
  ])('%s -> so long', async (_name, headers, expected) => {
    const error = await thrownBy(client(await failing(503, headers)).fleet.list(never()));
    expect(error).toMatchObject({ retryAfterMs: expected });
  });

  test('a date without a Date header -> by what is known of the remote clock', async () => {
    const { clock } = createHandClock(NOW);
    const remoteClock = createRemoteClock(clock, 600_000);
    const { url } = await serve((_heard, response) => {
      response.sendDate = false;
      json(response, 503, '', { 'retry-after': http(NOW + 630_000) });
    });
    const error = await thrownBy(client(url, { clock, remoteClock }).fleet.list(never()));
    expect(error).toMatchObject({ retryAfterMs: 30_000 });
  });
});

describe('the base address', () => {
  const create = (apiUrl: string) => () => client(apiUrl);

  test.each([
    'https://api.devin.ai',
    'https://x.devinenterprise.com/',
    'http://localhost:1',
    'http://[::1]:1',
    'http://127.0.0.2:1',
  ])('%s -> accepted', (apiUrl) => {
    expect(create(apiUrl)).not.toThrow();
  });

  test.each([
    'http://api.devin.ai',
    'http://127.0.0.1.evil.example',
    'https://u:hunter2@api.devin.ai',
    'api.devin.ai',
    'file:///x',
    '',
  ])('%j -> refused, naming the setting and not the value', (apiUrl) => {
    expect(create(apiUrl)).toThrow(RefusedError);
    expect(create(apiUrl)).toThrow(/^DEVIN_API_URL: /);
    expect(create(apiUrl)).not.toThrow(/hunter2/);
  });

  test('it has a path of its own -> the API is below it', async () => {
    const { url, heard } = await serve((_heard, response) => json(response, 200, row('a')));
    await client(`${url}/devin/`).fleet.read('a', never());
    expect(heard[0]?.url.pathname).toBe('/devin/opbeta/outposts/devins/a');
  });
});

test('no reporter is given -> oddities pass silently', async () => {
  const { url } = await serve((_heard, response) => json(response, 200, { items: ['bad'] }));
  const { clock } = createHandClock();
  const fleet = createFleet({
    apiUrl: url,
    token: () => TOKEN,
    outpostId: 'o',
    clock,
    remoteClock: createRemoteClock(clock),
  });
  expect(await fleet.list(never())).toEqual({ entries: [], complete: false });
});

/** A port that nobody listens on. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
