import { expect, test } from 'vitest';
import { DRIVING } from '../../src/pass/take-over.js';
import { openWorld, until } from './support.js';

test('the cron calls another deployment -> its first pass asks every run to leave, and later ones ask nobody', async () => {
  const world = await openWorld();
  const one = await world.process();
  const { id } = world.devin.startSession();
  const first = one.pass(20_000, 'dpl_one');
  await until('a run', () => one.runs.rung.includes(id));
  first.end();
  await first.report;
  expect(one.runs.dismissed).toEqual([]);

  const two = await world.process();
  const store = two.base.store;
  for (let passes = 1; passes <= 2; passes++) {
    const pass = two.pass(20_000, 'dpl_two');
    await until('the pass looks', async () => (await store.setting(DRIVING)) === 'dpl_two');
    pass.end();
    await pass.report;
    expect(two.runs.dismissed).toEqual([id]);
  }

  const back = one.pass(20_000, 'dpl_one');
  await until('a rollback', async () => (await store.setting(DRIVING)) === 'dpl_one');
  back.end();
  await back.report;
  expect(one.runs.dismissed).toEqual([id]);
});

test('a run cannot be asked to leave -> the next pass asks again', async () => {
  const world = await openWorld();
  const { runs, pass, base } = await world.process();
  const { id } = world.devin.startSession();
  const first = pass();
  await until('a run', () => runs.rung.includes(id));
  first.end();
  await first.report;

  runs.answer = () => Promise.reject(new Error('the engine is away'));
  const second = pass(20_000, 'dpl_two');
  await until('it is said', () => world.lines.some((line) => line.includes('the engine is away')));
  second.end();
  await second.report;
  expect(await base.store.setting(DRIVING)).toBeNull();

  runs.answer = async () => 'rung';
  const third = pass(20_000, 'dpl_two');
  await until('asked', async () => (await base.store.setting(DRIVING)) === 'dpl_two');
  third.end();
  await third.report;
  expect(runs.dismissed).toEqual([id, id]);
});
