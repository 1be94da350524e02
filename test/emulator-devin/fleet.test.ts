import { describe, expect, test } from 'vitest';
import { type Page, type Row, START, startCloud } from './rig.js';

const ids = (page: Page) => page.items.map((row) => row.metadata.session_id);

describe('list', () => {
  test('a started session -> one pending row with its spec', async () => {
    const { cloud, fleet } = await startCloud();
    const policy = { enabled: true, allow: [{ hostname: '*.example.com' }] };
    cloud.startSession({ id: 'devin-a', policy, remoteSha: 'abcdef1' });
    expect(await fleet.list()).toMatchObject({
      items: [
        {
          metadata: { session_id: 'devin-a', outpost_id: cloud.outpostId, created_at: START / 1000 },
          spec: { kind: 'new', platform: 'linux', remote_binary_sha: 'abcdef1', network_policy: policy },
          status: { phase: 'pending', acceptor_id: null, claim_deadline: null, session_status: 'pending' },
        },
      ],
      has_next_page: false,
    });
  });

  test('pages -> the border row repeats, the last page has a cursor too, every row is seen', async () => {
    const { cloud, fleet } = await startCloud();
    for (let index = 0; index < 7; index += 1) cloud.startSession({ id: `devin-${index}` });
    const seen: string[][] = [];
    let cursor = '';
    for (let more = true; more; ) {
      const page = await fleet.list(`first=3${cursor && `&cursor=${cursor}`}`);
      seen.push(ids(page));
      cursor = page.cursor ?? '';
      more = page.has_next_page;
    }
    expect(seen).toEqual([
      ['devin-0', 'devin-1', 'devin-2'],
      ['devin-2', 'devin-3', 'devin-4'],
      ['devin-4', 'devin-5', 'devin-6'],
    ]);
    expect(cursor).not.toBe('');
  });

  test('pages of one row -> no repetition, the walk ends', async () => {
    const { cloud, fleet } = await startCloud();
    for (const id of ['a', 'b', 'c']) cloud.startSession({ id });
    const first = await fleet.list('first=1');
    const second = await fleet.list(`first=1&cursor=${first.cursor}`);
    const third = await fleet.list(`first=1&cursor=${second.cursor}`);
    expect([first, second, third].map(ids)).toEqual([['a'], ['b'], ['c']]);
    expect(third.has_next_page).toBe(false);
  });

  test('filters -> only the rows of that outpost, phase, acceptor', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'ours' });
    cloud.startSession({ id: 'taken' });
    cloud.startSession({ id: 'elsewhere', outpostId: 'outpost_env-other' });
    await fleet.claim('taken', 'them');
    expect(ids(await fleet.list(`outpost=${cloud.outpostId}`))).toEqual(['ours', 'taken']);
    expect(ids(await fleet.list('phase=claimed'))).toEqual(['taken']);
    expect(ids(await fleet.list('phase=pending'))).toEqual(['ours', 'elsewhere']);
    expect(ids(await fleet.list('acceptor_id=them'))).toEqual(['taken']);
  });

  test.each(['first=0', 'first=201', 'first=x', 'phase=done'])('%s -> 422', async (query) => {
    const { fleet } = await startCloud();
    expect(await fleet.call('GET', `/devins?${query}`)).toMatchObject({
      status: 422,
      body: { detail: [{}] },
    });
  });

  test('a cursor that is none -> 400', async () => {
    const { fleet } = await startCloud();
    expect((await fleet.call('GET', '/devins?cursor=nonsense')).status).toBe(400);
  });
});

describe('access', () => {
  test('no token, a wrong one, a revoked one -> 401 with a detail', async () => {
    const { cloud, fleet } = await startCloud();
    const revoked = cloud.access.mint(['machine']);
    cloud.access.revoke(revoked);
    for (const token of [null, 'cog_wrong', revoked]) {
      const answer = await fleet.call('GET', '/devins', undefined, token);
      expect(answer).toMatchObject({ status: 401, body: { detail: expect.any(String) } });
    }
  });

  test('a token for machines creates an outpost -> 403; with the wider scope -> 201, and it can be deleted', async () => {
    const { cloud, fleet } = await startCloud();
    const machine = cloud.access.mint(['machine']);
    expect((await fleet.call('POST', '', { name: 'x' }, machine)).status).toBe(403);
    const created = await fleet.call('POST', '/outposts', { name: 'x' });
    expect(created).toMatchObject({ status: 201, body: { spec: { name: 'x' } } });
    const path = `/${created.body.metadata.outpost_id}`;
    expect((await fleet.call('GET', path)).status).toBe(200);
    expect((await fleet.call('DELETE', `/outposts${path}`)).status).toBe(204);
    expect((await fleet.call('GET', path)).status).toBe(404);
  });

  test('a token without the machine scope reads the queue -> 403', async () => {
    const { cloud, fleet } = await startCloud();
    expect((await fleet.call('GET', '/devins', undefined, cloud.access.mint([]))).status).toBe(403);
  });

  test('both paths of the outposts list the depth of the queue', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.startSession({ id: 'b' });
    await fleet.claim('b');
    for (const path of ['', '/outposts']) {
      expect((await fleet.call('GET', path)).body).toMatchObject({
        items: [{ metadata: { outpost_id: cloud.outpostId }, status: { queue_depth: 1, active_claims: 1 } }],
        has_next_page: false,
      });
    }
  });
});

