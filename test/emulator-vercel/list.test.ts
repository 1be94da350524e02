import { Sandbox } from '@vercel/sandbox';
import { expect, test } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { refusal, startRig } from './rig.js';

test('more sandboxes than a page holds -> twenty at a time, the newest first, each once', async () => {
  const clock = new ManualClock();
  const { create, via } = await startRig({ clock });
  const names = Array.from({ length: 23 }, (_, index) => `box-${String(index).padStart(2, '0')}`);
  for (const name of names) {
    clock.advance(1);
    await create({ name });
  }
  const first = await Sandbox.list(via);
  expect(first.pagination).toMatchObject({ count: 20, next: expect.any(String) });
  const all = await first.toArray();
  expect(all.map(({ name }) => name)).toEqual([...names].reverse());
});

test('rows move between pages -> none is shown twice', async () => {
  const clock = new ManualClock();
  const { create, via } = await startRig({ clock });
  const boxes = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    clock.advance(1);
    boxes.push(await create({ name }));
  }
  const page = await Sandbox.list({ ...via, sortBy: 'statusUpdatedAt', limit: 2 });
  const seen = page.sandboxes.map(({ name }) => name);
  clock.advance(1);
  await boxes[0]?.stop();
  const next = await Sandbox.list({
    ...via,
    sortBy: 'statusUpdatedAt',
    limit: 2,
    cursor: page.pagination.next ?? '',
  });
  expect([...seen, ...next.sandboxes.map(({ name }) => name)]).toEqual(['d', 'c', 'b']);
});

test('sorted by the last change of status -> what stopped last comes first', async () => {
  const clock = new ManualClock();
  const { create, via } = await startRig({ clock });
  const a = await create({ name: 'a' });
  clock.advance(1);
  await create({ name: 'b' });
  clock.advance(1);
  await a.stop();
  const names = async (params: Parameters<typeof Sandbox.list>[0]) =>
    (await (await Sandbox.list({ ...via, ...params })).toArray()).map(({ name }) => name);
  expect(await names({ sortBy: 'statusUpdatedAt' })).toEqual(['a', 'b']);
  expect(await names({ sortBy: 'statusUpdatedAt', sortOrder: 'asc' })).toEqual(['b', 'a']);
  expect(await names({ sortBy: 'name', sortOrder: 'asc' })).toEqual(['a', 'b']);
  expect(await names({})).toEqual(['b', 'a']);
});

test('filtered by prefix and by tag -> only those, with status and tags', async () => {
  const { create, via } = await startRig();
  await create({ name: 'ours-1', tags: { installation: 'x:y', kind: 'a' } });
  await (await create({ name: 'ours-2', tags: { installation: 'x:y' } })).stop();
  await create({ name: 'other', tags: { installation: 'z' } });
  const tagged = await Sandbox.list({
    ...via,
    tags: { installation: 'x:y' },
    sortBy: 'name',
    sortOrder: 'asc',
  });
  expect(tagged.sandboxes).toMatchObject([
    { name: 'ours-1', status: 'running', tags: { kind: 'a' }, expiresAt: expect.any(Number) },
    { name: 'ours-2', status: 'stopped', currentSnapshotId: expect.stringMatching(/^snap_/) },
  ]);
  expect(tagged.sandboxes[1]).not.toHaveProperty('expiresAt');
  const prefixed = await Sandbox.list({ ...via, namePrefix: 'oth', sortBy: 'name' });
  expect(prefixed.sandboxes.map(({ name }) => name)).toEqual(['other']);
});

test('two tags, a strange cursor, a limit of zero -> 400', async () => {
  const { raw, via } = await startRig();
  expect((await raw('GET', '/v2/sandboxes?tags=a:b&tags=c:d')).status).toBe(400);
  expect((await raw('GET', '/v2/sandboxes?cursor=nonsense')).status).toBe(400);
  expect(await refusal(Sandbox.list({ ...via, limit: 0 }))).toMatchObject({ status: 400 });
});

