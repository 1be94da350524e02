/** Devin's side of a connection, against servers that answer anything at all. */
import { expect, test } from 'vitest';
import { createPartner } from '../../src/connect/partner.js';
import { TransientError } from '../../src/errors.js';
import { CANARY, json, NONSENSE, type Reply, serve } from './server.js';

const GRANT = { code: 'canary-code', verifier: 'canary-verifier' };
const TOKEN = 'cog_canary-token';
const signal = () => AbortSignal.timeout(30_000);

async function against(reply: Reply, listed: readonly string[] = []) {
  const { url, asked } = await serve(reply);
  const partner = createPartner({
    connectUrl: 'https://app.devin.ai/outposts/connect',
    apiUrl: url,
    callbackUrl: 'https://outposts.example.com/connect/callback',
    outpostName: 'vercel-sandbox',
    trustedHosts: [new URL(url).host, ...listed],
  });
  return { partner, asked, url };
}

const good = (changes: Record<string, unknown> = {}) =>
  json(200, {
    access_token: TOKEN,
    api_base_url: 'https://api.devin.ai',
    outpost_id: 'outpost_env-1',
    ...changes,
  });

const failureOf = async (act: Promise<unknown>): Promise<Error> => {
  const error = await act.then(
    (answer) => new Error(`answered ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TransientError);
  return error as Error;
};

/** All that is shown of an error anywhere: its message, and that of what is beneath it. */
const told = (error: Error): string => `${error.message} ${String(error.cause ?? '')} ${error.stack}`;

test('what is sent -> a form with code and verifier in its body, nothing of it in the address', async () => {
  const { partner, asked } = await against(good());
  await partner.exchange(GRANT, signal());
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: 'POST', url: '/outposts/connection-token' });
  expect(asked[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(asked[0]?.headers.authorization).toBeUndefined();
  expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
    grant_type: 'authorization_code',
    code: GRANT.code,
    code_verifier: GRANT.verifier,
  });
});

test.each([
  ['as documented', {}, 'outpost_env-1'],
  ['under the older name', { outpost_id: undefined, outpost_pool_id: 'pool_1' }, 'pool_1'],
  ['under both names', { outpost_pool_id: 'pool_1' }, 'outpost_env-1'],
])('the outpost is named %s -> granted', async (_, changes, outpostId) => {
  const { partner } = await against(good(changes));
  expect(await partner.exchange(GRANT, signal())).toEqual({
    kind: 'granted',
    credentials: { token: TOKEN, apiUrl: 'https://api.devin.ai', outpostId, outpostName: null },
  });
});

test.each(NONSENSE)(
  'the exchange is answered with %s -> to be tried again; nothing of it is told',
  async (_, reply) => {
    const { partner } = await against(reply);
    const text = told(await failureOf(partner.exchange(GRANT, signal())));
    for (const secret of [CANARY, GRANT.code, GRANT.verifier]) expect(text).not.toContain(secret);
  },
);

test.each([
  ['access_token', { access_token: undefined }],
  ['access_token', { access_token: CANARY }],
  ['access_token', { access_token: `cog_${CANARY}\r\nx: y` }],
  ['access_token', { access_token: { cog_: CANARY } }],
  ['api_base_url', { api_base_url: undefined }],
  ['api_base_url', { api_base_url: 17 }],
  ['outpost_id', { outpost_id: undefined }],
  ['outpost_id', { outpost_id: `../${CANARY}` }],
  ['outpost_pool_id', { outpost_id: undefined, outpost_pool_id: `${CANARY}?x` }],
])('%s is missing or odd -> a failure that names the field, and no value', async (field, changes) => {
  const { partner } = await against(good(changes));
  const error = await failureOf(partner.exchange(GRANT, signal()));
  expect(error.message).toContain(`(${field})`);
  for (const secret of [CANARY, TOKEN]) expect(told(error)).not.toContain(secret);
});

test.each([
  ['invalid_grant', 400, true],
  ['invalid_request', 400, false],
  ['invalid_client', 401, false],
  [CANARY, 403, false],
])(
  '%s -> refused in our own words, and known whether the code is to blame',
  async (error, status, ofCode) => {
    const { partner } = await against(json(status, { error, error_description: CANARY }));
    const answer = await partner.exchange(GRANT, signal());
    expect(answer).toMatchObject({ kind: 'refused', ofCode });
    expect(JSON.stringify(answer)).not.toContain(CANARY);
  },
);

test('the documented path is unknown there -> the fleet’s is tried with the same code', async () => {
  const { partner, asked } = await against((response, { url, body, method, headers }) =>
    (url.startsWith('/opbeta/') ? good() : json(404, { error: 'not_found' }))(response, {
      url,
      body,
      method,
      headers,
    }),
  );
  expect((await partner.exchange(GRANT, signal())).kind).toBe('granted');
  expect(asked.map(({ url }) => url)).toEqual([
    '/outposts/connection-token',
    '/opbeta/outposts/connection-token',
  ]);
  expect(asked[1]?.body).toBe(asked[0]?.body);
});

test('neither path is known there -> refused, naming the setting', async () => {
  const { partner } = await against((response) => response.writeHead(404).end('<h1>Not found</h1>'));
  expect(await partner.exchange(GRANT, signal())).toMatchObject({
    kind: 'refused',
    ofCode: false,
    problem: expect.stringContaining('DEVIN_API_URL'),
  });
});

test.each([307, 308, 302])(
  'the exchange is redirected by %i -> the code goes nowhere else',
  async (status) => {
    const elsewhere = await serve(good());
    const { partner } = await against((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    await failureOf(partner.exchange(GRANT, signal()));
    expect(elsewhere.asked).toEqual([]);
  },
);

test.each([
  'https://evil.example',
  'https://api.devin.ai.evil.example',
  'http://api.devin.ai',
  'https://user:pw@api.devin.ai',
  `https://${CANARY.toUpperCase()}\u0000.example`,
  `data:text/html,${CANARY}`,
])(
  'the API is said to be at %j -> refused, naming the setting; of the address at most the host is told',
  async (api) => {
    const { partner } = await against(good({ api_base_url: api }));
    const answer = await partner.exchange(GRANT, signal());
    expect(answer).toMatchObject({
      kind: 'refused',
      ofCode: false,
      problem: expect.stringContaining('DEVIN_API_HOSTS'),
    });
    for (const secret of [TOKEN, 'user', CANARY]) expect(JSON.stringify(answer)).not.toContain(secret);
  },
);

test('Devin names an instant to come back at -> passed on, but never more than a minute', async () => {
  for (const [given, expected] of [
    ['7', 7_000],
    ['86400', 60_000],
    ['soon', null],
    ['-1', null],
  ] as const) {
    const { partner } = await against(json(429, {}, { 'retry-after': given }));
    expect(await failureOf(partner.exchange(GRANT, signal()))).toMatchObject({ retryAfterMs: expected });
  }
});

test('the caller goes away while Devin is silent -> the exchange ends with the caller’s reason', async () => {
  const going = new AbortController();
  const { partner } = await against(() => going.abort(new Error('gone')));
  await expect(partner.exchange(GRANT, going.signal)).rejects.toThrow('gone');
});

const credentials = (apiUrl: string) => ({
  token: TOKEN,
  apiUrl,
  outpostId: 'outpost_env-1',
  outpostName: null,
});

test('the token is tried -> one look at the queue of the outpost, with the token in a header', async () => {
  const { partner, asked, url } = await against(json(200, { items: [] }));
  expect(await partner.accepts(credentials(url), signal())).toBe(true);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: 'GET', headers: { authorization: `Bearer ${TOKEN}` } });
  expect(asked[0]?.url).not.toContain(TOKEN);
});

