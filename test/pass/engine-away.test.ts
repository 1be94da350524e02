import { expect, test } from 'vitest';
import { TransientError } from '../../src/errors.js';
import { LAST_PROBLEM } from '../../src/pass/pass.js';
import { claimsOf, openWorld, until } from './support.js';

test('the workflow engine is away -> nothing is claimed for it, it is said, and claimed once it is back', async () => {
  const world = await openWorld();
  const { runs, pass, base } = await world.process();
  runs.reachable = false;
  runs.answer = () => Promise.reject(new Error('the engine is away'));
  const { id } = world.devin.startSession();
  const { report, end } = pass();
  await until('it is said', async () => (await base.store.setting(LAST_PROBLEM))?.includes('engine'));
  expect(claimsOf(world, id)).toEqual([]);
  expect((await base.store.counts('session')).slots).toBe(0);

  runs.reachable = true;
  runs.answer = async () => 'started';
  await until('a ring', () => runs.rung.includes(id));
  expect(claimsOf(world, id)).toEqual(['claimed']);
  end();
  expect(await report).toEqual({ kind: 'passed', problem: null });
  await until('nothing is wrong', async () => (await base.store.setting(LAST_PROBLEM)) === '');
});

test('the database loses a connection just when a pass begins -> the pass goes on a moment later', async () => {
  const world = await openWorld();
  let fails = 1;
  const { runs, pass } = await world.process((store) => ({
    ...store,
    lead: (name, owner, ms) =>
      name === 'pass' && fails-- > 0
        ? Promise.reject(new TransientError('lead pass: the connection is gone'))
        : store.lead(name, owner, ms),
  }));
  const { id } = world.devin.startSession();
  const { report, end } = pass();
  await until('a ring', () => runs.rung.includes(id));
  end();
  expect(await report).toMatchObject({ kind: 'passed' });
});
