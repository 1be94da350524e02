/** Setting up somebody's project: the installation at Vercel, the connection at Devin, the variables. */
import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/index.js';
import type { Connector } from '../../src/ports/connector.js';
import { until } from '../e2e/support.js';
import { NEXT, openWorld, type World } from './support.js';

const settled = (connector: Connector, attemptId: string) =>
  until('nothing is worked on', async () => {
    const view = await connector.look(attemptId);
    return view.kind === 'working' || view.kind === 'preparing' ? null : view;
  });

async function install(world: World, connector: Connector) {
  const installation = await world.install();
  const { attemptId } = await connector.beginProject(installation);
  const view = await settled(connector, attemptId);
  const project = () => world.platform.projects.get(installation.projectId);
  return { attemptId, installation, view, env: () => project()?.env ?? new Map() };
}

async function confirm(world: World, connector: Connector, attemptId: string) {
  const address = await connector.continueProject(attemptId);
  if (address === null) throw new Error('there is nothing to confirm');
  const code = (await world.confirm(address)).get('code') ?? '';
  await connector.returned(attemptId, code);
  return settled(connector, attemptId);
}

const VARIABLES = [
  'CRON_SECRET',
  'DEVIN_CONNECTION_SECRET',
  'OPERATOR_SECRET',
  'VIEWER_SECRET',
  'ACCEPTOR_ID',
  'DEVIN_API_URL',
  'DEVIN_OUTPOST_ID',
  'DEVIN_CREDENTIALS_FROM_ENV',
  'DEVIN_OUTPOSTS_TOKEN',
];

test('installed, confirmed -> every variable is in the project, encrypted, for production only, and the browser goes back', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, view, env } = await install(world, connector);
  expect(view).toMatchObject({ kind: 'waiting', project: { name: 'my-outposts', teamId: 'team_emulated' } });
  expect(env().size).toBe(0);
  expect(await connector.nextOf(attemptId)).toBeNull();
  const done = await confirm(world, connector, attemptId);
  expect(done).toMatchObject({ kind: 'connected', problem: null, project: { written: VARIABLES } });
  expect([...env().keys()]).toEqual(VARIABLES);
  for (const { type, target } of env().values())
    expect([type, target]).toEqual(['encrypted', ['production']]);
  expect(await connector.nextOf(attemptId)).toBe(NEXT);
});

test.each([
  ['another team', { teamId: 'team_of_somebody' }, 'another team'],
  ['another project', { projectId: 'prj_of_somebody' }, 'does not let the integration read'],
])(
  'the address names %s than Vercel gave access to -> refused, before anybody confirms',
  async (_, changes, says) => {
    const world = await openWorld();
    const { connector } = await world.process();
    const { attemptId } = await connector.beginProject({ ...(await world.install()), ...changes });
    expect(await settled(connector, attemptId)).toMatchObject({
      kind: 'refused',
      problem: expect.stringContaining(says),
    });
    expect(await connector.continueProject(attemptId)).toBeNull();
  },
);

test('what was written, and a database -> settings that a deployment takes as they are', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, env } = await install(world, connector);
  await confirm(world, connector, attemptId);
  const written = Object.fromEntries([...env()].map(([key, { value }]) => [key, value]));
  const surroundings = { VERCEL: '1', VERCEL_PROJECT_ID: 'prj_1', DATABASE_URL: 'postgres://u:p@h/d' };
  const parsed = parseConfig({ ...written, ...surroundings }, { mode: 'vercel' });
  expect(parsed).toMatchObject({ kind: 'ok', warnings: [] });
  const secrets = ['CRON_SECRET', 'DEVIN_CONNECTION_SECRET', 'OPERATOR_SECRET', 'VIEWER_SECRET'];
  expect(new Set(secrets.map((key) => written[key])).size).toBe(4);
});

test("the controller's own connection -> is not touched by setting up projects", async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { attemptId } = await install(world, connector);
  await confirm(world, connector, attemptId);
  expect(await base.account.current()).toBeNull();
  expect(await connector.own()).toMatchObject({ source: 'none' });
});

