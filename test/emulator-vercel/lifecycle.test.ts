import { Sandbox, Snapshot } from '@vercel/sandbox';
import { expect, test } from 'vitest';
import { ManualClock } from './manual-clock.js';
import { isAlive, refusal, startRig, until, wire } from './rig.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test('created -> running, with what was asked for', async () => {
  const { create, raw } = await startRig();
  const sandbox = await create({
    name: 'asked',
    timeout: 20 * MINUTE_MS,
    resources: { vcpus: 4 },
    runtime: 'node24',
    tags: { app: 'x' },
    ports: [3000],
    keepLastSnapshots: { count: 1 },
    snapshotExpiration: DAY_MS,
    networkPolicy: 'deny-all',
  });
  expect(sandbox).toMatchObject({
    status: 'running',
    vcpus: 4,
    memory: 8192,
    runtime: 'node24',
    persistent: true,
  });
  expect(sandbox.currentSession().sessionId).toMatch(/^sbx_/);
  expect(sandbox.domain(3000)).toContain('vercel.run');
  const answer = await wire(await raw('GET', '/v2/sandboxes/asked'));
  expect(answer.session.networkPolicy).toEqual({ mode: 'deny-all' });
  expect(answer.sandbox).toMatchObject({
    tags: { app: 'x' },
    timeout: 20 * MINUTE_MS,
    keepLastSnapshots: { count: 1 },
    snapshotExpiration: DAY_MS,
    expiresAt: answer.session.startedAt + 20 * MINUTE_MS,
  });
});

test('created without a runtime -> the image of the newer endpoint', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  expect(sandbox.image).toContain('universal');
  expect(sandbox.runtime).toBeUndefined();
});

test('a name that exists -> 400, and the first sandbox goes on', async () => {
  const { cloud, create } = await startRig();
  await create({ name: 'twice' });
  expect(await refusal(create({ name: 'twice' }))).toEqual({ status: 400, code: 'bad_request' });
  expect(cloud.sandboxes().map(({ name, status, vms }) => [name, status, vms.length])).toEqual([
    ['twice', 'running', 1],
  ]);
});

test.each([
  ['a name with a slash', { name: 'a/b' }],
  ['a timeout under a second', { timeout: 999 }],
  ['three vcpus', { resources: { vcpus: 3 } }],
  ['six tags', { tags: { a: '', b: '', c: '', d: '', e: '', f: '' } }],
  ['a long tag', { tags: { a: 'x'.repeat(257) } }],
  ['eleven snapshots to keep', { keepLastSnapshots: { count: 11 } }],
  ['snapshots that expire within a day', { snapshotExpiration: DAY_MS - 1 }],
  ['a privileged port', { ports: [80] }],
  ['more vcpus than the plan has', { resources: { vcpus: 16 } }],
  ['a domain that is none', { networkPolicy: { allow: ['https://example.com'] } }],
  ['a subnet that is none', { networkPolicy: { subnets: { allow: ['10.0.0.0/33'] } } }],
])('create with %s -> 400 and no sandbox', async (_what, params) => {
  const { cloud, create } = await startRig();
  expect(await refusal(create(params))).toEqual({ status: 400, code: 'bad_request' });
  expect(cloud.sandboxes()).toEqual([]);
});

test('a timeout over the plan -> 400 sandbox_timeout_invalid', async () => {
  const { create } = await startRig({ plan: { maxLifetimeMs: 45 * MINUTE_MS } });
  expect(await refusal(create({ timeout: 46 * MINUTE_MS }))).toEqual({
    status: 400,
    code: 'sandbox_timeout_invalid',
  });
});

test('as many run as the plan allows -> one more is 429, until one stops', async () => {
  const { create, raw } = await startRig({ plan: { maxConcurrent: 1 } });
  const first = await create();
  const more = () => raw('POST', '/v3/sandboxes', { projectId: 'prj_emulated', name: 'more' });
  expect((await more()).status).toBe(429);
  await first.stop();
  expect((await more()).status).toBe(200);
  expect((await raw('GET', `/v2/sandboxes/${first.name}?resume=true`)).status).toBe(429);
});

