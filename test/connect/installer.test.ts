/** Vercel's side of setting a project up, against servers that answer anything at all. */
import { expect, test } from 'vitest';
import { createInstaller } from '../../src/connect/installer.js';
import { TransientError } from '../../src/errors.js';
import { CANARY, json, NONSENSE, type Reply, serve } from './server.js';

const CODE = 'canary-code';
const SECRET = 'canary-client-secret';
const ACCESS = { token: 'canary-access', teamId: 'team_1' };
const VARIABLE = { key: 'DEVIN_OUTPOSTS_TOKEN', value: 'cog_canary-value' };
const SECRETS = [CANARY, CODE, SECRET, ACCESS.token, VARIABLE.value];
const signal = () => AbortSignal.timeout(30_000);

async function against(reply: Reply) {
  const { url, asked } = await serve(reply);
  const installer = createInstaller({
    clientId: 'oac_1',
    clientSecret: SECRET,
    apiUrl: url,
    redirectUrl: 'https://outposts.example.com/integration/callback',
  });
  return { installer, asked };
}

const failureOf = async (act: Promise<unknown>): Promise<string> => {
  const error = await act.then(
    (answer) => new Error(`answered ${JSON.stringify(answer)}`),
    (reason: unknown) => reason as Error,
  );
  expect(error).toBeInstanceOf(TransientError);
  return `${error.message} ${String(error.cause ?? '')} ${error.stack}`;
};

test('the code is exchanged -> everything in a form, nothing in the address', async () => {
  const { installer, asked } = await against(json(200, { access_token: 'vca_1', team_id: 'team_1' }));
  expect(await installer.exchange(CODE, signal())).toEqual({
    kind: 'installed',
    access: { token: 'vca_1', teamId: 'team_1' },
  });
  expect(asked[0]).toMatchObject({ method: 'POST', url: '/v2/oauth/access_token' });
  expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
    client_id: 'oac_1',
    client_secret: SECRET,
    code: CODE,
    redirect_uri: 'https://outposts.example.com/integration/callback',
  });
});

test.each([{ team_id: null }, {}])('a personal account (%j) -> no team', async (team) => {
  const { installer } = await against(json(200, { access_token: 'vca_1', ...team }));
  expect(await installer.exchange(CODE, signal())).toMatchObject({ access: { teamId: null } });
});

test.each(NONSENSE)(
  'the exchange is answered with %s -> to be tried again; nothing of it is told',
  async (_, reply) => {
    const { installer } = await against(reply);
    const text = await failureOf(installer.exchange(CODE, signal()));
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  },
);

test.each([{ access_token: undefined }, { access_token: `a b${CANARY}` }, { team_id: `../${CANARY}` }])(
  'the exchange is answered with %j -> a failure without a value',
  async (changes) => {
    const { installer } = await against(json(200, { access_token: 'vca_1', team_id: 'team_1', ...changes }));
    expect(await failureOf(installer.exchange(CODE, signal()))).not.toContain(CANARY);
  },
);

test.each([
  [400, 'invalid_grant', true, 'works once'],
  [401, 'invalid_client', false, 'VERCEL_INTEGRATION_CLIENT_SECRET'],
  [403, CANARY, false, '403'],
  [404, undefined, false, '404'],
])('%i %s -> refused in our own words', async (status, error, ofCode, words) => {
  const { installer } = await against(json(status, { error, error_description: CANARY }));
  const answer = await installer.exchange(CODE, signal());
  expect(answer).toMatchObject({ kind: 'refused', ofCode, problem: expect.stringContaining(words) });
  expect(JSON.stringify(answer)).not.toContain(CANARY);
});

test('a variable -> written in place of what is there, encrypted, for production, in the team', async () => {
  const { installer, asked } = await against(json(201, { created: {}, failed: [] }));
  expect(await installer.write('prj_1', ACCESS, VARIABLE, signal())).toEqual({ kind: 'written' });
  expect(asked[0]).toMatchObject({
    method: 'POST',
    url: '/v10/projects/prj_1/env?upsert=true&teamId=team_1',
    headers: { authorization: `Bearer ${ACCESS.token}`, 'content-type': 'application/json' },
  });
  expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
    ...VARIABLE,
    type: 'encrypted',
    target: ['production'],
  });
});

test('a project’s name that would lead elsewhere -> stays a name in the address', async () => {
  const { installer, asked } = await against(json(201, {}));
  await installer.write('../../v2/user?x=#', { token: 'vca_1', teamId: null }, VARIABLE, signal());
  expect(asked[0]?.url).toBe('/v10/projects/..%2F..%2Fv2%2Fuser%3Fx%3D%23/env?upsert=true');
});

test.each([400, 401, 402, 403, 404, 409])(
  'a variable is answered %i -> refused, and no value is told',
  async (status) => {
    const { installer } = await against(json(status, { error: { code: CANARY, message: VARIABLE.value } }));
    const answer = await installer.write('prj_1', ACCESS, VARIABLE, signal());
    expect(answer).toMatchObject({ kind: 'refused', problem: expect.stringContaining(String(status)) });
    for (const secret of SECRETS) expect(JSON.stringify(answer)).not.toContain(secret);
  },
);

test('a variable is listed as failed in a good answer -> refused', async () => {
  const { installer } = await against(
    json(201, { failed: [{ error: { code: CANARY, value: VARIABLE.value } }] }),
  );
  const answer = await installer.write('prj_1', ACCESS, VARIABLE, signal());
  expect(answer.kind).toBe('refused');
  for (const secret of SECRETS) expect(JSON.stringify(answer)).not.toContain(secret);
});

test.each(NONSENSE)(
  'a variable is answered with %s -> to be tried again; nothing of it is told',
  async (_, reply) => {
    const { installer } = await against(reply);
    const text = await failureOf(installer.write('prj_1', ACCESS, VARIABLE, signal()));
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  },
);

test.each(NONSENSE)(
  'the project’s name is answered with %s -> to be tried again; nothing of it is told',
  async (_, reply) => {
    const { installer } = await against(reply);
    const text = await failureOf(installer.nameOf('prj_1', ACCESS, signal()));
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  },
);

test.each([
  ['another project of that name', json(200, { id: 'prj_2', name: 'prj_1' })],
  ['no access', json(403, { error: { code: CANARY } })],
  ['no such project', json(404, { error: { code: CANARY } })],
])('the project’s name is answered with %s -> none', async (_, reply) => {
  const { installer } = await against(reply);
  expect(await installer.nameOf('prj_1', ACCESS, signal())).toBeNull();
});
