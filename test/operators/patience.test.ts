import { expect, test } from 'vitest';
import { createPatience } from '../../src/operators/patience.js';
import { openStore } from '../../src/store/open.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

const keys = createKeyRing('a-root-secret-of-this-test-0123456', null);

async function open() {
  const store = await openStore(`file:${await temporaryDirectory()}/x.db`);
  onEnd(() => store.close());
  let now = 1_000_000_000;
  return {
    store,
    /** One instance of many, each with a memory of its own. */
    instance: () => createPatience({ store: async () => store, keys, now: () => now }),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('one client -> five tries, then one in twenty seconds; another is not held up', async () => {
  const { instance, pass } = await open();
  const patience = instance();
  for (let tries = 0; tries < 5; tries++) expect(await patience.waitOf('one')).toBe(0);
  expect(await patience.waitOf('one')).toBeGreaterThan(0);
  expect(await patience.waitOf('two')).toBe(0);
  pass(20_000);
  expect(await patience.waitOf('one')).toBe(0);
});

test('wrong ones in a row, on many instances -> their client waits, longer each time, and nobody else does', async () => {
  const { instance, pass } = await open();
  const waits: number[] = [];
  for (let tries = 0; tries < 14; tries++) {
    const waitMs = await instance().waitOf('one');
    waits.push(waitMs);
    expect(await instance().waitOf('two')).toBe(0);
    pass(waitMs);
    await instance().note('one', false);
  }
  expect(waits.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
  expect(waits.slice(5, 8)).toEqual([30_000, 60_000, 120_000]);
  expect(waits.at(-1)).toBe(15 * 60_000);
});

test('the right one, or an hour of quiet -> it begins anew', async () => {
  const { instance, pass } = await open();
  const wrong = async (count: number) => {
    for (let tries = 0; tries < count; tries++) await instance().note('one', false);
  };
  await wrong(6);
  expect(await instance().waitOf('one')).toBeGreaterThan(0);
  await instance().note('one', true);
  await wrong(1);
  expect(await instance().waitOf('one')).toBe(0);
  await wrong(12);
  pass(61 * 60_000);
  await wrong(1);
  expect(await instance().waitOf('one')).toBe(0);
});

test('thousands of clients -> a bounded row, without an address in it; a row that makes no sense is nobody’s', async () => {
  const { store, instance } = await open();
  for (let client = 0; client < 300; client++) await instance().note(`192.0.2.${client}`, false);
  const kept = (await store.setting('sign-in-wrong')) ?? '';
  expect(JSON.parse(kept)).toHaveLength(200);
  expect(kept).not.toContain('192.0.2');
  await store.writeSetting('sign-in-wrong', '{"count":');
  expect(await instance().waitOf('192.0.2.1')).toBe(0);
});
