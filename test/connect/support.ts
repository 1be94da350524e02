/** A deployment's connections against both clouds over HTTP, on a real SQLite file, in any number of processes. */
import { readFileSync } from 'node:fs';
import { createClient } from '@libsql/client';
import { parseConfig } from '../../src/config/index.js';
import { connectionsOf } from '../../src/connections.js';
import { startDevinCloud } from '../../src/emulator/devin/index.js';
import { startPlatform } from '../../src/emulator/platform/index.js';
import { type Base, openBase } from '../../src/parts.js';
import { createClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/store.js';
import { createVault } from '../../src/vault/vault.js';
import { onEnd, temporaryDirectory } from '../e2e/support.js';

export { onEnd };

export const CALLBACK = 'https://outposts.example.com/connect/callback';
export const NEXT = 'https://vercel.com/new/continue?x=1';

/** How fast the clocks of these tests run. */
const SPEED = 20;

export async function openWorld({ env = {} as Record<string, string | undefined>, speed = SPEED } = {}) {
  const started = Date.now();
  const clock = createClock({ speed, origin: { wall: started, clock: started } });
  const devin = await startDevinCloud({ clock, connectCallbacks: [CALLBACK] });
  onEnd(() => devin.close());
  const platform = await startPlatform();
  onEnd(() => platform.close());
  platform.redirectUrl = 'https://outposts.example.com/integration/callback';
  const dir = await temporaryDirectory();
  const file = `${dir}/outposts.db`;
  const settings = {
    DATABASE_URL: `file:${file}`,
    DEVIN_API_URL: devin.url,
    DEVIN_CONNECT_URL: devin.connectUrl,
    DEVIN_API_HOSTS: new URL(devin.url).host,
    DEVIN_CONNECTION_SECRET: 'canary-of-the-root-secret-0123456789',
    PUBLIC_URL: 'https://outposts.example.com',
    VERCEL_API_URL: platform.url,
    VERCEL_INTEGRATION_CLIENT_ID: platform.clientId,
    VERCEL_INTEGRATION_CLIENT_SECRET: platform.clientSecret,
    VERCEL_TOKEN: 'vercel-token-of-this-test',
    VERCEL_TEAM_ID: 'team_1',
    VERCEL_PROJECT_ID: 'prj_1',
    CRON_SECRET: 'cron-secret-of-this-test',
    ...env,
  };
  const lines: string[] = [];
  return {
    clock,
    devin,
    platform,
    lines,
    settings,
    /** Opens the deployment anew, as another process would; `change` stands between it and the database. */
    async process(change = (store: Store): Store => store) {
      const parsed = parseConfig(settings, { mode: 'server' });
      if (parsed.kind !== 'ok') throw new Error(JSON.stringify(parsed.problems));
      const config = parsed.config as Base['config'];
      const opened = await openBase({ config, clock, log: (line) => lines.push(line) });
      onEnd(() => opened.store.close());
      const store = change(opened.store);
      const { sealing } = opened;
      const base = {
        ...opened,
        store,
        sealing: sealing && { ...sealing, vault: createVault({ store, keys: sealing.keys, clock }) },
      };
      const connections = connectionsOf(base);
      if (connections === null) throw new Error('nothing can be connected');
      return { base, ...connections };
    },
    /** What another program does to the database. */
    async sql(statement: string) {
      const client = createClient({ url: `file:${file}` });
      await client.execute(statement);
      client.close();
    },
    /** Everything that the database's files hold. */
    raw: () =>
      ['', '-wal'].map((suffix) => {
        try {
          return readFileSync(`${file}${suffix}`, 'latin1');
        } catch {
          return '';
        }
      }),
    /** What a person does on Devin's page; answers the parameters of the callback. */
    async confirm(address: string, answer: 'connect' | 'cancel' = 'connect', name?: string) {
      const asked = new URL(address).searchParams;
      const form = new URLSearchParams({
        callback_url: asked.get('callback_url') ?? '',
        code_challenge: asked.get('code_challenge') ?? '',
        outpost_name: name ?? asked.get('outpost_name') ?? '',
        answer,
      });
      const response = await fetch(address, { method: 'POST', body: form, redirect: 'manual' });
      const back = response.headers.get('location');
      if (back === null) throw new Error(`Devin's page answered ${response.status}`);
      return new URL(back).searchParams;
    },
    /** What a person does at the Deploy Button; answers the parameters of the callback. */
    async install() {
      const response = await fetch(`${platform.url}/new/clone`, {
        method: 'POST',
        body: new URLSearchParams({ name: 'my-outposts' }),
        redirect: 'manual',
      });
      const query = new URL(response.headers.get('location') ?? '').searchParams;
      return {
        code: query.get('code') ?? '',
        configurationId: query.get('configurationId') ?? '',
        projectId: query.get('currentProjectId') ?? '',
        teamId: query.get('teamId'),
        next: NEXT,
      };
    },
  };
}
export type World = Awaited<ReturnType<typeof openWorld>>;
