import { describe, expect, it } from 'vitest';
import { deploymentNotices } from '../../src/config/index.js';
import { COMPLETE, configOf, NOW, namesOf, parse, problemsOf } from './support.js';

const ROOT = 'r'.repeat(32);
const WITHOUT = { DEVIN_OUTPOSTS_TOKEN: '', DEVIN_OUTPOST_ID: '', DEVIN_CREDENTIALS_FROM_ENV: '' };

describe("where Devin's credentials come from", () => {
  it.each(['server', 'vercel'] as const)(
    '%s without any, and a secret to seal a connection with -> from the browser',
    (mode) => {
      const { accounts, connect } = configOf(mode, { ...WITHOUT, DEVIN_CONNECTION_SECRET: ROOT });
      expect(accounts?.devin.credentials).toBeNull();
      expect(connect.secret?.reveal()).toBe(ROOT);
    },
  );

  it('on Vercel, put there without the opt-in -> not used, and said with both ways out', () => {
    const changes = { DEVIN_CREDENTIALS_FROM_ENV: '', DEVIN_CONNECTION_SECRET: '', OPERATOR_SECRET: '' };
    expect(namesOf(problemsOf('vercel', changes))).toEqual(['DEVIN_CREDENTIALS_FROM_ENV']);
    const result = parse('vercel', { ...changes, DEVIN_CONNECTION_SECRET: ROOT });
    expect(result).toMatchObject({ kind: 'ok', config: { accounts: { devin: { credentials: null } } } });
    expect(namesOf(result.warnings)).toEqual(['DEVIN_OUTPOSTS_TOKEN']);
  });

  it('on Vercel, half of them with the opt-in -> the other half is missing', () => {
    const changes = { DEVIN_OUTPOST_ID: '', DEVIN_CONNECTION_SECRET: ROOT };
    expect(namesOf(problemsOf('vercel', changes))).toEqual(['DEVIN_OUTPOST_ID']);
  });

  it('on this machine -> from the environment, without an opt-in, and needed', () => {
    expect(configOf('local').accounts?.devin.credentials?.outpostId).toBe('outpost_env-1');
    expect(namesOf(problemsOf('local', { ...WITHOUT, DEVIN_CONNECTION_SECRET: ROOT }))).toEqual([
      'DEVIN_OUTPOSTS_TOKEN',
      'DEVIN_OUTPOST_ID',
    ]);
  });

  it('an opt-in that is neither yes nor no -> one problem', () => {
    expect(namesOf(problemsOf('server', { DEVIN_CREDENTIALS_FROM_ENV: 'yes' }))).toEqual([
      'DEVIN_CREDENTIALS_FROM_ENV',
    ]);
  });
});

describe('where browsers come back to', () => {
  it.each([
    ['the public address', {}, 'https://outposts.example.com/connect/callback'],
    ['what Devin has on its list', { DEVIN_OAUTH_CALLBACK_URL: 'https://a.b/c' }, 'https://a.b/c'],
    ['nowhere, without an address', { VERCEL_PROJECT_PRODUCTION_URL: '' }, null],
  ])('%s', (_, changes, expected) => {
    expect(configOf('vercel', changes).connect.callbackUrl).toBe(expected);
  });
});

describe("setting up other people's projects", () => {
  const CLIENT = { VERCEL_INTEGRATION_CLIENT_ID: 'oac_1', VERCEL_INTEGRATION_CLIENT_SECRET: 'hunter2' };

  it('with both halves of the client -> from the public address', () => {
    const { integration } = configOf('vercel', { ...CLIENT, DEVIN_CONNECTION_SECRET: ROOT }).connect;
    expect(integration).toMatchObject({
      clientId: 'oac_1',
      apiUrl: 'https://api.vercel.com',
      redirectUrl: 'https://outposts.example.com/integration/callback',
    });
  });

  it.each([
    ['VERCEL_INTEGRATION_CLIENT_ID'],
    ['VERCEL_INTEGRATION_CLIENT_SECRET'],
    ['DEVIN_CONNECTION_SECRET'],
  ])('without %s -> that is missing', (name) => {
    const all = { ...CLIENT, DEVIN_CONNECTION_SECRET: ROOT };
    expect(namesOf(problemsOf('vercel', { ...all, OPERATOR_SECRET: '', [name]: '' }))).toEqual([name]);
  });

  it('without a public address -> that is missing', () => {
    const changes = { ...CLIENT, DEVIN_CONNECTION_SECRET: ROOT, VERCEL_PROJECT_PRODUCTION_URL: '' };
    expect(namesOf(problemsOf('vercel', changes))).toEqual(['PUBLIC_URL']);
  });
});

describe('secrets', () => {
  const SECRETS = {
    DEVIN_CONNECTION_SECRET: ROOT,
    DEVIN_CONNECTION_SECRET_PREVIOUS: 'p'.repeat(32),
    OPERATOR_SECRET: 'o'.repeat(16),
    VIEWER_SECRET: 'v'.repeat(16),
  };

  it('all of them -> known, and never printed', () => {
    const config = configOf('vercel', SECRETS);
    expect(config.operators.operatorSecret?.reveal()).toBe(SECRETS.OPERATOR_SECRET);
    for (const value of Object.values(SECRETS)) expect(JSON.stringify(config)).not.toContain(value);
  });

  it.each([
    ['DEVIN_CONNECTION_SECRET', 'hunter2'.padEnd(31, '2')],
    ['OPERATOR_SECRET', 'hunter2'],
    ['VIEWER_SECRET', 'hunter2 hunter2 hunter2'],
  ])('%s too short, or with spaces -> one problem, without its value', (name, value) => {
    const result = parse('vercel', { ...SECRETS, [name]: value });
    expect(result.kind === 'problems' && namesOf(result.problems)).toEqual([name]);
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('two that are the same -> refused: who knows one must not know the other', () => {
    const changes = { ...SECRETS, VIEWER_SECRET: SECRETS.OPERATOR_SECRET };
    expect(problemsOf('vercel', changes)).toEqual([
      { variable: 'VIEWER_SECRET', problem: 'should not be the same as OPERATOR_SECRET' },
    ]);
  });

  it('roles without the secret that signs cookies -> said once', () => {
    const changes = { ...SECRETS, DEVIN_CONNECTION_SECRET: '', DEVIN_CONNECTION_SECRET_PREVIOUS: '' };
    expect(problemsOf('vercel', changes)).toEqual([
      {
        variable: 'DEVIN_CONNECTION_SECRET',
        problem: expect.stringMatching(/OPERATOR_SECRET, VIEWER_SECRET/),
      },
    ]);
  });

  it('nobody may sign in on Vercel -> a notice, and none with an operator', () => {
    const notices = deploymentNotices({ ...COMPLETE.vercel, OPERATOR_SECRET: ' ' }, NOW);
    expect(namesOf(notices)).toEqual(['OPERATOR_SECRET']);
  });
});

it.each([
  ['127.0.0.1:8080, Devin.Example.com', ['127.0.0.1:8080', 'devin.example.com']],
  ['[::1]:1', ['[::1]:1']],
])('DEVIN_API_HOSTS=%s -> %j', (text, hosts) => {
  expect(configOf('server', { DEVIN_API_HOSTS: text }).connect.trustedHosts).toEqual(hosts);
});

it.each(['https://a.b', 'a.b/c', 'a b', '*', 'a.b,', 'user@a.b'])('DEVIN_API_HOSTS=%s -> refused', (text) => {
  expect(namesOf(problemsOf('server', { DEVIN_API_HOSTS: text }))).toEqual(['DEVIN_API_HOSTS']);
});
