/** Which account sessions are served with, and how soon a change of it is known. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AccountReaderDeps, createAccountReader } from '../../src/connect/account.js';
import { RefusedError, TransientError } from '../../src/errors.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const kept = (token: string, apiUrl = 'https://api.devin.ai') =>
  JSON.stringify({ token, apiUrl, outpostId: 'outpost_env-1', outpostName: null });
const environment = { token: 'cog_env', apiUrl: 'https://api.devin.ai', outpostId: 'outpost_env-2' };

function reader(open: () => Promise<string | null>, deps: Partial<AccountReaderDeps> = {}) {
  const vault = { open: vi.fn(open) };
  return { vault, account: createAccountReader({ vault, trustedHosts: [], environment: null, ...deps }) };
}

test('connected in the browser, and the environment has credentials too -> the browser’s', async () => {
  const { account } = reader(async () => kept('cog_1'), { environment });
  expect(await account.current()).toMatchObject({
    source: 'browser',
    token: 'cog_1',
    outpostId: 'outpost_env-1',
  });
});

test.each([
  ['the environment has credentials', environment, { source: 'environment', ...environment }],
  ['nor has the environment any', null, null],
])('nothing is connected, %s -> those, or none', async (_, given, expected) => {
  expect(await reader(async () => null, { environment: given }).account.current()).toEqual(expected);
  expect(await reader(async () => null, { environment: given, vault: null }).account.current()).toEqual(
    expected,
  );
});

test('asked again and again -> one look at the database in five seconds, and then the new token', async () => {
  let token = 'cog_1';
  const { account, vault } = reader(async () => kept(token));
  await Promise.all([account.current(), account.current()]);
  token = 'cog_2';
  vi.advanceTimersByTime(4_999);
  expect((await account.current())?.token).toBe('cog_1');
  expect(vault.open).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect((await account.current())?.token).toBe('cog_2');
  expect(vault.open).toHaveBeenCalledTimes(2);
});

test('told that it has changed -> read anew at once', async () => {
  let text: string | null = kept('cog_1');
  const { account } = reader(async () => text);
  await account.current();
  text = null;
  account.forget();
  expect(await account.current()).toBeNull();
});

test('told while a reading is under way -> that reading’s failure does not undo the next one', async () => {
  let fail = (_: Error) => {};
  const answers = [
    new Promise<string>((_, reject) => {
      fail = reject;
    }),
    Promise.resolve(kept('cog_2')),
    Promise.resolve(kept('cog_3')),
  ];
  const { account, vault } = reader(() => answers.shift() ?? Promise.resolve(null));
  const first = account.current();
  account.forget();
  expect((await account.current())?.token).toBe('cog_2');
  fail(new TransientError('away'));
  await expect(first).rejects.toThrow('away');
  expect((await account.current())?.token).toBe('cog_2');
  expect(vault.open).toHaveBeenCalledTimes(2);
});

test('the database is away -> said, and asked again at the next call', async () => {
  const answers = [Promise.reject(new TransientError('away')), Promise.resolve(kept('cog_1'))];
  const { account } = reader(() => answers.shift() ?? Promise.resolve(null));
  await expect(account.current()).rejects.toThrow('away');
  expect((await account.current())?.token).toBe('cog_1');
});

test('what is kept does not open -> refused, not replaced by the environment’s', async () => {
  const closed = new RefusedError('closed', { setting: 'DEVIN_CONNECTION_SECRET' });
  const { account } = reader(() => Promise.reject(closed), { environment });
  await expect(account.current()).rejects.toBe(closed);
});

test('what is kept names a host that is not Devin’s -> refused each time it is opened, unless it is listed', async () => {
  const { account } = reader(async () => kept('cog_1', 'https://devin.acme.example'));
  await expect(account.current()).rejects.toMatchObject({ setting: 'DEVIN_API_HOSTS' });
  const listed = reader(async () => kept('cog_1', 'https://devin.acme.example/'), {
    trustedHosts: ['devin.acme.example'],
  });
  expect((await listed.account.current())?.apiUrl).toBe('https://devin.acme.example');
});

test('what is kept makes no sense -> an error that repeats nothing of it', async () => {
  for (const text of ['{"token":"cog_canary"', '{"token":"canary"}', kept('cog_canary', 'canary')]) {
    const error = await reader(async () => text)
      .account.current()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain('canary');
  }
});