test('stopped and resumed -> a new vm with the old files, pid and lock files and /tmp included, no processes', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create();
  await sandbox.runCommand('sh', [
    '-c',
    'mkdir -p repos/a && echo work > repos/a/f && ln -s f repos/a/link && echo t > $TMPDIR/t && (sleep 300 & echo $! > remote.pid)',
  ]);
  const pid = Number(await sandbox.readFileToBuffer({ path: 'remote.pid' }));
  expect(isAlive(pid)).toBe(true);
  const before = sandbox.currentSession().sessionId;
  const stopped = await sandbox.stop();
  expect(stopped.status).toBe('stopped');
  expect(stopped.snapshot?.sourceSessionId).toBe(before);
  await until(() => !isAlive(pid));

  const again = await get(sandbox.name, true);
  expect(again.status).toBe('running');
  expect(again.currentSession().sessionId).not.toBe(before);
  expect(again.sourceSnapshotId).toBe(stopped.snapshot?.id);
  expect(again.cwd).toBe(sandbox.cwd);
  const seen = await again.runCommand('sh', ['-c', 'cat repos/a/link remote.pid $TMPDIR/t']);
  expect(await seen.stdout()).toBe(`work\n${pid}\nt\n`);
  expect(view(sandbox.name).vms.map(({ status }) => status)).toEqual(['stopped', 'running']);
  expect(view(sandbox.name).vms[1]?.processes).toEqual([]);
  expect(view(sandbox.name).overlapped).toBe(false);
});

test('a look at a stopped sandbox -> does not boot it', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create();
  await sandbox.stop();
  const seen = await get(sandbox.name);
  expect(seen.status).toBe('stopped');
  expect(seen.expiresAt).toBeUndefined();
  expect(view(sandbox.name).vms).toHaveLength(1);
});

test('work on a stopped vm -> 410, and the sdk boots the next one to repeat it', async () => {
  const { create, raw, view } = await startRig();
  const sandbox = await create();
  const vmId = sandbox.currentSession().sessionId;
  const command = await sandbox.runCommand('true');
  await sandbox.stop();
  for (const [method, path] of [
    ['POST', 'cmd'],
    ['GET', `cmd/${command.cmdId}`],
    ['POST', 'extend-timeout'],
    ['POST', 'network-policy'],
    ['POST', 'fs/read'],
  ] as const) {
    const answer = await raw(
      method,
      `/v2/sandboxes/sessions/${vmId}/${path}`,
      method === 'POST' ? {} : undefined,
    );
    expect([path, answer.status, (await wire(answer)).error.code]).toEqual([path, 410, 'sandbox_stopped']);
  }
  expect((await sandbox.runCommand('true')).exitCode).toBe(0);
  expect(view(sandbox.name).vms).toHaveLength(2);
  expect(await refusal(sandbox.getCommand(command.cmdId))).toEqual({ status: 404, code: 'not_found' });
});

test('the vm stops under a waiting command -> 410 for the wait, an error line in the stream', async () => {
  const { create } = await startRig();
  const sandbox = await create();
  const detached = await sandbox.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
  const wait = refusal(detached.wait());
  const stream = sandbox.runCommand('sh', ['-c', 'touch started; sleep 300']).then(
    () => 'finished',
    (error) => error.code,
  );
  await until(() => sandbox.readFileToBuffer({ path: 'started' }));
  await sandbox.stop();
  expect(await wait).toEqual({ status: 410, code: 'sandbox_stopped' });
  expect(await stream).toBe('sandbox_stopped');
});

test('stop asked twice, at once and later -> one snapshot, the same answer', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create();
  const other = await get(sandbox.name);
  const [a, b] = await Promise.all([sandbox.stop(), other.stop()]);
  const c = await other.stop();
  expect(a.snapshot?.id).toBeDefined();
  expect([b.snapshot?.id, c.snapshot?.id]).toEqual([a.snapshot?.id, a.snapshot?.id]);
  expect(view(sandbox.name).snapshots).toHaveLength(1);
});

test('a stop and an image that take time -> stopping, then snapshotting, work is 422, a resume waits for the end', async () => {
  const clock = new ManualClock();
  const { create, get, raw, view } = await startRig({ clock, stopMs: 1000, snapshotMs: 2000 });
  const sandbox = await create();
  const vmId = sandbox.currentSession().sessionId;
  const work = async () =>
    (await wire(await raw('POST', `/v2/sandboxes/sessions/${vmId}/cmd`, {}))).error.code;
  const stop = sandbox.stop();
  await until(() => clock.waiting === 1 && view(sandbox.name).status === 'stopping');
  expect(await work()).toBe('sandbox_stopping');
  clock.advance(1000);
  await until(() => clock.waiting === 1 && view(sandbox.name).status === 'snapshotting');
  expect(await work()).toBe('sandbox_snapshotting');
  const resume = get(sandbox.name, true);
  clock.advance(2000);
  expect((await stop).status).toBe('stopped');
  expect((await resume).status).toBe('running');
  expect(view(sandbox.name)).toMatchObject({
    overlapped: false,
    vms: [{ status: 'stopped' }, { status: 'running' }],
  });
});

