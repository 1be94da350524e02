/** What is easily got wrong between a page, the cron and a deadline. */
import { expect, test } from 'vitest';
import type { Connector } from '../../src/ports/connector.js';
import { until } from '../e2e/support.js';
import { openWorld, type World } from './support.js';

async function begin(connector: Connector) {
  const begun = await connector.begin();
  if (begun.kind !== 'begun') throw new Error('busy');
  return begun;
}

const settled = (connector: Connector, attemptId: string) =>
  until('nothing is worked on', async () => {
    const view = await connector.look(attemptId);
    return view.kind === 'working' || view.kind === 'preparing' ? null : view;
  });

const codeFor = async (world: World, redirectTo: string, name?: string) =>
  (await world.confirm(redirectTo, 'connect', name)).get('code') ?? '';

test('a code comes after ten minutes in which nobody looked -> expired, and not exchanged', async () => {
  const world = await openWorld({ speed: 500 });
  const { connector } = await world.process();
  const { attemptId, redirectTo } = await begin(connector);
  const code = await codeFor(world, redirectTo);
  await world.clock.sleep(11 * 60_000);
  await connector.returned(attemptId, code);
  expect((await connector.look(attemptId)).kind).toBe('expired');
  expect(world.devin.calls.count('exchange')).toBe(0);
});

test('a project’s page is left for more than ten minutes -> the browser is not sent to Devin any more', async () => {
  const world = await openWorld({ speed: 500 });
  const { connector } = await world.process();
  const { attemptId } = await connector.beginProject(await world.install());
  expect((await settled(connector, attemptId)).kind).toBe('waiting');
  await world.clock.sleep(11 * 60_000);
  expect(await connector.continueProject(attemptId)).toBeNull();
  expect((await connector.look(attemptId)).kind).toBe('expired');
});

test('the button is pressed twice at once, in two processes -> the attempt that counts is one that a browser has', async () => {
  const world = await openWorld();
  const [one, two] = [await world.process(), await world.process()];
  for (let round = 1; round <= 10; round++) {
    const both = await Promise.all([one.connector.begin(), two.connector.begin()]);
    const begun = both.flatMap((answer) => (answer.kind === 'begun' ? [answer] : []));
    const views = await Promise.all(begun.map(({ attemptId }) => one.connector.look(attemptId)));
    expect(views.filter(({ kind }) => kind === 'waiting')).toHaveLength(1);
  }
});

test('the first try gets no answer, the second an API that is not trusted -> told about the host, not about the code', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  world.devin.faults.add({ on: 'exchange', kind: { status: 503 } });
  world.devin.connect.answer = { api_base_url: 'https://evil.example' };
  const { attemptId, redirectTo } = await begin(connector);
  await connector.returned(attemptId, await codeFor(world, redirectTo));
  expect(await settled(connector, attemptId)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('DEVIN_API_HOSTS'),
  });
});

test('the root secret is changed in mid-flow -> refused, naming the setting, and connecting again works', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, redirectTo } = await begin(connector);
  const code = await codeFor(world, redirectTo, 'one');
  Object.assign(world.settings, { DEVIN_CONNECTION_SECRET: 'n'.repeat(32) });
  const changed = await world.process();
  await changed.connector.returned(attemptId, code);
  expect(await changed.connector.look(attemptId)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('DEVIN_CONNECTION_SECRET'),
  });
  expect(world.devin.calls.count('exchange')).toBe(0);
  const again = await begin(changed.connector);
  await changed.connector.returned(again.attemptId, await codeFor(world, again.redirectTo, 'two'));
  expect((await settled(changed.connector, again.attemptId)).kind).toBe('connected');
});

test('Devin asks for an hour of patience -> the attempt does not wait for longer than it may take', async () => {
  const world = await openWorld({ speed: 200 });
  const { connector } = await world.process();
  world.devin.faults.add({ on: 'exchange', kind: { status: 429, retryAfter: '3600' }, times: null });
  const { attemptId, redirectTo } = await begin(connector);
  const begunAt = world.clock.now();
  await connector.returned(attemptId, await codeFor(world, redirectTo));
  expect((await settled(connector, attemptId)).kind).toBe('failed');
  expect(world.clock.now() - begunAt).toBeLessThan(12 * 60_000);
});

test('disconnected, or begun anew -> the secrets of the attempt before are gone at once', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const verifierOf = (attemptId: string) => base.store.sealed(`attempt/${attemptId}/verifier`, 0);
  const first = await begin(connector);
  expect(await verifierOf(first.attemptId)).not.toBeNull();
  const second = await begin(connector);
  expect(await verifierOf(first.attemptId)).toBeNull();
  await connector.returned(second.attemptId, await codeFor(world, second.redirectTo));
  await settled(connector, second.attemptId);
  const third = await begin(connector);
  await connector.disconnect();
  expect(await verifierOf(third.attemptId)).toBeNull();
});

test('the record of the connection was set aside -> its page says so, and connecting again takes it back', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { attemptId } = await begin(connector);
  const taken = await base.store.take('connection:own', 'somebody', 30_000);
  if (taken.kind !== 'taken') throw new Error(taken.kind);
  await base.store.quarantine({ id: 'connection:own', owner: 'somebody', rev: taken.row.rev }, 'a test');
  await base.store.free('connection:own', 'somebody');
  expect(await connector.own()).toMatchObject({ problem: expect.stringContaining('set aside') });
  expect((await connector.look(attemptId)).kind).toBe('gone');
  expect((await connector.begin()).kind).toBe('begun');
  expect(await connector.own()).toMatchObject({ problem: null, state: 'authorizing.waiting' });
});

test('one connection cannot be driven -> the cron goes on with the others, and does not fail', async () => {
  const world = await openWorld();
  const { base } = await world.process();
  const { driveDue, connector } = await world.process(
    (store) =>
      new Proxy(store, {
        get(target, name: keyof typeof store) {
          if (name !== 'take') return target[name];
          return (id: string, owner: string, ms: number) =>
            id === 'connection:broken' ? Promise.reject(new Error('a test')) : target.take(id, owner, ms);
        },
      }),
  );
  await connector.begin();
  const row = await base.store.read('connection:own');
  if (row === null) throw new Error('no row');
  const { machine, version, snapshot, state, episode, holdsSlot } = row;
  await base.store.enroll(
    'connection:broken',
    { machine, version, snapshot, state, episode, holdsSlot },
    null,
    0,
  );
  await driveDue();
  expect(world.lines.join('\n')).toContain('connection:broken');
});

test('a project’s record that nobody got to begin -> is forgotten after a day too', async () => {
  const world = await openWorld({ speed: 50_000 });
  const { base, driveDue, connector } = await world.process(
    (store) =>
      new Proxy(store, {
        get: (target, name: keyof typeof store) =>
          name === 'post' ? () => Promise.reject(new Error('the process died')) : target[name],
      }),
  );
  await expect(connector.beginProject(await world.install())).rejects.toThrow('died');
  expect(await base.store.list({ machine: 'connection', limit: 10 })).toHaveLength(1);
  await until('it is forgotten', async () => {
    await driveDue();
    return (await base.store.list({ machine: 'connection', limit: 10 })).length === 0;
  });
});
