import { expect, test } from 'vitest';
import { createPatience } from '../../src/operators/patience.js';
import { openStore } from '../../src/store/open.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

async function open() {
  const store = await openStore(`file:${await temporaryDirectory()}/x.db`);
  onEnd(() => store.close());
  let now = 1_000_000_000;
  return {
    /** One instance of many, each with a memory of its own. */
    instance: () =>
      createPatience(
        async () => store,
        () => now,
      ),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('one address -> five tries, then one in twenty seconds; another address is not held up', async () => {
  const { instance, pass } = await open();
  const patience = instance();
  for (let tries = 0; tries < 5; tries++) expect(await patience.waitOf('one')).toBe(0);
  expect(await patience.waitOf('one')).toBeGreaterThan(0);
  expect(await patience.waitOf('two')).toBe(0);
  pass(20_000);
  expect(await patience.waitOf('one')).toBe(0);
});

test('wrong ones in a row, from many addresses and on many instances -> everybody waits, longer each time', async () => {
  const { instance, pass } = await open();
  const waits: number[] = [];
  for (let tries = 0; tries < 24; tries++) {
    const patience = instance();
    const waitMs = await patience.waitOf(`address-${tries}`);
    waits.push(waitMs);
    pass(waitMs);
    await patience.note(false);
  }
  expect(waits.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 0));
  expect(waits.slice(10, 14)).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(waits.at(-1)).toBe(5 * 60_000);
});

test('the right one, or a quarter of an hour of quiet -> it begins anew', async () => {
  const { instance, pass } = await open();
  const wrong = async (count: number) => {
    for (let tries = 0; tries < count; tries++) await instance().note(false);
  };
  await wrong(12);
  expect(await instance().waitOf('x')).toBeGreaterThan(0);
  pass(4_000);
  await instance().note(true);
  await wrong(1);
  expect(await instance().waitOf('x')).toBe(0);
  await wrong(12);
  pass(16 * 60_000);
  await wrong(1);
  expect(await instance().waitOf('y')).toBe(0);
});