test('a boot that takes time -> pending meanwhile, and the timeout counts from its end', async () => {
  const clock = new ManualClock();
  const { create, get, view } = await startRig({ clock, bootMs: 5000 });
  const creating = create({ name: 'slow', timeout: MINUTE_MS });
  await until(() => clock.waiting === 1);
  const seen = await get('slow');
  expect(seen.status).toBe('pending');
  clock.advance(5000);
  expect((await creating).status).toBe('running');
  expect(view('slow').expiresAt).toBe(clock.now() + MINUTE_MS);
});

test('resumed by ten at once -> one vm', async () => {
  const { create, get, view } = await startRig();
  const sandbox = await create();
  await sandbox.stop();
  const all = await Promise.all(Array.from({ length: 10 }, () => get(sandbox.name, true)));
  expect(new Set(all.map((each) => each.currentSession().sessionId)).size).toBe(1);
  expect(view(sandbox.name).vms).toHaveLength(2);
});

test('its time is over -> the vm stops by itself with an image, its processes die', async () => {
  const clock = new ManualClock();
  const { create, get, pids, view } = await startRig({ clock });
  const sandbox = await create({ timeout: MINUTE_MS });
  await sandbox.runCommand('sh', ['-c', 'echo kept > f; setsid sleep 300 &']);
  const [pid = 0] = pids(sandbox.name);
  clock.advance(MINUTE_MS - 1);
  expect((await get(sandbox.name)).status).toBe('running');
  clock.advance(1);
  await until(() => view(sandbox.name).status === 'stopped');
  await until(() => !isAlive(pid));
  expect(view(sandbox.name)).toMatchObject({ billedMs: MINUTE_MS, expiresAt: null });
  expect(String(await (await get(sandbox.name, true)).readFileToBuffer({ path: 'f' }))).toBe('kept\n');
});

test('extended -> lives that much longer; over the plan -> 400 and nothing changes', async () => {
  const clock = new ManualClock();
  const { create, view } = await startRig({ clock, plan: { maxLifetimeMs: 5 * MINUTE_MS } });
  const sandbox = await create({ timeout: MINUTE_MS });
  const start = clock.now();
  await sandbox.extendTimeout(2 * MINUTE_MS);
  expect(sandbox.expiresAt?.getTime()).toBe(start + 3 * MINUTE_MS);
  expect(await refusal(sandbox.extendTimeout(3 * MINUTE_MS))).toEqual({
    status: 400,
    code: 'sandbox_timeout_invalid',
  });
  expect(view(sandbox.name).expiresAt).toBe(start + 3 * MINUTE_MS);
  clock.advance(2 * MINUTE_MS);
  expect(view(sandbox.name).status).toBe('running');
  clock.advance(MINUTE_MS);
  await until(() => view(sandbox.name).status === 'stopped');
});

test('a clock that is off -> every instant and the Date header are off alike, the views are not', async () => {
  const clock = new ManualClock();
  const skewMs = -10 * MINUTE_MS;
  const { create, raw, view } = await startRig({ clock, skewMs });
  const sandbox = await create({ name: 'skewed' });
  expect(sandbox.createdAt.getTime()).toBe(clock.now() + skewMs);
  expect(sandbox.expiresAt?.getTime()).toBe(clock.now() + skewMs + 300_000);
  const answer = await raw('GET', '/v2/sandboxes/skewed');
  expect(Date.parse(answer.headers.get('date') ?? '')).toBe(clock.now() + skewMs);
  expect(view('skewed').expiresAt).toBe(clock.now() + 300_000);
});

test('only the newest snapshots are kept', async () => {
  const { create, get, view, via } = await startRig();
  const sandbox = await create({ keepLastSnapshots: { count: 1 } });
  const first = (await sandbox.stop()).snapshot?.id ?? '';
  const second = (await (await get(sandbox.name, true)).stop()).snapshot?.id ?? '';
  expect(view(sandbox.name).snapshots.map(({ id }) => id)).toEqual([second]);
  expect(await refusal(Snapshot.get({ ...via, snapshotId: first }))).toEqual({
    status: 404,
    code: 'not_found',
  });
});

test('a snapshot expires unless it is used -> then a resume is 410, and getOrCreate starts afresh', async () => {
  const clock = new ManualClock();
  const { create, get, via, view } = await startRig({ clock });
  const sandbox = await create({ name: 'old', snapshotExpiration: DAY_MS, timeout: MINUTE_MS });
  await sandbox.stop();
  clock.advance(DAY_MS - 1);
  await (await get('old', true)).stop();
  clock.advance(DAY_MS);
  expect(await refusal(get('old', true))).toEqual({ status: 410, code: 'snapshot_not_found' });
  expect(view('old')).toMatchObject({ status: 'stopped', snapshots: [], vms: [{}, {}] });
  const fresh = await Sandbox.getOrCreate({ ...via, name: 'old', resume: true });
  expect(fresh.status).toBe('running');
  expect(fresh.sourceSnapshotId).toBeUndefined();
});

