import { describe, expect, test } from 'vitest';
import { startCloud } from './rig.js';

describe('faults', () => {
  test('a status, twice, for one session -> that session only, then it works', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.startSession({ id: 'b' });
    const fault = cloud.faults.add({
      on: 'claim',
      session: 'a',
      times: 2,
      kind: { status: 429, retryAfter: '7' },
    });
    expect((await fleet.claim('b')).status).toBe(201);
    const first = await fleet.claim('a');
    expect(first).toMatchObject({ status: 429, body: { detail: expect.any(String) } });
    expect(first.headers.get('retry-after')).toBe('7');
    expect((await fleet.claim('a')).status).toBe(429);
    expect(fault.hits()).toBe(2);
    expect((await fleet.claim('a')).status).toBe(201);
    expect(cloud.calls.count('claim')).toBe(4);
    expect(cloud.calls.count('claim', 'a')).toBe(3);
  });

  test('skip -> the first calls pass', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.faults.add({ on: 'list', skip: 1, kind: { status: 503 } });
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await fleet.call('GET', '/devins')).status);
    expect(statuses).toEqual([200, 503, 200]);
  });

  test('drop -> the call fails and nothing happened; loseAnswer -> it fails and did happen', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.faults.add({ on: 'claim', kind: 'drop' });
    await expect(fleet.claim('a')).rejects.toThrow();
    expect(cloud.session('a').phase).toBe('pending');
    cloud.faults.add({ on: 'claim', kind: 'loseAnswer' });
    await expect(fleet.claim('a')).rejects.toThrow();
    expect(cloud.session('a')).toMatchObject({ phase: 'claimed', acceptor: 'us' });
  });

  test('garbage -> 200 that is no JSON', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.faults.add({ on: 'list', kind: 'garbage' });
    await expect(fleet.list()).rejects.toThrow(SyntaxError);
  });

  test('hang -> no answer until the caller gives up', async () => {
    const { cloud } = await startCloud();
    cloud.faults.add({ on: 'list', kind: 'hang' });
    const abort = new AbortController();
    const call = fetch(`${cloud.url}/opbeta/outposts/devins`, { signal: abort.signal });
    const outcome = call.then(
      () => 'answered',
      () => 'gave up',
    );
    while (cloud.calls.count('list') === 0) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    expect(await outcome).toBe('gave up');
  });

  test('delay -> answers when the time has passed', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.faults.add({ on: 'read', kind: { delayMs: 5_000 } });
    cloud.startSession({ id: 'a' });
    let answered = false;
    const call = fleet.read('a').then((answer) => {
      answered = true;
      return answer.status;
    });
    while (cloud.calls.count('read') === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(4_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect(await call).toBe(200);
  });

  test('shapes of a list: a row twice, a row missing once, a wedged cursor, strangers', async () => {
    const { cloud, fleet } = await startCloud();
    for (const id of ['a', 'b', 'c']) cloud.startSession({ id });
    const ids = async (query = '') => (await fleet.list(query)).items.map((row) => row.metadata.session_id);

    cloud.faults.add({ on: 'list', session: 'b', kind: 'duplicateRow' });
    expect(await ids()).toEqual(['a', 'b', 'c', 'b']);
    cloud.faults.add({ on: 'list', session: 'b', kind: 'missingRow' });
    expect(await ids()).toEqual(['a', 'c']);
    expect(await ids()).toEqual(['a', 'b', 'c']);

    const { cursor } = await fleet.list('first=2');
    cloud.faults.add({ on: 'list', kind: 'wedgedCursor' });
    expect(await fleet.list(`cursor=${cursor}`)).toMatchObject({ cursor, has_next_page: true });

    cloud.faults.add({ on: 'list', session: 'c', kind: 'strangers' });
    const row = (await fleet.list()).items.find(({ metadata }) => metadata.session_id === 'c');
    expect(row).toMatchObject({
      spec: { kind: 'kind-of-tomorrow' },
      status: { session_status: 'status-of-tomorrow' },
    });
    expect(row?.metadata).toHaveProperty('brand_new_field');
  });

  test('a flicker for two reads -> two false ones, other sessions and later reads are true', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.startSession({ id: 'b' });
    cloud.faults.add({ on: 'read', session: 'a', times: 2, kind: { flicker: 'suspended' } });
    const status = async (id: string) => (await fleet.read(id)).body.status.session_status;
    expect(await status('b')).toBe('pending');
    expect([await status('a'), await status('a'), await status('a')]).toEqual([
      'suspended',
      'suspended',
      'pending',
    ]);
  });

  test('until removed -> strikes every time; cleared -> never', async () => {
    const { cloud, fleet } = await startCloud();
    const fault = cloud.faults.add({ on: 'any', times: null, kind: { status: 500 } });
    expect((await fleet.read('a')).status).toBe(500);
    expect((await fleet.release('a')).status).toBe(500);
    fault.remove();
    expect((await fleet.read('a')).status).toBe(404);
    cloud.faults.add({ on: 'any', times: null, kind: { status: 500 } });
    cloud.faults.clear();
    expect((await fleet.read('a')).status).toBe(404);
  });

  test('a fault that is none -> refused', async () => {
    const { cloud } = await startCloud();
    expect(() => cloud.faults.add({ on: 'claim', kind: { status: 200 } })).toThrow();
  });
});

describe('the world by HTTP', () => {
  const ask = async (url: string, token: string | null, method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/_world${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === null ? {} : { 'x-world-token': token }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are asserted, not trusted
    return { status: answer.status, body: (await answer.json()) as any };
  };

  test('without the token, with the fleet token, with a wrong one -> 401 and nothing happens', async () => {
    const { cloud } = await startCloud();
    for (const token of [null, cloud.token, 'wrong']) {
      expect((await ask(cloud.url, token, 'POST', '/sessions', {})).status).toBe(401);
    }
    expect(cloud.sessions()).toEqual([]);
  });

  test('sessions, faults and counts can be worked from outside', async () => {
    const { cloud, clock, fleet } = await startCloud();
    const world = (method: string, path: string, body?: unknown) =>
      ask(cloud.url, cloud.worldToken, method, path, body);
    expect(await world('POST', '/sessions', { id: 'a', script: [{ run: 'true' }] })).toMatchObject({
      status: 201,
      body: { id: 'a', status: 'pending', steps: 1 },
    });
    expect((await world('POST', '/sessions', { id: 'a' })).status).toBe(409);
    expect((await world('POST', '/sessions', { script: [{ fly: true }] })).status).toBe(422);
    expect((await world('GET', '/sessions/x')).status).toBe(404);
    expect((await world('POST', '/sessions/a/resume')).status).toBe(409);
    expect((await world('POST', '/sessions/a/suspend')).status).toBe(200);
    await clock.advance(2_000);
    expect((await world('GET', '/sessions')).body).toMatchObject([{ id: 'a', status: 'suspended' }]);
    expect((await world('POST', '/sessions/a/resume')).body.status).toBe('pending');
    expect((await world('POST', '/sessions/a/say', { command: 'true' })).status).toBe(409);
    expect((await world('POST', '/sessions/a/end')).body.wish).toBe('end');

    expect((await world('POST', '/faults', { on: 'read', kind: { status: 503 } })).status).toBe(201);
    expect((await world('GET', '/faults')).body).toMatchObject([{ on: 'read', hits: 0 }]);
    expect((await fleet.read('a')).status).toBe(503);
    expect((await world('DELETE', '/faults')).status).toBe(200);
    expect((await world('GET', '/calls')).body).toEqual({ read: 1, 'read a': 1 });
  });
});