test.each([401, 403])('the token is tried and answered %i -> not accepted', async (status) => {
  const { partner, url } = await against(json(status, { error: CANARY }));
  expect(await partner.accepts(credentials(url), signal())).toBe(false);
});

test.each([404, 400, 302, 500, 429])(
  'the token is tried and answered %i -> to be tried again',
  async (status) => {
    const { partner, url } = await against(
      json(status, { error: CANARY }, { location: 'http://127.0.0.1:1/' }),
    );
    const text = told(await failureOf(partner.accepts(credentials(url), signal())));
    for (const secret of [CANARY, TOKEN]) expect(text).not.toContain(secret);
  },
);

test('nobody listens there -> to be tried again, and no address is told', async () => {
  const { partner } = await against(good());
  const text = told(await failureOf(partner.accepts(credentials('http://127.0.0.1:1'), signal())));
  expect(text).not.toContain(TOKEN);
});

test('Devin is silent, or stops in the middle of its answer -> given up on and to be tried again', async () => {
  const silent = await against(() => undefined);
  const stopping = await against((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"access_token":"cog_${CANARY}`);
  });
  const texts = await Promise.all(
    [silent, stopping].map(({ partner }) =>
      failureOf(partner.exchange(GRANT, signal())).then((error) => told(error)),
    ),
  );
  for (const text of texts) expect(text).not.toMatch(/canary/);
}, 25_000);
