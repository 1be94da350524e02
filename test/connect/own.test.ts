/** A deployment that connects itself, against the emulated Devin. */
import { expect, test } from 'vitest';
import { assemble } from '../../src/parts.js';
import type { Connector } from '../../src/ports/connector.js';
import { until } from '../e2e/support.js';
import { openWorld, type World } from './support.js';

async function begin(connector: Connector) {
  const begun = await connector.begin();
  if (begun.kind !== 'begun') throw new Error('busy');
  return begun;
}

/** Looks until nothing is being worked on any more, as the page does. */
const settled = (connector: Connector, attemptId: string) =>
  until('the attempt is over', async () => {
    const view = await connector.look(attemptId);
    return view.kind === 'working' ? null : view;
  });

async function connect(world: World, connector: Connector) {
  const { attemptId, redirectTo } = await begin(connector);
  const code = (await world.confirm(redirectTo, 'connect', `outpost ${attemptId}`)).get('code') ?? '';
  await connector.returned(attemptId, code);
  return { attemptId, code, redirectTo, view: await settled(connector, attemptId) };
}

test('begun, confirmed, returned -> connected, with the outpost and the token that Devin gave', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  expect(await connector.own()).toMatchObject({ source: 'none', state: 'idle' });
  expect(await base.account.current()).toBeNull();
  const { view } = await connect(world, connector);
  expect(view).toMatchObject({ kind: 'connected', problem: null });
  const account = await base.account.current();
  expect(account).toMatchObject({ source: 'browser', outpostId: view.outpost?.id, apiUrl: world.devin.url });
  const answer = await fetch(`${world.devin.url}/opbeta/outposts/devins?outpost=${account?.outpostId}`, {
    headers: { authorization: `Bearer ${account?.token}` },
  });
  expect(answer.status).toBe(200);
  expect(await connector.own()).toMatchObject({ source: 'browser', outpostId: account?.outpostId });
});

test('what Devin is asked -> an S256 challenge, our callback, the suggested name, and nothing secret', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { redirectTo } = await begin(connector);
  const query = Object.fromEntries(new URL(redirectTo).searchParams);
  expect(query).toEqual({
    callback_url: 'https://outposts.example.com/connect/callback',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    outpost_name: 'vercel-sandbox',
    platform: 'linux',
  });
});

test('no secret of a connection -> in any row, journal, log line or byte of the database', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { code } = await connect(world, connector);
  const token = (await base.account.current())?.token ?? '';
  expect(token).toMatch(/^cog_/);
  const kept = [
    ...world.raw(),
    world.lines.join('\n'),
    JSON.stringify(await base.store.journal({ after: 0, limit: 1_000 })),
    JSON.stringify(await base.store.list({ limit: 1_000 })),
  ].join('\n');
  for (const secret of [code, token, 'canary-of-the-root-secret']) expect(kept).not.toContain(secret);
  expect(kept).toContain('code.returned');
});

test('over -> no secret of the attempt is left', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { attemptId } = await connect(world, connector);
  for (const what of ['verifier', 'code', 'granted'])
    expect(await base.store.sealed(`attempt/${attemptId}/${what}`, 0), what).toBeNull();
});

test('the callback is replayed, also with another code -> nothing changes', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { attemptId, code } = await connect(world, connector);
  const before = await base.account.current();
  await connector.returned(attemptId, code);
  await connector.returned(attemptId, 'a-code-of-somebody-else');
  base.account.forget();
  expect(await base.account.current()).toEqual(before);
  expect(world.devin.calls.count('exchange')).toBe(1);
  expect((await connector.look(attemptId)).kind).toBe('connected');
});

test('two callbacks at once, in two processes -> one exchange', async () => {
  const world = await openWorld();
  const [one, two] = [await world.process(), await world.process()];
  const { attemptId, redirectTo } = await begin(one.connector);
  const code = (await world.confirm(redirectTo)).get('code') ?? '';
  await Promise.all([one.connector.returned(attemptId, code), two.connector.returned(attemptId, code)]);
  expect((await settled(two.connector, attemptId)).kind).toBe('connected');
  expect(world.devin.calls.count('exchange')).toBe(1);
});

test('a second tab begins -> the first is superseded, and its code is of no use any more', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const first = await begin(connector);
  const second = await begin(connector);
  const code = (await world.confirm(first.redirectTo, 'connect', 'one')).get('code') ?? '';
  await connector.returned(first.attemptId, code);
  expect((await connector.look(first.attemptId)).kind).toBe('superseded');
  await connector.returned(
    second.attemptId,
    (await world.confirm(second.redirectTo, 'connect', 'two')).get('code') ?? '',
  );
  expect((await settled(connector, second.attemptId)).kind).toBe('connected');
});

test("a code of another attempt -> refused by Devin's challenge, and nothing is connected", async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const stranger = await begin(connector);
  const code = (await world.confirm(stranger.redirectTo)).get('code') ?? '';
  const { attemptId } = await begin(connector);
  await connector.returned(attemptId, code);
  expect(await settled(connector, attemptId)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('did not accept the code'),
  });
  expect(await base.account.current()).toBeNull();
});