describe('claim', () => {
  test('many acceptors at once -> exactly one holds it', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => fleet.claim('a', `acceptor-${index}`)),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  test('the holder claims again -> a later deadline, a fresh token, and a changed row', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    const first = (await fleet.claim('a')).body as Row;
    expect(first.status).toMatchObject({
      phase: 'claimed',
      acceptor_id: 'us',
      claim_deadline: START / 1000 + 300,
      gateway_url: cloud.gatewayUrl,
    });
    await clock.advance(120_000);
    const again = await fleet.claim('a');
    expect(again.status).toBe(200);
    expect(again.body.status.claim_deadline).toBe(START / 1000 + 420);
    expect(again.body.status.connect_token).not.toBe(first.status.connect_token);
    expect(again.body.metadata.updated_at).toBe(START / 1000 + 120);
    expect((await fleet.read('a')).body.status).not.toHaveProperty('connect_token');
  });

  test.each([{}, { acceptor_id: 7 }, { acceptor_id: '' }, '{"acceptor_id": '])(
    'body %j -> 422',
    async (body) => {
      const { cloud, fleet } = await startCloud();
      cloud.startSession({ id: 'a' });
      expect((await fleet.call('POST', '/devins/a/claim', body)).status).toBe(422);
      expect(cloud.session('a').phase).toBe('pending');
    },
  );

  test('an unknown session -> 404 for read, claim and release', async () => {
    const { fleet } = await startCloud();
    const answers = [await fleet.read('x'), await fleet.claim('x'), await fleet.release('x')];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 404, body: { detail: 'Session not found in queue' } });
    }
  });

  test('a claim that is not renewed lapses when the row is next looked at', async () => {
    const { cloud, clock, fleet } = await startCloud({ giveUpMs: 3_600_000 });
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    await clock.advance(299_000);
    expect((await fleet.claim('a', 'them')).status).toBe(409);
    await clock.advance(1_000);
    expect((await fleet.read('a')).body.status).toMatchObject({ phase: 'pending', acceptor_id: null });
    expect((await fleet.claim('a', 'them')).status).toBe(201);
    expect((await fleet.release('a', 'us')).status).toBe(409);
  });

  test('renewed but never joined by a remote for five minutes -> given up with status error', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    await clock.advance(250_000);
    await fleet.claim('a');
    await clock.advance(49_000);
    expect(cloud.session('a').status).toBe('pending');
    await clock.advance(1_000);
    expect((await fleet.read('a')).body.status).toMatchObject({ phase: 'claimed', session_status: 'error' });
  });

  test('never renewed -> the row goes back to the queue instead, and the session can be served', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    await clock.advance(400_000);
    expect(cloud.session('a')).toMatchObject({ status: 'pending', phase: 'pending' });
    expect((await fleet.claim('a', 'them')).status).toBe(201);
  });
});

describe('a row that is queued as running', () => {
  test('is claimable; its claim does not lapse, but without a remote it is given up', async () => {
    const { cloud, clock, fleet } = await startCloud({ claimTtlMs: 60_000 });
    cloud.startSession({ id: 'a', queuedStatus: 'running' });
    expect((await fleet.read('a')).body.status).toMatchObject({
      phase: 'pending',
      session_status: 'running',
    });
    expect((await fleet.claim('a')).status).toBe(201);
    await clock.advance(120_000);
    expect((await fleet.claim('a', 'them')).status).toBe(409);
    await clock.advance(180_000);
    expect(cloud.session('a').status).toBe('error');
  });
});

