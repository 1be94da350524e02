/** Vercel as an integration sees it, as strict as its reference. */
import { expect, test } from 'vitest';
import { startPlatform } from '../../src/emulator/platform/index.js';
import { onEnd } from '../e2e/support.js';

const REDIRECT = 'https://outposts.example.com/integration/callback';

async function open() {
  const platform = await startPlatform();
  onEnd(() => platform.close());
  platform.redirectUrl = REDIRECT;
  const install = async () => {
    const body = new URLSearchParams({ name: 'mine' });
    const answer = await fetch(`${platform.url}/new/clone`, { method: 'POST', body, redirect: 'manual' });
    return new URL(answer.headers.get('location') ?? '').searchParams;
  };
  const exchange = (changes: Record<string, string>) =>
    fetch(`${platform.url}/v2/oauth/access_token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: platform.clientId,
        client_secret: platform.clientSecret,
        redirect_uri: REDIRECT,
        ...changes,
      }),
    });
  const call = (path: string, token: string, body?: unknown) =>
    fetch(`${platform.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  return { platform, install, exchange, call };
}

test('a code -> works once, for its redirect address and with the client’s secret', async () => {
  const { install, exchange } = await open();
  const code = async () => (await install()).get('code') ?? '';
  expect((await exchange({ code: await code(), client_secret: 'x' })).status).toBe(401);
  expect((await exchange({ code: await code(), redirect_uri: 'https://evil.example' })).status).toBe(400);
  const once = await code();
  expect((await exchange({ code: once })).status).toBe(200);
  expect((await exchange({ code: once })).status).toBe(400);
});

test('variables -> written for the installation’s own project and team, and replaced with upsert only', async () => {
  const { platform, install, exchange, call } = await open();
  const query = await install();
  const id = query.get('currentProjectId') ?? '';
  const { access_token: token } = (await (await exchange({ code: query.get('code') ?? '' })).json()) as {
    access_token: string;
  };
  const path = (project = id, more = `teamId=${platform.teamId}`) => `/v10/projects/${project}/env?${more}`;
  const variable = { key: 'A', value: '1', type: 'encrypted', target: ['production'] };
  expect((await call(path(), token, variable)).status).toBe(201);
  expect((await call(path(), token, variable)).status).toBe(400);
  expect((await call(`${path()}&upsert=true`, token, { ...variable, value: '2' })).status).toBe(201);
  expect(platform.projects.get(id)?.env.get('A')?.value).toBe('2');
  expect((await call(path(), 'another', variable)).status).toBe(403);
  expect((await call(path(id, 'teamId=team_other'), token, variable)).status).toBe(404);
  expect((await call(path((await install()).get('currentProjectId') ?? ''), token, variable)).status).toBe(
    404,
  );
  expect((await call(path(), token, { ...variable, type: 'secret' })).status).toBe(400);
  expect(await (await call(`/v9/projects/${id}?teamId=${platform.teamId}`, token)).json()).toMatchObject({
    name: 'mine',
  });
  platform.revokeAll();
  expect((await call(path(), token, variable)).status).toBe(403);
});