test('declined at Devin -> refused with what it takes; connecting again works', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, redirectTo } = await begin(connector);
  const error = (await world.confirm(redirectTo, 'cancel')).get('error') ?? '';
  await connector.denied(attemptId, error);
  expect(await connector.look(attemptId)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('administrator'),
  });
  expect((await connect(world, connector)).view.kind).toBe('connected');
});

test('nobody comes back within ten minutes -> expired, and a code that comes then is of no use', async () => {
  const world = await openWorld({ speed: 500 });
  const { base, connector } = await world.process();
  const { attemptId, redirectTo } = await begin(connector);
  const code = (await world.confirm(redirectTo)).get('code') ?? '';
  const view = await until('it has expired', async () => {
    const seen = await connector.look(attemptId);
    return seen.kind === 'expired' ? seen : null;
  });
  expect(view.problem).toContain('start again');
  await connector.returned(attemptId, code);
  expect((await connector.look(attemptId)).kind).toBe('expired');
  expect(world.devin.calls.count('exchange')).toBe(0);
  expect(await base.store.sealed(`attempt/${attemptId}/verifier`, 0)).toBeNull();
});

test.each([
  ['503', { status: 503 }],
  ['no answer', 'drop'],
  ['half of a JSON', 'garbage'],
] as const)('the exchange is answered %s once -> tried again, and connected', async (_, kind) => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.faults.add({ on: 'exchange', kind });
  expect((await connect(world, connector)).view.kind).toBe('connected');
  expect(world.devin.calls.count('exchange')).toBe(2);
});

test('the answer to the exchange is lost -> refused, saying that the code may have been used by it', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.faults.add({ on: 'exchange', kind: 'loseAnswer' });
  expect((await connect(world, connector)).view).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('whose answer was lost'),
  });
});

test('the exchange never works -> failed after some tries, with the reason, and not for another try', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.faults.add({ on: 'exchange', kind: { status: 500 }, times: null });
  expect((await connect(world, connector)).view).toMatchObject({
    kind: 'failed',
    retryable: false,
    problem: expect.stringContaining('500'),
  });
});

test.each([
  ['under the name that older servers use', { outpost_id: undefined, outpost_pool_id: 'pool_1' }, 'pool_1'],
  ['with more fields than are known', { another: { field: 1 } }, null],
  ['without what is not needed', { account_id: undefined, outpost_name: undefined }, null],
])('the outpost comes %s -> taken', async (_, answer, outpostId) => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  world.devin.connect.answer = answer;
  const { attemptId } = await begin(connector).then(async (begun) => {
    const code = (await world.confirm(begun.redirectTo)).get('code') ?? '';
    await connector.returned(begun.attemptId, code);
    return begun;
  });
  const view = await settled(connector, attemptId);
  // The emulated API serves the outposts that it made: a name of our own is tried there in vain.
  if (outpostId !== null) expect(view.kind).toBe('refused');
  else expect(view).toMatchObject({ kind: 'connected' });
  const rows = await base.store.journal({ after: 0, limit: 100, actorId: 'connection:own' });
  expect(rows.some(({ event }) => event.includes(outpostId ?? 'outpost_env-'))).toBe(true);
});

test.each([
  ['no token', { access_token: undefined }],
  ['a token of another kind', { access_token: 'hunter2' }],
  ['no outpost', { outpost_id: undefined }],
  ['no address', { api_base_url: undefined }],
  ['an outpost with odd characters', { outpost_id: '../x' }],
])('the answer has %s -> failed, naming the field and no value', async (_, answer) => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.connect.answer = answer;
  const { view } = await connect(world, connector);
  expect(view.kind).not.toBe('connected');
  expect(view.problem).not.toContain('hunter2');
});

test.each([
  'https://api.devin.ai.evil.example',
  'https://evil.example/api.devin.ai',
  'http://api.devin.ai',
  'https://user:pw@api.devin.ai',
  'https://127.0.0.1:1',
  'javascript:alert(1)',
  'nonsense',
])('the answer names %s as its API -> refused, and the token goes nowhere', async (api_base_url) => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  world.devin.connect.answer = { api_base_url };
  const { view } = await connect(world, connector);
  expect(view).toMatchObject({ kind: 'refused', problem: expect.stringContaining('DEVIN_API_HOSTS') });
  expect(world.devin.calls.count('list')).toBe(0);
  expect(await base.account.current()).toBeNull();
});

test('a host that was trusted is not any more -> the token is not sent there', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  await connect(world, connector);
  Object.assign(world.settings, { DEVIN_API_HOSTS: 'other.example' });
  const { base } = await world.process();
  await expect(base.account.current()).rejects.toMatchObject({ setting: 'DEVIN_API_HOSTS' });
});

test("Devin's server is the newer one -> the exchange is found under the fleet's path", async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.connect.exchangePath = '/opbeta/outposts/connection-token';
  expect((await connect(world, connector)).view.kind).toBe('connected');
});

