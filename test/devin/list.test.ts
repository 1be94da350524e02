import { describe, expect, test } from 'vitest';
import { ContractError } from '../../src/errors.js';
import type { QueueEntry } from '../../src/ports/fleet.js';
import { client, type Handler, json, never, OUTPOST, piecewise, row, serve, thrownBy } from './support.js';

/** Answers the given pages one after the other. */
function pages(...bodies: unknown[]): Handler {
  let next = 0;
  return (_heard, response) => json(response, 200, bodies[next++]);
}

const ids = (entries: readonly QueueEntry[]) => entries.map((entry) => entry.sessionId);

async function listOf(...items: unknown[]) {
  const { url } = await serve(pages({ items, cursor: null }));
  const { fleet, oddities } = client(url);
  return { ...(await fleet.list(never())), oddities };
}

describe('listing the queue', () => {
  test('three pages -> asks for this outpost page by page, and is complete', async () => {
    const { url, heard } = await serve(
      pages(
        { items: [row('a')], cursor: 'c1', has_next_page: true },
        { items: [row('b')], cursor: 'c2', has_next_page: true, total: 3 },
        { items: [row('c')], cursor: 'c3', has_next_page: false },
      ),
    );
    const { fleet } = client(url, { pageSize: 50 });
    const { entries, complete } = await fleet.list(never());
    expect([ids(entries), complete]).toEqual([['a', 'b', 'c'], true]);
    const common = { outpost: OUTPOST, first: '50' };
    expect(heard.map(({ url }) => Object.fromEntries(url.searchParams))).toEqual([
      common,
      { ...common, cursor: 'c1' },
      { ...common, cursor: 'c2' },
    ]);
    expect(heard[0]?.url.pathname).toBe('/opbeta/outposts/devins');
  });

  test('has_next_page is absent although a cursor is there -> that was the last page', async () => {
    const { url, heard } = await serve(pages({ items: [row('a')], cursor: 'c1' }));
    expect(await client(url).fleet.list(never())).toMatchObject({ complete: true });
    expect(heard).toHaveLength(1);
  });

  test('an empty queue -> no entries, complete', async () => {
    expect(await listOf()).toMatchObject({ entries: [], complete: true, oddities: [] });
  });

  test('a row repeats at a page border -> one entry, as it was last, in the order of the queue', async () => {
    const later = row('b', { status: { session_status: 'running' } });
    const { url } = await serve(
      pages(
        { items: [row('a'), row('b'), row('c')], cursor: 'c1', has_next_page: true },
        { items: [later, row('d')], cursor: 'c2' },
      ),
    );
    const { entries, complete } = await client(url).fleet.list(never());
    expect([ids(entries), complete]).toEqual([['a', 'c', 'b', 'd'], true]);
    expect(entries[2]?.status).toBe('running');
  });

  test('the cursor stands still -> stops, keeps what it saw, is incomplete', async () => {
    const wedged = { items: [row('a')], cursor: 'c1', has_next_page: true };
    const { url, heard } = await serve(pages(wedged, wedged, wedged));
    const { fleet, oddities } = client(url);
    const { entries, complete } = await fleet.list(never());
    expect([ids(entries), complete, heard.length]).toEqual([['a'], false, 2]);
    expect(oddities).toEqual(['list: stopped at page 2: its cursor was used before']);
  });

  test('cursors go round in a circle -> stops, incomplete', async () => {
    const page = (cursor: string) => ({ items: [], cursor, has_next_page: true });
    const { url, heard } = await serve(pages(page('c1'), page('c2'), page('c1'), page('c2')));
    expect(await client(url).fleet.list(never())).toMatchObject({ complete: false });
    expect(heard).toHaveLength(3);
  });

  test.each([null, '', undefined])(
    'another page is promised with the cursor %j -> incomplete',
    async (cursor) => {
      const { url } = await serve(pages({ items: [row('a')], cursor, has_next_page: true }));
      expect(await client(url).fleet.list(never())).toMatchObject({ complete: false });
    },
  );

  test('pages without end -> stops at the cap, incomplete', async () => {
    let page = 0;
    const { url, heard } = await serve((_heard, response) => {
      page += 1;
      json(response, 200, { items: [row(`s${page}`)], cursor: `c${page}`, has_next_page: true });
    });
    const { fleet, oddities } = client(url, { maxPages: 4 });
    const { entries, complete } = await fleet.list(never());
    expect([entries.length, complete, heard.length]).toEqual([4, false, 4]);
    expect(oddities).toEqual(['list: stopped at the cap of 4 pages']);
  });

  test('a page in the middle fails -> the whole walk does', async () => {
    let page = 0;
    const { url } = await serve((_heard, response) => {
      page += 1;
      if (page === 2) return json(response, 503, '');
      json(response, 200, { items: [row('a')], cursor: `c${page}`, has_next_page: true });
    });
    await expect(client(url).fleet.list(never())).rejects.toThrow('list: 503 from the fleet API');
  });

  test.each([
    ['no items', { cursor: null }, 'items'],
    ['items of another type', { items: {} }, 'items'],
    ['a cursor of another type', { items: [], cursor: 5 }, 'cursor'],
    ['a promise of another type', { items: [], has_next_page: 'yes' }, 'has_next_page'],
    ['a list at the top', [], 'the top level'],
    ['null', 'null', 'the top level'],
  ])('the answer has %s -> contract error at the path, never an empty queue', async (_name, body, path) => {
    const { url } = await serve(pages(body));
    const error = await thrownBy(client(url).fleet.list(never()));
    expect(error).toBeInstanceOf(ContractError);
    expect((error as Error).message).toBe(`list: unreadable answer at ${path}`);
  });
});