test('sessions and snapshots of one sandbox -> listed, newest first', async () => {
  const clock = new ManualClock();
  const { create, get } = await startRig({ clock });
  await create({ name: 'other' });
  const sandbox = await create({ name: 'this' });
  const first = sandbox.currentSession().sessionId;
  const image = (await sandbox.stop()).snapshot?.id;
  clock.advance(1);
  const second = (await get('this', true)).currentSession().sessionId;
  expect((await sandbox.listSessions()).sessions.map(({ id, status }) => [id, status])).toEqual([
    [second, 'running'],
    [first, 'stopped'],
  ]);
  expect((await sandbox.listSnapshots()).snapshots.map(({ id }) => id)).toEqual([image]);
});

test('updated -> tags are replaced, the rest stays; size and policy wait for the next vm', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create({ name: 'box', tags: { a: '1', b: '2' }, keepLastSnapshots: { count: 2 } });
  await sandbox.update({ tags: { c: '3' }, resources: { vcpus: 4 }, keepLastSnapshots: null });
  expect(sandbox).toMatchObject({
    tags: { c: '3' },
    vcpus: 4,
    keepLastSnapshots: undefined,
    timeout: 300_000,
  });
  expect(sandbox.currentSession().vcpus).toBe(2);
  await sandbox.stop();
  expect((await get('box', true)).currentSession().vcpus).toBe(4);
  expect(view('box').tags).toEqual({ c: '3' });
});

test('a longer timeout by update -> the running vm is extended too', async () => {
  const clock = new ManualClock();
  const { create, view } = await startRig({ clock });
  const sandbox = await create({ name: 'box', timeout: 60_000 });
  await sandbox.update({ timeout: 90_000 });
  expect(view('box').expiresAt).toBe(clock.now() + 90_000);
});

test('a policy for the vm -> in force at once, until the next vm takes the sandbox’s own', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create({ name: 'box', networkPolicy: 'deny-all' });
  await sandbox.currentSession().update({
    networkPolicy: {
      allow: ['*.example.com', 'example.org'],
      subnets: { allow: ['10.0.0.0/8'], deny: ['fd00::/8'] },
    },
  });
  expect(view('box').vms[0]?.policy).toEqual({
    mode: 'custom',
    allowedDomains: ['*.example.com', 'example.org'],
    allowedCIDRs: ['10.0.0.0/8'],
    deniedCIDRs: ['fd00::/8'],
  });
  expect(view('box').policy).toEqual({ mode: 'deny-all' });
  await sandbox.stop();
  expect((await get('box', true)).currentSession().networkPolicy).toBe('deny-all');
  await sandbox.update({ networkPolicy: { allow: [] } });
  expect(view('box').policy).toEqual({ mode: 'custom', allowedDomains: [] });
});

test('a policy with secrets in its rules -> only the names of the headers are told', async () => {
  const { create, raw } = await startRig();
  await create({
    name: 'box',
    networkPolicy: {
      allow: {
        'api.example.com': [{ transform: [{ headers: { authorization: 'Bearer sesame' } }] }],
        'proxied.example.com': [{ forwardURL: 'https://proxy.example.com/' }],
      },
    },
  });
  const text = await (await raw('GET', '/v2/sandboxes/box')).text();
  expect(text).not.toContain('sesame');
  expect(JSON.parse(text).session.networkPolicy).toEqual({
    mode: 'custom',
    allowedDomains: ['api.example.com', 'proxied.example.com'],
    injectionRules: [{ domain: 'api.example.com', headerNames: ['authorization'] }],
    forwardRules: [{ domain: 'proxied.example.com', forwardURL: 'https://proxy.example.com/' }],
  });
});

test('a nonsense policy -> 400, and the old one stays in force', async () => {
  const { create, raw, view } = await startRig();
  const sandbox = await create({ name: 'box', networkPolicy: 'deny-all' });
  const { sessionId } = sandbox.currentSession();
  for (const body of [
    { mode: 'maybe' },
    { allow: 'example.com' },
    { subnets: { allow: ['ten'] } },
    { other: 1 },
  ]) {
    const answer = await raw('POST', `/v2/sandboxes/sessions/${sessionId}/network-policy`, body);
    expect([body, answer.status]).toEqual([body, 400]);
  }
  expect(view('box').vms[0]?.policy).toEqual({ mode: 'deny-all' });
});