test('connected again, to another outpost, while nothing is served -> the new one is served', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  await connect(world, connector);
  const { view } = await connect(world, connector);
  expect(view.kind).toBe('connected');
  expect((await base.account.current())?.outpostId).toBe(view.outpost?.id);
});

test('another outpost while a session is served -> refused in words, and the connection before stays', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  await connect(world, connector);
  const before = await base.account.current();
  await base.store.settleSetting(
    'bound-to',
    JSON.stringify([new URL(before?.apiUrl ?? '').host, before?.outpostId, 'prj_1']),
  );
  await base.store.enroll(
    'devin-1',
    { machine: 'session', version: 1, snapshot: '{}', state: 'serving', episode: 1, holdsSlot: true },
    null,
    0,
  );
  const { view } = await connect(world, connector);
  expect(view).toMatchObject({ kind: 'refused', problem: expect.stringContaining('1 sessions') });
  base.account.forget();
  expect(await base.account.current()).toEqual(before);
  expect(await connector.own()).toMatchObject({
    source: 'browser',
    outpostId: before?.outpostId,
    sessions: 1,
  });
});

test('the record was replaced, and an attempt is open -> Disconnect ends it too', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  await connect(world, connector);
  await world.sql("update actors set version = 99 where id = 'connection:own'");
  const late = await begin(connector);
  const code = (await world.confirm(late.redirectTo)).get('code') ?? '';
  await connector.disconnect();
  await connector.returned(late.attemptId, code);
  expect((await connector.look(late.attemptId)).kind).toBe('superseded');
  expect(await base.account.current()).toBeNull();
});

test.each([
  ['set aside', (id: string) => `update actors set quarantine = 'broken' where id = '${id}'`],
  ['of a newer version', (id: string) => `update actors set version = 99 where id = '${id}'`],
  ['lost', (id: string) => `delete from actors where id = '${id}'`],
])(
  'the record is %s -> the page says what is connected, and Disconnect forgets the token',
  async (_, sql) => {
    const world = await openWorld();
    const { base, connector } = await world.process();
    await connect(world, connector);
    const { outpostId } = (await base.account.current()) ?? {};
    await world.sql(sql('connection:own'));
    expect(await connector.own()).toMatchObject({ source: 'browser', outpostId, working: false });
    await connector.disconnect();
    expect(await connector.own()).toMatchObject({ source: 'none' });
    expect(await base.account.current()).toBeNull();
    const again = await connect(world, connector);
    expect(again.view.kind).toBe('connected');
  },
);

test('disconnected -> nothing is connected; a callback after that changes nothing', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  await connect(world, connector);
  const late = await begin(connector);
  const code = (await world.confirm(late.redirectTo, 'connect', 'late')).get('code') ?? '';
  await connector.disconnect();
  await connector.returned(late.attemptId, code);
  expect(await base.account.current()).toBeNull();
  expect(await connector.own()).toMatchObject({ source: 'none', state: 'idle' });
  expect((await connector.look(late.attemptId)).kind).toBe('superseded');
});

test('the environment has credentials -> used until something is connected, and again after', async () => {
  const env = { DEVIN_OUTPOSTS_TOKEN: 'cog_env', DEVIN_OUTPOST_ID: 'outpost_env-env' };
  const world = await openWorld({ env });
  const { base, connector } = await world.process();
  expect(await connector.own()).toMatchObject({ source: 'environment', outpostId: 'outpost_env-env' });
  await connect(world, connector);
  expect((await base.account.current())?.source).toBe('browser');
  await connector.disconnect();
  expect(await base.account.current()).toMatchObject({ source: 'environment', token: 'cog_env' });
});

test('the root secret was changed without the previous one -> said, naming the setting; with it, all goes on', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  await connect(world, connector);
  const root = world.settings.DEVIN_CONNECTION_SECRET;
  Object.assign(world.settings, { DEVIN_CONNECTION_SECRET: 'n'.repeat(32) });
  const lost = await world.process();
  await expect(lost.base.account.current()).rejects.toMatchObject({ setting: 'DEVIN_CONNECTION_SECRET' });
  Object.assign(world.settings, { DEVIN_CONNECTION_SECRET_PREVIOUS: root });
  const found = await world.process();
  expect((await found.base.account.current())?.source).toBe('browser');
  Object.assign(world.settings, { DEVIN_CONNECTION_SECRET_PREVIOUS: undefined });
  expect((await (await world.process()).base.account.current())?.source).toBe('browser');
});

test('a new token of the same outpost -> used within seconds by who is at work already, and the old one is not', async () => {
  const world = await openWorld();
  const [one, two] = [await world.process(), await world.process()];
  const first = await connect(world, one.connector);
  const { fleet } = await assemble(two.base);
  const signal = AbortSignal.timeout(30_000);
  expect((await fleet.list(signal)).entries).toEqual([]);
  const old = (await one.base.account.current())?.token ?? '';
  world.devin.connect.answer = {
    outpost_id: first.view.outpost?.id,
    access_token: world.devin.access.mint(['machine']),
  };
  expect((await connect(world, one.connector)).view.kind).toBe('connected');
  world.devin.access.revoke(old);
  await until('the new token is used', () => fleet.list(signal).catch(() => null));
});