test('no secret of a set-up -> in any row, journal, log line or byte of the database, and none is left', async () => {
  const world = await openWorld();
  const { base, connector } = await world.process();
  const { attemptId, installation, env } = await install(world, connector);
  await confirm(world, connector, attemptId);
  const kept = [
    ...world.raw(),
    world.lines.join('\n'),
    JSON.stringify(await base.store.journal({ after: 0, limit: 1_000 })),
  ].join('\n');
  const written = [...env()]
    .filter(([key]) => /SECRET|TOKEN/.test(key))
    .map(([, { value }]) => value as string);
  for (const secret of [installation.code, ...world.platform.tokens, ...written])
    expect(kept).not.toContain(secret);
  for (const what of ['verifier', 'code', 'granted', 'installation', 'access', 'values'])
    expect(await base.store.sealed(`attempt/${attemptId}/${what}`, 0), what).toBeNull();
});

test.each([
  ['is refused', 403],
  ['is listed as failed', 'failed'],
] as const)(
  'one variable %s -> what was written is said, and another try writes the rest with the same values',
  async (_, status) => {
    const world = await openWorld();
    const { connector } = await world.process();
    const { attemptId, env } = await install(world, connector);
    world.platform.failWrites('DEVIN_API_URL', 1, status);
    const failed = await confirm(world, connector, attemptId);
    expect(failed).toMatchObject({
      kind: 'failed',
      retryable: true,
      problem: expect.stringContaining('DEVIN_API_URL could not be written'),
      project: { written: VARIABLES.slice(0, 5) },
    });
    expect(env().has('DEVIN_OUTPOSTS_TOKEN')).toBe(false);
    const before = new Map(env());
    await connector.retry(attemptId);
    expect(await settled(connector, attemptId)).toMatchObject({ kind: 'connected', problem: null });
    for (const [key, { value }] of before) expect(env().get(key)?.value, key).toBe(value);
    expect([...env().keys()]).toEqual(VARIABLES);
  },
);

test("Vercel's API answers 500 for a while -> written all the same; for ever -> failed, saying how far it came", async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const first = await install(world, connector);
  world.platform.failWrites('VIEWER_SECRET', 2, 500);
  expect((await confirm(world, connector, first.attemptId)).kind).toBe('connected');
  const second = await install(world, connector);
  world.devin.connect.answer = {};
  world.platform.failWrites('VIEWER_SECRET', 1_000, 500);
  const address = (await connector.continueProject(second.attemptId)) ?? '';
  const code = (await world.confirm(address, 'connect', 'another')).get('code') ?? '';
  await connector.returned(second.attemptId, code);
  expect(await settled(connector, second.attemptId)).toMatchObject({
    kind: 'failed',
    retryable: true,
    project: { written: VARIABLES.slice(0, 3) },
  });
});

test("an installation's code that Vercel does not know -> refused, with what to do", async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const installation = await world.install();
  const { attemptId } = await connector.beginProject({ ...installation, code: 'made-up' });
  expect(await settled(connector, attemptId)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('Add the integration to the project again'),
  });
  expect(await connector.continueProject(attemptId)).toBeNull();
});

test('the integration knows its secret no more -> refused, naming the settings', async () => {
  const world = await openWorld({ env: { VERCEL_INTEGRATION_CLIENT_SECRET: 'another' } });
  const { connector } = await world.process();
  const { view } = await install(world, connector);
  expect(view).toMatchObject({ kind: 'refused', problem: expect.stringContaining('VERCEL_INTEGRATION') });
});

test('access was taken back meanwhile -> failed, nothing is written, and said why', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, env } = await install(world, connector);
  world.platform.revokeAll();
  expect(await confirm(world, connector, attemptId)).toMatchObject({
    kind: 'failed',
    problem: expect.stringMatching(/CRON_SECRET could not be written.*403/),
    project: { written: [] },
  });
  expect(env().size).toBe(0);
});

test('declined at Devin -> refused, and the project stays as it is', async () => {
  const world = await openWorld();
  const { connector } = await world.process();
  const { attemptId, env } = await install(world, connector);
  await connector.denied(attemptId, 'access_denied');
  expect((await settled(connector, attemptId)).kind).toBe('refused');
  expect(env().size).toBe(0);
});

test('a set-up that is over -> forgotten by the cron, and in the end all that was kept of it', async () => {
  const world = await openWorld({ speed: 50_000 });
  const { base, connector, driveDue } = await world.process();
  const { attemptId } = await connector.beginProject({ ...(await world.install()), code: 'made-up' });
  await until('it is forgotten', async () => {
    await driveDue();
    return (await base.store.read(`connection:${attemptId}`)) === null;
  });
  expect((await connector.look(attemptId)).kind).toBe('gone');
  await until('the way back is forgotten too', async () => {
    await driveDue();
    return (await base.store.sealed(`next/${attemptId}`, 0)) === null;
  });
});
