import { Sandbox } from '@vercel/sandbox';
import { expect, test } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { refusal, startRig, until, wire } from './rig.js';

test('no token, another token, another team or project -> 401 and 403', async () => {
  const { cloud, via } = await startRig();
  expect((await fetch(`${cloud.url}/v2/sandboxes`)).status).toBe(401);
  for (const wrong of [{ token: 'x' }, { teamId: 'x' }, { projectId: 'x' }]) {
    expect(await refusal(Sandbox.list({ ...via, ...wrong }))).toEqual({ status: 403, code: 'forbidden' });
  }
});

test('an endpoint that is not emulated, a body that is no JSON -> 404, 400', async () => {
  const { cloud, raw } = await startRig();
  expect((await raw('POST', '/v2/sandboxes/box/fork', {})).status).toBe(404);
  const url = `${cloud.url}/v3/sandboxes?teamId=${cloud.teamId}`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${cloud.token}` },
    body: '{',
  });
  expect([answer.status, (await wire(answer)).error.code]).toEqual([400, 'bad_request']);
});

test('an error for a named operation -> that answer, as often as asked, then as usual', async () => {
  const { cloud, create, raw } = await startRig();
  await create({ name: 'box' });
  cloud.faults.add({
    operation: 'get',
    times: 2,
    kind: { status: 429, code: 'rate_limited', message: 'slow down', retryAfter: 30 },
  });
  for (let turn = 0; turn < 2; turn++) {
    const answer = await raw('GET', '/v2/sandboxes/box');
    expect([answer.status, answer.headers.get('retry-after'), (await wire(answer)).error]).toEqual([
      429,
      '30',
      { code: 'rate_limited', message: 'slow down' },
    ]);
  }
  expect((await raw('GET', '/v2/sandboxes/box')).status).toBe(200);
  expect(cloud.faults.list()).toEqual([]);
});

test('an error for one sandbox -> spares the others', async () => {
  const { cloud, create, raw } = await startRig();
  await create({ name: 'a' });
  await create({ name: 'b' });
  cloud.faults.add({ operation: 'any', sandbox: 'b', kind: { status: 403 } });
  expect((await raw('GET', '/v2/sandboxes/a')).status).toBe(200);
  expect((await raw('GET', '/v2/sandboxes/b')).status).toBe(403);
  expect((await raw('GET', '/v2/sandboxes/b')).status).toBe(200);
});

test('a create is dropped -> not handled; its answer is lost -> handled', async () => {
  const { cloud, raw } = await startRig();
  const post = (name: string) => raw('POST', '/v3/sandboxes', { projectId: 'prj_emulated', name });
  cloud.faults.add({ operation: 'create', kind: 'drop' }, { operation: 'create', kind: 'loseAnswer' });
  await expect(post('dropped')).rejects.toThrow();
  await expect(post('lost')).rejects.toThrow();
  expect(cloud.sandboxes().map(({ name }) => name)).toEqual(['lost']);
});

test('the answer to a create is lost -> the sdk tries again and is told that the name exists', async () => {
  const { cloud, create } = await startRig();
  cloud.faults.add({ operation: 'create', kind: 'loseAnswer' });
  expect(await refusal(create({ name: 'box' }))).toEqual({ status: 400, code: 'bad_request' });
  expect(cloud.calls.count({ operation: 'create', sandbox: 'box' })).toBe(2);
  expect(cloud.sandboxes()).toMatchObject([{ name: 'box', status: 'running' }]);
});

test('the answer to a detached command is lost -> the sdk starts it a second time', async () => {
  const { cloud, create, view } = await startRig();
  const sandbox = await create();
  cloud.faults.add({ operation: 'runCommand', kind: 'loseAnswer' });
  await sandbox.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
  expect(view(sandbox.name).vms[0]?.commands).toHaveLength(2);
});

test('garbage -> handled, and an answer that the sdk cannot read', async () => {
  const { cloud, create, view } = await startRig();
  const sandbox = await create();
  cloud.faults.add({ operation: 'stop', kind: 'garbage' });
  await expect(sandbox.stop()).rejects.toThrow(/JSON/);
  expect(view(sandbox.name).status).toBe('stopped');
});

test('a stream is cut -> the client sees it end early, the command goes on', async () => {
  const { cloud, create, view } = await startRig();
  const sandbox = await create();
  cloud.faults.add({ operation: 'runCommand', kind: 'cut' });
  const script = 'echo some output; until [ -e go ]; do sleep 0.01; done; echo done > done';
  await expect(sandbox.runCommand('sh', ['-c', script])).rejects.toThrow();
  expect(view(sandbox.name).vms[0]?.commands).toMatchObject([{ name: 'sh', exitCode: null }]);
  await sandbox.writeFiles([{ path: 'go', content: '' }]);
  await until(() => view(sandbox.name).vms[0]?.commands[0]?.exitCode === 0);
});

test('an answer in one piece is cut -> the client gets no answer, the call was handled', async () => {
  const { cloud, create, raw } = await startRig();
  await create({ name: 'box' });
  cloud.faults.add({ operation: 'update', kind: 'cut' });
  const answer = await raw('PATCH', '/v2/sandboxes/box', { tags: { a: 'b' } });
  await expect(answer.text()).rejects.toThrow();
  expect(cloud.sandboxes()[0]?.tags).toEqual({ a: 'b' });
});

test('a call hangs -> no answer until the client gives up, and it is not handled', async () => {
  const { cloud, create, view } = await startRig();
  const sandbox = await create();
  cloud.faults.add({ operation: 'stop', kind: 'hang' });
  const patience = new AbortController();
  const stop = sandbox.stop({ signal: patience.signal });
  await until(() => cloud.calls.count({ operation: 'stop' }) === 1);
  patience.abort();
  await expect(stop).rejects.toThrow();
  expect(view(sandbox.name).status).toBe('running');
});

test('a delay -> handled after that much of the clock', async () => {
  const clock = new ManualClock();
  const { cloud, create, get } = await startRig({ clock });
  await create({ name: 'box', timeout: 600_000 });
  cloud.faults.add({ operation: 'get', kind: { delayMs: 10_000 } });
  const waiting = clock.waiting;
  const got = get('box');
  await until(() => clock.waiting === waiting + 1);
  clock.advance(10_000);
  expect((await got).status).toBe('running');
});

test('a wait for a command breaks off -> the command goes on and can be waited for again', async () => {
  const { cloud, create } = await startRig();
  const sandbox = await create();
  const command = await sandbox.runCommand({
    cmd: 'sh',
    args: ['-c', 'until [ -e go ]; do sleep 0.01; done; exit 4'],
    detached: true,
  });
  cloud.faults.add({ operation: 'commandWait', kind: 'drop' });
  const waiting = command.wait();
  await until(() => cloud.calls.count({ operation: 'commandWait' }) === 2);
  await sandbox.writeFiles([{ path: 'go', content: '' }]);
  expect((await waiting).exitCode).toBe(4);
});

test('calls -> counted by operation and by sandbox, refused ones too', async () => {
  const { cloud, create, get } = await startRig();
  const sandbox = await create({ name: 'box' });
  await create({ name: 'other' });
  await sandbox.runCommand('true');
  await (await sandbox.runCommand({ cmd: 'true', detached: true })).wait();
  await refusal(get('absent'));
  expect(cloud.calls.byOperation()).toEqual({ create: 2, runCommand: 2, commandWait: 1, get: 1 });
  expect(cloud.calls.byOperation('box')).toEqual({ create: 1, runCommand: 2, commandWait: 1 });
  expect(cloud.calls.count({ sandbox: 'absent' })).toBe(1);
  cloud.calls.reset();
  expect(cloud.calls.count()).toBe(0);
});

test('the switches over http -> views, calls, faults and a death, for whoever has the token', async () => {
  const { cloud, create, raw } = await startRig({ worldToken: 'sesame' });
  await create({ name: 'box' });
  const world = (method: string, path: string, body?: unknown) =>
    raw(method, `/_vercel/${path}`, body, { 'x-world-token': 'sesame' });
  expect(await (await world('GET', 'sandboxes')).json()).toMatchObject({
    sandboxes: [{ name: 'box', status: 'running' }],
  });
  expect(await (await world('GET', 'calls')).json()).toMatchObject({ byOperation: { create: 1 } });
  const added = await world('POST', 'faults', [
    { operation: 'get', kind: { status: 500 } },
    { operation: 'any', kind: 'drop' },
  ]);
  expect(await added.json()).toEqual({
    faults: [
      { operation: 'get', times: 1, kind: { status: 500 } },
      { operation: 'any', times: 1, kind: 'drop' },
    ],
  });
  expect((await world('POST', 'faults', { operation: 'sing', kind: 'drop' })).status).toBe(400);
  expect((await world('DELETE', 'faults')).status).toBe(200);
  expect((await world('POST', 'sandboxes/box/break-snapshot')).status).toBe(200);
  expect((await world('POST', 'sandboxes/box/kill', { as: 'failed' })).status).toBe(200);
  expect((await world('POST', 'sandboxes/box/expire-snapshot')).status).toBe(200);
  expect((await world('POST', 'sandboxes/absent/kill')).status).toBe(404);
  expect(cloud.faults.list()).toEqual([]);
  expect(cloud.sandboxes()[0]?.status).toBe('failed');
});

test('the switches without the token -> 403; in a cloud without one -> 404', async () => {
  const open = await startRig({ worldToken: 'sesame' });
  const closed = await startRig();
  expect((await open.raw('GET', '/_vercel/sandboxes')).status).toBe(403);
  expect((await closed.raw('GET', '/_vercel/sandboxes', undefined, { 'x-world-token': '' })).status).toBe(
    404,
  );
});
