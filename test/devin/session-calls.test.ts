import { describe, expect, test } from 'vitest';
import { ContractError, TransientError } from '../../src/errors.js';
import { createRemoteClock } from '../../src/remote-clock.js';
import {
  claimed,
  client,
  createHandClock,
  json,
  never,
  OUTPOST,
  row,
  serve,
  TOKEN,
  thrownBy,
} from './support.js';

const NOW = Date.UTC(2026, 7, 4, 12);
const MINUTE = 60_000;

/** A server that gives every request the same answer. */
const answering = (status: number, body: unknown, headers = {}) =>
  serve((_heard, response) => json(response, status, body, headers));

describe('reading one session', () => {
  test('it is queued -> its entry', async () => {
    const { url, heard } = await answering(200, row('devin-1', { status: { session_status: 'suspended' } }));
    const entry = await client(url).fleet.read('devin-1', never());
    expect(entry).toMatchObject({ sessionId: 'devin-1', status: 'suspended' });
    expect(heard[0]).toMatchObject({ method: 'GET' });
    expect(heard[0]?.url.pathname).toBe('/opbeta/outposts/devins/devin-1');
  });

  test('404 -> null', async () => {
    const { url } = await answering(404, { detail: 'Session not found in queue' });
    expect(await client(url).fleet.read('devin-1', never())).toBeNull();
  });

  test('it moved to another outpost -> null', async () => {
    const { url } = await answering(200, row('devin-1', { metadata: { outpost_id: 'outpost_env-2' } }));
    expect(await client(url).fleet.read('devin-1', never())).toBeNull();
  });

  test('the answer is of another session -> contract error', async () => {
    const { url } = await answering(200, row('devin-2'));
    await expect(client(url).fleet.read('devin-1', never())).rejects.toThrow(
      'read devin-1: unreadable answer at metadata.session_id (another session)',
    );
  });

  test.each(['a/b', '../outposts', 'a b?c#d', '%2e%2e', 'ä\n', ';x=1'])(
    'the id is %j -> one path segment',
    async (id) => {
      const { url, heard } = await serve(({ url }, response) => {
        const segment = url.pathname.slice('/opbeta/outposts/devins/'.length);
        json(response, 200, row(decodeURIComponent(segment)));
      });
      expect(await client(url).fleet.read(id, never())).toMatchObject({ sessionId: id });
      expect(heard[0]?.url.pathname.split('/')).toHaveLength(5);
      expect(heard[0]?.url.search).toBe('');
    },
  );

  test.each(['', '.', '..', '\ud800'])('no path can carry the id %j -> nothing is sent', async (id) => {
    const { url, heard } = await answering(200, {});
    await expect(client(url).fleet.read(id, never())).rejects.toThrow(ContractError);
    expect(heard).toEqual([]);
  });
});

