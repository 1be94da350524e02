import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import type { Fleet } from '../../src/ports/fleet.js';
import { client, json, never, serve, thrownBy } from './support.js';

const ofSession: [string, (fleet: Fleet) => Promise<unknown>][] = [
  ['read', (fleet) => fleet.read('devin-1', never())],
  ['claim', (fleet) => fleet.claim('devin-1', 'me', never())],
  ['release', (fleet) => fleet.release('devin-1', 'me', never())],
];
const ofQueue: typeof ofSession = [
  ['list', (fleet) => fleet.list(never())],
  ['watch', (fleet) => fleet.watch(never())[Symbol.asyncIterator]().next()],
];

const refusal = async (status: number, act: (fleet: Fleet) => Promise<unknown>) => {
  const { url } = await serve((_heard, response) => json(response, status, {}));
  const error = await thrownBy(act(client(url).fleet));
  expect(error).toBeInstanceOf(RefusedError);
  return (error as RefusedError).scope;
};

describe('whose fault a refusal is', () => {
  test.each(ofSession)('%s: 422 -> it is about this session', async (_, act) => {
    expect(await refusal(422, act)).toBe('session');
  });
  test.each(ofQueue)('%s: 422 -> it is about the installation', async (_, act) => {
    expect(await refusal(422, act)).toBe('installation');
  });
  test.each([...ofSession, ...ofQueue])('%s: 401, 402, 403 -> the installation', async (_, act) => {
    for (const status of [401, 402, 403]) expect(await refusal(status, act)).toBe('installation');
  });
});
