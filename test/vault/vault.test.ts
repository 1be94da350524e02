import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { createVault } from '../../src/vault/vault.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

const [FIRST, SECOND] = ['f'.repeat(32), 's'.repeat(32)];
const CANARY = 'cog_canary-of-this-test';

async function openVault() {
  const store = await openStore(`file:${await temporaryDirectory()}/vault.db`);
  onEnd(() => store.close());
  const clock = { now: () => 1_000 };
  const vault = (secret = FIRST, previous: string | null = null) =>
    createVault({ store, clock, keys: createKeyRing(secret, previous) });
  const raw = async (name: string) => (await store.sealed(name, 0))?.sealed ?? '';
  return { store, vault, raw };
}

test('put in -> given back, and nowhere in the clear', async () => {
  const { vault, raw } = await openVault();
  await vault().put('credentials', CANARY, null);
  expect(await vault().open('credentials')).toBe(CANARY);
  const sealed = await raw('credentials');
  expect(sealed).not.toContain('canary');
  expect(Buffer.from(sealed, 'base64url').toString()).not.toContain('canary');
});

test('the same secret, sealed twice -> reads differently each time', async () => {
  const { vault, raw } = await openVault();
  await vault().put('a', CANARY, null);
  const once = await raw('a');
  await vault().put('a', CANARY, null);
  expect(await raw('a')).not.toBe(once);
});

test('nothing there, or expired -> null', async () => {
  const { vault } = await openVault();
  expect(await vault().open('a')).toBeNull();
  await vault().put('a', CANARY, 1_000);
  expect(await vault().open('a')).toBeNull();
});

test('kept once -> the first stays', async () => {
  const { vault } = await openVault();
  expect(await vault().putOnce('code', 'one', 2_000)).toBe(true);
  expect(await vault().putOnce('code', 'two', 2_000)).toBe(false);
  expect(await vault().open('code')).toBe('one');
});

const copied = async (change: (sealed: string) => string, name = 'credentials') => {
  const { store, vault, raw } = await openVault();
  await vault().put('credentials', CANARY, null);
  await vault().put('another', 'something else', null);
  await store.keepSealed(name, change(await raw('credentials')), null);
  return vault().open(name);
};
const flip = (sealed: string, part: number) =>
  sealed
    .split('.')
    .map((text, index) => (index === part ? `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}` : text))
    .join('.');
const header = (change: (header: object) => object) => (sealed: string) => {
  const [head = '', ...rest] = sealed.split('.');
  const made = change(JSON.parse(Buffer.from(head, 'base64url').toString()));
  return [Buffer.from(JSON.stringify(made)).toString('base64url'), ...rest].join('.');
};

test.each<[string, (sealed: string) => string, string?]>([
  ['copied under another name', (sealed: string) => sealed, 'another'],
  ['its nonce changed', (sealed: string) => flip(sealed, 2)],
  ['its text changed', (sealed: string) => flip(sealed, 3)],
  ['its tag changed', (sealed: string) => flip(sealed, 4)],
  ['its tag cut off', (sealed: string) => sealed.slice(0, -4)],
  ['renamed in its header', header((head) => ({ ...head, rec: 'x' }))],
  ['without a key id', header(({ ...head }) => ({ ...head, kid: undefined }))],
  ['of another algorithm', header((head) => ({ ...head, enc: 'A128GCM' }))],
  ['empty', () => ''],
  ['no JWE at all', () => 'hunter2'],
  ['JSON', () => '{"token":"hunter2"}'],
])('%s -> refused, naming the setting and nothing of the secret', async (_, change, name) => {
  const error = await copied(change, name).then(
    () => null,
    (refused: Error) => refused,
  );
  expect(error).toMatchObject({ name: 'RefusedError', setting: 'DEVIN_CONNECTION_SECRET' });
  expect(error?.message).not.toMatch(/canary|hunter2/);
});

test('the secret was changed -> opens with the previous one, is sealed anew, and then without it', async () => {
  const { vault, raw } = await openVault();
  await vault(FIRST).put('credentials', CANARY, 5_000);
  const before = await raw('credentials');
  expect(await vault(SECOND, FIRST).open('credentials')).toBe(CANARY);
  expect(await raw('credentials')).not.toBe(before);
  expect(await vault(SECOND).open('credentials')).toBe(CANARY);
  await expect(vault(FIRST).open('credentials')).rejects.toMatchObject({ name: 'RefusedError' });
});

test('sealed anew while it is dropped, or replaced, by another -> stays dropped, or replaced', async () => {
  const { vault, store } = await openVault();
  await vault(FIRST).put('credentials', CANARY, null);
  const slow = createVault({
    clock: { now: () => 1_000 },
    keys: createKeyRing(SECOND, FIRST),
    store: {
      ...store,
      sealed: async (name: string, now: number) => {
        const row = await store.sealed(name, now);
        await store.dropSealed({ name });
        return row;
      },
    },
  });
  expect(await slow.open('credentials')).toBe(CANARY);
  expect(await store.sealed('credentials', 0)).toBeNull();
});

test('keys for different purposes, contexts and secrets -> all different, and their ids too', () => {
  const ring = createKeyRing(FIRST, SECOND);
  const sets = [
    ring.keysFor('sealing'),
    ring.keysFor('session'),
    ring.keysFor('attempt'),
    ring.keysFor('form'),
    ring.keysFor('session', 'a role'),
    createKeyRing(SECOND, null).keysFor('session'),
  ];
  const hex = ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString('hex');
  expect(new Set(sets.map(({ current }) => hex(current))).size).toBe(sets.length);
  expect(new Set(sets.map(({ current }) => current.kid)).size).toBe(sets.length);
  expect(ring.keysFor('sealing').find(undefined)).toBeNull();
});