test('snapshot asked for -> stops the vm; another sandbox can start from it', async () => {
  const { create, view } = await startRig();
  const sandbox = await create();
  await sandbox.writeFiles([{ path: 'f', content: 'seed' }]);
  const image = await sandbox.snapshot({ expiration: 0 });
  expect(image.expiresAt).toBeUndefined();
  expect(view(sandbox.name).status).toBe('stopped');
  const copy = await create({ source: { type: 'snapshot', snapshotId: image.snapshotId } });
  expect(String(await copy.readFileToBuffer({ path: 'f' }))).toBe('seed');
});

test('not persistent -> stops without a snapshot, and boots with an empty disk', async () => {
  const { create, get } = await startRig();
  const sandbox = await create({ persistent: false });
  await sandbox.writeFiles([{ path: 'f', content: 'x' }]);
  expect((await sandbox.stop()).snapshot).toBeUndefined();
  expect(await (await get(sandbox.name, true)).readFileToBuffer({ path: 'f' })).toBeNull();
});

test('the vm dies -> aborted without a snapshot, and a resume goes back to the last one', async () => {
  const { cloud, create, get, pids, view } = await startRig();
  const sandbox = await create();
  await sandbox.writeFiles([{ path: 'f', content: 'saved' }]);
  await sandbox.stop();
  const second = await get(sandbox.name, true);
  await second.writeFiles([{ path: 'f', content: 'lost' }]);
  await second.runCommand('sh', ['-c', 'sleep 300 &']);
  const [pid = 0] = pids(sandbox.name);
  await cloud.kill(sandbox.name);
  expect(isAlive(pid)).toBe(false);
  expect((await get(sandbox.name)).status).toBe('aborted');
  const third = await get(sandbox.name, true);
  expect(String(await third.readFileToBuffer({ path: 'f' }))).toBe('saved');
  await cloud.kill(sandbox.name, 'failed');
  expect(view(sandbox.name)).toMatchObject({
    status: 'failed',
    overlapped: false,
    vms: [{}, {}, { status: 'failed' }],
  });
});

test('a vm that dies while it is stopped -> no snapshot of it, the next boot works', async () => {
  const clock = new ManualClock();
  const { cloud, create, get, view } = await startRig({ clock, snapshotMs: 1000 });
  const sandbox = await create();
  const stop = sandbox.stop();
  await until(() => clock.waiting === 1 && view(sandbox.name).status === 'snapshotting');
  const kill = cloud.kill(sandbox.name);
  clock.advance(1000);
  await kill;
  expect((await stop).status).toBe('aborted');
  expect(view(sandbox.name).snapshots).toEqual([]);
  expect((await get(sandbox.name, true)).status).toBe('running');
});

test('a broken snapshot -> stopped without one, the older stays current', async () => {
  const { cloud, create, get, view } = await startRig();
  const sandbox = await create({ keepLastSnapshots: { count: 1 } });
  const first = (await sandbox.stop()).snapshot?.id;
  const second = await get(sandbox.name, true);
  cloud.breakSnapshot(sandbox.name);
  const stopped = await second.stop();
  expect(stopped).toMatchObject({ status: 'stopped' });
  expect(stopped.snapshot).toBeUndefined();
  expect(view(sandbox.name)).toMatchObject({ currentSnapshotId: first, snapshots: [{ id: first }] });
});

test('deleted -> gone with its processes; images only when asked', async () => {
  const { cloud, create, get, pids, via } = await startRig();
  const sandbox = await create({ name: 'gone' });
  const image = (await sandbox.stop()).snapshot?.id ?? '';
  const again = await get('gone', true);
  await again.runCommand('sh', ['-c', 'sleep 300 &']);
  const [pid = 0] = pids('gone');
  await again.delete();
  expect(isAlive(pid)).toBe(false);
  expect(await refusal(get('gone'))).toEqual({ status: 404, code: 'not_found' });
  expect((await Snapshot.get({ ...via, snapshotId: image })).status).toBe('created');
  expect(cloud.removed()).toMatchObject([{ name: 'gone', vms: [{}, {}] }]);

  const next = await create({ name: 'gone' });
  await next.stop();
  await next.delete({ deleteOrphanSnapshots: true });
  expect(await refusal(Snapshot.get({ ...via, snapshotId: image }))).toMatchObject({ status: 404 });
});