describe('rows of the queue', () => {
  test('everything said -> everything passed on', async () => {
    const allow = [{ hostname: '*.example.com' }, { ipv4: '10.0.0.0/8' }, { ipv6: '2001:db8::1' }];
    const { entries } = await listOf(
      row('devin-1', {
        spec: {
          kind: 'resume',
          platform: 'windows',
          remote_binary_sha: 'abc1234',
          network_policy: { enabled: true, allow },
        },
        status: {
          phase: 'claimed',
          acceptor_id: 'me',
          claim_deadline: 1_786_000_000,
          session_status: 'running',
        },
      }),
    );
    expect(entries).toEqual([
      {
        sessionId: 'devin-1',
        outpostId: OUTPOST,
        kind: 'resume',
        platform: 'windows',
        remoteSha: 'abc1234',
        policy: { enabled: true, hosts: ['*.example.com'], subnets: ['10.0.0.0/8', '2001:db8::1'] },
        phase: 'claimed',
        acceptorId: 'me',
        hasClaimDeadline: true,
        status: 'running',
      },
    ]);
  });

  test('the least that a row may say -> linux, latest remote, no restriction, nothing known', async () => {
    const { entries, complete } = await listOf({
      metadata: { session_id: 's', outpost_id: OUTPOST },
      spec: {},
      status: {},
    });
    expect(complete).toBe(true);
    expect(entries).toEqual([
      {
        sessionId: 's',
        outpostId: OUTPOST,
        kind: 'unknown',
        platform: 'linux',
        remoteSha: null,
        policy: { enabled: false },
        phase: 'unknown',
        acceptorId: null,
        hasClaimDeadline: false,
        status: null,
      },
    ]);
  });

  test.each(['dreaming', 'TERMINATED', 7, {}])(
    'unknown enum values such as %j -> unknown, never an end',
    async (value) => {
      const { entries, complete } = await listOf(
        row('s', { spec: { kind: value }, status: { phase: value, session_status: value } }),
      );
      expect(complete).toBe(true);
      expect(entries[0]).toMatchObject({ kind: 'unknown', phase: 'unknown', status: 'unknown' });
    },
  );

  test('unknown fields everywhere -> ignored', async () => {
    const plain = row('s');
    const strange = {
      ...plain,
      extra: 1,
      metadata: { ...plain.metadata, labels: [] },
      spec: { ...plain.spec, x: null },
      status: { ...plain.status, y: {} },
    };
    const { entries } = await listOf(strange);
    expect(entries).toEqual((await listOf(plain)).entries);
  });

  test.each([
    ['no session id', { metadata: { outpost_id: OUTPOST }, spec: {}, status: {} }, 'metadata.session_id'],
    ['an empty session id', row(''), 'metadata.session_id'],
    ['a session id that no path can carry', row('..'), 'metadata.session_id'],
    ['no outpost', row('s', { metadata: { outpost_id: null } }), 'metadata.outpost_id'],
    ['no status', { ...row('s'), status: undefined }, 'status'],
    [
      'a policy without a verdict',
      row('s', { spec: { network_policy: { allow: [] } } }),
      'spec.network_policy.enabled',
    ],
    [
      'an allow list that is none',
      row('s', { spec: { network_policy: { enabled: true, allow: '*' } } }),
      'spec.network_policy.allow',
    ],
    ['an acceptor of another type', row('s', { status: { acceptor_id: 5 } }), 'status.acceptor_id'],
    ['no shape at all', 'row', 'the top level'],
  ])(
    'one row has %s -> skipped, reported with its path, and absence no longer counts',
    async (_name, bad, path) => {
      const { entries, complete, oddities } = await listOf(row('a'), bad, row('b'));
      expect([ids(entries), complete]).toEqual([['a', 'b'], false]);
      expect(oddities).toHaveLength(1);
      expect(oddities[0]).toMatch(/^list: skipped the row /);
      expect(oddities[0]).toContain(`unreadable at ${path}`);
    },
  );

  test('a row of another outpost -> dropped and reported; the walk stays complete', async () => {
    const { entries, complete, oddities } = await listOf(
      row('a'),
      row('b', { metadata: { outpost_id: 'outpost_env-2' } }),
    );
    expect([ids(entries), complete]).toEqual([['a'], true]);
    expect(oddities).toEqual(['list: dropped the row b: it belongs to the outpost outpost_env-2']);
  });

  test('the policy is enabled and allows nothing -> stays a restriction', async () => {
    const { entries } = await listOf(row('s', { spec: { network_policy: { enabled: true, allow: null } } }));
    expect(entries[0]?.policy).toEqual({ enabled: true, hosts: [], subnets: [] });
  });

  test('the policy is disabled but has a list -> no restriction', async () => {
    const { entries } = await listOf(
      row('s', { spec: { network_policy: { enabled: false, allow: [{ hostname: 'a' }] } } }),
    );
    expect(entries[0]?.policy).toEqual({ enabled: false });
  });

  test('allow items with nulls and of unknown kinds -> the known ones stay, the others are reported', async () => {
    const allow = [{ hostname: 'a.dev', ipv4: null, ipv6: null }, { asn: 7 }, 'b.dev', null, { hostname: 5 }];
    const { entries, complete, oddities } = await listOf(
      row('s', { spec: { network_policy: { enabled: true, allow } } }),
    );
    expect(entries[0]?.policy).toEqual({ enabled: true, hosts: ['a.dev'], subnets: [] });
    expect(complete).toBe(true);
    expect(oddities).toEqual(['list: the row s: left out 4 unreadable item(s) of its network policy']);
  });

  test('a deadline of any spelling, even an unreadable one -> the claim may lapse', async () => {
    const { entries } = await listOf(
      ...[1_786_000_000, '1786000000', '2026-08-04T12:00:00Z', 'soon', null].map((claim_deadline, index) =>
        row(`s${index}`, { status: { claim_deadline } }),
      ),
    );
    expect(entries.map((entry) => entry.hasClaimDeadline)).toEqual([true, true, true, true, false]);
  });

  test('an empty SHA and an empty acceptor -> none', async () => {
    const { entries } = await listOf(
      row('s', { spec: { remote_binary_sha: '' }, status: { acceptor_id: '' } }),
    );
    expect(entries[0]).toMatchObject({ remoteSha: null, acceptorId: null });
  });

  test('a SHA that is no hex -> passed on, for whoever launches to refuse', async () => {
    const { entries } = await listOf(row('s', { spec: { remote_binary_sha: '$(id)' } }));
    expect(entries[0]?.remoteSha).toBe('$(id)');
  });

  test('a page cut inside a character -> read as written', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ items: [row('ä€😀')] }));
    const fetch = piecewise(
      'application/json',
      [...bytes].map((byte) => Uint8Array.of(byte)),
    );
    const { entries } = await client('http://127.0.0.1:1', { fetch }).fleet.list(never());
    expect(ids(entries)).toEqual(['ä€😀']);
  });

  test('a hostile session id in a report -> cannot forge a line', async () => {
    const { oddities } = await listOf({ ...row(`x\n${'y'.repeat(500)}`), status: null });
    expect(oddities[0]).toMatch(/^list: skipped the row x\?y+…: unreadable at status$/);
  });
});