describe('claiming a session', () => {
  test.each([200, 201])('%i -> entry, grant and deadline', async (status) => {
    const { url, heard } = await answering(
      status,
      claimed('devin-1', 'me', { status: { session_status: 'running' } }),
    );
    const answer = await client(url).fleet.claim('devin-1', 'me', never());
    expect(answer).toMatchObject({
      kind: 'claimed',
      entry: { sessionId: 'devin-1', acceptorId: 'me', phase: 'claimed', status: 'running' },
      claimDeadlineAt: null,
      grant: { gatewayUrl: 'wss://gateway.devin.ai/v1', connectToken: 'ct-secret' },
    });
    expect(heard[0]).toMatchObject({ method: 'POST', body: '{"acceptor_id":"me"}' });
    expect(heard[0]?.url.pathname).toBe('/opbeta/outposts/devins/devin-1/claim');
    expect(heard[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'user-agent': 'devin-outposts-vercel',
    });
  });

  test('the entry that is passed on -> holds no secret', async () => {
    const { url } = await answering(200, claimed('devin-1', 'me'));
    const answer = await client(url).fleet.claim('devin-1', 'me', never());
    expect(answer.kind === 'claimed' && JSON.stringify(answer.entry)).not.toMatch(/ct-secret|gateway/);
  });

  test('409 -> taken', async () => {
    const { url } = await answering(409, { detail: 'held by another acceptor' });
    expect(await client(url).fleet.claim('devin-1', 'me', never())).toEqual({ kind: 'taken' });
  });

  test('404 -> gone', async () => {
    const { url } = await answering(404, { detail: 'Session not found in queue' });
    expect(await client(url).fleet.claim('devin-1', 'me', never())).toEqual({ kind: 'gone' });
  });

  test.each([
    [
      'no connect token',
      claimed('devin-1', 'me', { status: { connect_token: undefined } }),
      'status.connect_token',
    ],
    [
      'an empty connect token',
      claimed('devin-1', 'me', { status: { connect_token: '' } }),
      'status.connect_token',
    ],
    [
      'a connect token with a line break',
      claimed('devin-1', 'me', { status: { connect_token: 'a\nb' } }),
      'status.connect_token',
    ],
    ['no gateway', claimed('devin-1', 'me', { status: { gateway_url: null } }), 'status.gateway_url'],
    [
      'a gateway that is no URL',
      claimed('devin-1', 'me', { status: { gateway_url: 'gateway' } }),
      'status.gateway_url',
    ],
    ['another session', claimed('devin-2', 'me'), 'metadata.session_id (another session)'],
    ['no status', { ...claimed('devin-1', 'me'), status: null }, 'status'],
  ])(
    '200 with %s -> contract error that says the claim may be held, and shows no value',
    async (_name, body, path) => {
      const { url } = await answering(200, body);
      const error = await thrownBy(client(url).fleet.claim('devin-1', 'me', never()));
      expect(error).toBeInstanceOf(ContractError);
      expect((error as Error).message).toBe(
        `claim devin-1: unreadable answer at ${path}; the claim may be held`,
      );
    },
  );

  test('200 with broken JSON around a secret -> contract error without a trace of it', async () => {
    const { url } = await answering(200, '{"status":{"connect_token":"ct-secret"');
    const error = (await thrownBy(client(url).fleet.claim('devin-1', 'me', never()))) as Error;
    expect(error).toBeInstanceOf(ContractError);
    expect(error.message).toBe('claim devin-1: the answer is not JSON; the claim may be held');
    expect(error.cause).toBeUndefined();
  });

  test.each([
    ['acceptor', claimed('devin-1', 'someone-else')],
    ['outpost', claimed('devin-1', 'me', { metadata: { outpost_id: 'outpost_env-2' } })],
  ])('200 with another %s -> contract error', async (_name, body) => {
    const { url } = await answering(200, body);
    await expect(client(url).fleet.claim('devin-1', 'me', never())).rejects.toThrow(
      'claim devin-1: the answer is of another outpost or acceptor; the claim may be held',
    );
  });
});

