import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { settleInstallation } from '../../src/installation.js';
import type { Store } from '../../src/ports/store.js';
import { openStore } from '../../src/store/open.js';

let dir = '';
let store: Store;
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

test('ACCEPTOR_ID is changed -> claims made under the old one are still ours, and nobody else is taken for us', async () => {
  dir = await mkdtemp(join(tmpdir(), 'outposts-installation-'));
  store = await openStore(`file:${join(dir, 'outposts.db')}`);
  const binding = { apiHost: 'api.example', outpostId: 'outpost_env-1', vercelProject: 'prj_1' };
  const before = await settleInstallation(store, 'vercel', binding);
  const now = await settleInstallation(store, 'another-name', binding);
  const made = `${before.acceptorPrefixOf('devin-1')}-3`;
  expect(now.owns(made)).toBe(true);
  expect(now.owns(`${now.acceptorPrefixOf('devin-1')}-1`)).toBe(true);
  for (const other of [
    '',
    'vercel',
    `vercel-${now.id}`,
    made.replace(now.id, '00000000'),
    `${made}-x`,
    'a worker of theirs',
  ])
    expect(now.owns(other), other).toBe(false);
});