describe('release', () => {
  test('of a session that still wants to run -> pending and claimable again', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    const released = await fleet.release('a');
    expect(released).toMatchObject({
      status: 200,
      body: { status: { phase: 'pending', acceptor_id: null } },
    });
    expect((await fleet.claim('a', 'them')).status).toBe(201);
  });

  test('by another acceptor -> 409 and the claim stands', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    expect((await fleet.release('a', 'them')).status).toBe(409);
    expect(cloud.session('a').acceptor).toBe('us');
  });

  test('of a session that was put to sleep -> a leftover row, then none', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 10_000 });
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    cloud.suspend('a');
    await clock.advance(2_000);
    expect((await fleet.release('a')).body.status).toMatchObject({
      phase: 'pending',
      session_status: 'suspended',
    });
    await clock.advance(9_000);
    expect(ids(await fleet.list())).toEqual(['a']);
    await clock.advance(1_000);
    expect(ids(await fleet.list())).toEqual([]);
    expect(cloud.session('a').status).toBe('suspended');
  });

  test('without leftovers -> 204 and the row is gone', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 0 });
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    cloud.end('a');
    await clock.advance(2_000);
    expect((await fleet.release('a')).status).toBe(204);
    expect((await fleet.read('a')).status).toBe(404);
  });

  test('a leftover is claimed -> it succeeds, and the view tells on whoever did it', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.suspend('a');
    await clock.advance(2_000);
    expect((await fleet.claim('a')).status).toBe(201);
    expect(cloud.session('a').claims).toMatchObject([{ acceptorId: 'us', ofEnded: true }]);
  });

  test('a resumed session -> its row is back with kind resume', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 0 });
    cloud.startSession({ id: 'a' });
    cloud.suspend('a');
    await clock.advance(2_000);
    expect(ids(await fleet.list())).toEqual([]);
    cloud.resume('a');
    const [row] = (await fleet.list()).items;
    expect(row).toMatchObject({ spec: { kind: 'resume' }, status: { phase: 'pending' } });
  });

  test('resumed while the old claim is still held -> not ended any more, and claimable once released', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    cloud.suspend('a');
    await clock.advance(2_000);
    cloud.resume('a');
    expect((await fleet.read('a')).body.status).toMatchObject({
      phase: 'claimed',
      session_status: 'pending',
    });
    expect((await fleet.claim('a', 'us-2')).status).toBe(409);
    await fleet.release('a');
    expect((await fleet.claim('a', 'us-2')).status).toBe(201);
    expect(cloud.session('a').claims.every((claim) => !claim.ofEnded)).toBe(true);
  });

  test('resumed before its leftover has gone -> the row stays past that time', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 10_000 });
    cloud.startSession({ id: 'a' });
    cloud.suspend('a');
    await clock.advance(3_000);
    cloud.resume('a');
    await clock.advance(60_000);
    expect(ids(await fleet.list('phase=pending'))).toEqual(['a']);
  });

  test('a sleeping session that left the queue ends -> the queue shows it as terminated for a while', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 10_000 });
    cloud.startSession({ id: 'a' });
    cloud.suspend('a');
    await clock.advance(12_000);
    expect((await fleet.read('a')).status).toBe(404);
    cloud.end('a');
    expect((await fleet.read('a')).body.status.session_status).toBe('terminated');
    await clock.advance(10_000);
    expect((await fleet.read('a')).status).toBe(404);
  });
});

describe('time', () => {
  test.each([
    ['seconds', START / 1000 + 300],
    ['float', START / 1000 + 300],
    ['ms', START + 300_000],
    ['numericString', String(START / 1000 + 300)],
    ['iso', new Date(START + 300_000).toISOString()],
  ] as const)('style %s -> the deadline is written so', async (timestampStyle, written) => {
    const { cloud, fleet } = await startCloud({ timestampStyle });
    cloud.startSession({ id: 'a' });
    expect((await fleet.claim('a')).body.status.claim_deadline).toBe(written);
  });

  test('a cloud whose clock is six minutes ahead -> every instant and the Date header are', async () => {
    const { cloud, fleet } = await startCloud({ skewMs: 360_000 });
    cloud.startSession({ id: 'a' });
    const { headers, body } = await fleet.claim('a');
    expect(Date.parse(headers.get('date') ?? '')).toBe(START + 360_000);
    expect(body.metadata).toMatchObject({
      created_at: START / 1000 + 360,
      updated_at: START / 1000 + 360,
    });
    expect(body.status.claim_deadline).toBe(START / 1000 + 660);
    expect(cloud.session('a').claimDeadlineAt).toBe(START + 300_000);
  });
});