describe('the deadline of a claim', () => {
  const deadlines = (skew: number): [string, unknown][] => {
    const at = NOW + skew + 5 * MINUTE;
    return [
      ['seconds', at / 1_000],
      ['float seconds', at / 1_000 + 0.0004],
      ['milliseconds', at],
      ['a numeric string', String(at / 1_000)],
      ['ISO-8601', new Date(at).toISOString()],
    ];
  };

  for (const skew of [0, -10 * MINUTE, 10 * MINUTE]) {
    test.each(deadlines(skew))(
      `the remote is ${skew / MINUTE} min off and writes %s -> five minutes from now`,
      async (_name, deadline) => {
        // This server's Date header is not skewed: the row that changed must win over it.
        expect(await seenThenClaimed(skew, deadline)).toBe(NOW + 5 * MINUTE);
      },
    );
  }

  /** The deadline that a client answers which saw the row before it claimed it. */
  async function seenThenClaimed(skew: number, deadline: unknown) {
    const { clock } = createHandClock(NOW);
    const { url } = await serve(({ method }, response) => {
      if (method === 'GET')
        return json(response, 200, { items: [row('devin-1', { metadata: { updated_at: 5 } })] });
      const metadata = { updated_at: (NOW + skew) / 1_000 };
      json(response, 200, claimed('devin-1', 'me', { metadata, status: { claim_deadline: deadline } }));
    });
    const { fleet } = client(url, { clock });
    await fleet.list(never());
    const answer = await fleet.claim('devin-1', 'me', never());
    return answer.kind === 'claimed' ? answer.claimDeadlineAt : answer.kind;
  }

  test('a renewal leaves the row as it was -> its old update teaches nothing', async () => {
    const { clock, advance } = createHandClock(NOW);
    const { url } = await serve((_heard, response) => {
      const metadata = { updated_at: NOW / 1_000 };
      response.removeHeader('date');
      response.sendDate = false;
      json(
        response,
        200,
        claimed('devin-1', 'me', { metadata, status: { claim_deadline: clock.now() + 5 * MINUTE } }),
      );
    });
    const { fleet, remoteClock } = client(url, { clock });
    await fleet.claim('devin-1', 'me', never());
    advance(4 * MINUTE);
    const renewed = await fleet.claim('devin-1', 'me', never());
    expect(renewed).toMatchObject({ claimDeadlineAt: NOW + 9 * MINUTE });
    expect(remoteClock.offsetMs()).toBe(0);
  });

  test('a fresh process renews, and the row was not touched -> the Date header keeps the deadline right', async () => {
    const { clock } = createHandClock(NOW);
    const metadata = { updated_at: (NOW - 9 * MINUTE) / 1_000 };
    const body = claimed('devin-1', 'me', { metadata, status: { claim_deadline: NOW + 5 * MINUTE } });
    const { url } = await answering(200, body, { date: new Date(NOW).toUTCString() });
    const answer = await client(url, { clock }).fleet.claim('devin-1', 'me', never());
    expect(
      answer.kind === 'claimed' && Math.abs((answer.claimDeadlineAt ?? 0) - NOW - 5 * MINUTE),
    ).toBeLessThan(1_000);
  });

  test('the Date header alone tells of ten minutes -> the deadline is right to a second', async () => {
    const { clock } = createHandClock(NOW);
    const body = claimed('devin-1', 'me', {
      metadata: { updated_at: null },
      status: { claim_deadline: NOW + 15 * MINUTE },
    });
    const { url } = await answering(200, body, { date: new Date(NOW + 10 * MINUTE).toUTCString() });
    const answer = await client(url, { clock }).fleet.claim('devin-1', 'me', never());
    expect(
      answer.kind === 'claimed' && Math.abs((answer.claimDeadlineAt ?? 0) - NOW - 5 * MINUTE),
    ).toBeLessThan(1_000);
  });

  test.each(['soon', '', 0, {}, true])(
    'it reads %j -> taken for five minutes and reported',
    async (claim_deadline) => {
      const { clock } = createHandClock(NOW);
      const { url } = await answering(200, claimed('devin-1', 'me', { status: { claim_deadline } }));
      const { fleet, oddities } = client(url, { clock });
      expect(await fleet.claim('devin-1', 'me', never())).toMatchObject({
        claimDeadlineAt: NOW + 5 * MINUTE,
      });
      expect(oddities).toEqual([
        'claim devin-1: unreadable claim_deadline, taken for 300 s after the request',
      ]);
    },
  );

  test('the offset was learnt by another process -> it is used at once', async () => {
    const { clock } = createHandClock(NOW);
    const remoteClock = createRemoteClock(clock, -10 * MINUTE);
    const body = claimed('devin-1', 'me', { status: { claim_deadline: NOW - 5 * MINUTE } });
    const { url } = await answering(200, body, { date: new Date(NOW - 10 * MINUTE).toUTCString() });
    const answer = await client(url, { clock, remoteClock }).fleet.claim('devin-1', 'me', never());
    expect(answer).toMatchObject({ claimDeadlineAt: NOW + 5 * MINUTE });
  });
});

describe('releasing a session', () => {
  test.each([200, 204, 404, 409])('%i -> released', async (status) => {
    const { url, heard } = await answering(status, status === 204 ? '' : { detail: 'x' });
    await expect(client(url).fleet.release('devin-1', 'me', never())).resolves.toBeUndefined();
    expect(heard[0]).toMatchObject({ method: 'POST', body: '{"acceptor_id":"me"}' });
    expect(heard[0]?.url.pathname).toBe('/opbeta/outposts/devins/devin-1/release');
  });

  test('503 -> transient, not released', async () => {
    const { url } = await answering(503, '');
    await expect(client(url).fleet.release('devin-1', 'me', never())).rejects.toThrow(TransientError);
  });
});

test('two requests and a renewed token -> each carries the token of its moment', async () => {
  const { url, heard } = await answering(200, { items: [] });
  const tokens = ['cog_one', 'cog_two'];
  const { fleet } = client(url, { token: async () => tokens.shift() ?? '' });
  await fleet.list(never());
  await fleet.list(never());
  expect(heard.map(({ headers }) => headers.authorization)).toEqual(['Bearer cog_one', 'Bearer cog_two']);
  expect(heard[0]?.url.searchParams.get('outpost')).toBe(OUTPOST);
});
