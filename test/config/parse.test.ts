import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeProblems, parseConfig, Secret } from '../../src/config/index.js';

const ACCOUNTS = {
  DEVIN_OUTPOSTS_TOKEN: 'cog_verysecret',
  DEVIN_OUTPOST_ID: 'outpost_env-1',
  VERCEL_TOKEN: 'vercelsecret',
  VERCEL_TEAM_ID: 'team_1',
  VERCEL_PROJECT_ID: 'prj_1',
};
const NOW = Date.UTC(2026, 8, 1);

function problemsOf(env: Record<string, string>, mode: 'embedded' | 'local' = 'embedded') {
  const result = parseConfig(env, { mode, now: NOW });
  return result.kind === 'problems' ? result.problems : [];
}
function configOf(env: Record<string, string>, mode: 'embedded' | 'local' = 'embedded') {
  const result = parseConfig(env, { mode, now: NOW });
  if (result.kind === 'problems') throw new Error(describeProblems(result.problems));
  return result.config;
}
const namesOf = (problems: readonly { variable: string }[]) => problems.map(({ variable }) => variable);
const oidc = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

describe('an empty environment', () => {
  it('in the embedded world -> the documented defaults, no accounts', () => {
    const { databaseUrl, ...rest } = configOf({});
    expect(databaseUrl.reveal()).toBe('file:.outposts/embedded.db');
    expect(rest).toEqual({
      mode: 'embedded',
      accounts: null,
      connect: {
        secret: null,
        previousSecret: null,
        callbackUrl: null,
        connectUrl: 'https://app.devin.ai/outposts/connect',
        apiUrl: 'https://api.devin.ai',
        trustedHosts: [],
        outpostName: 'vercel-sandbox',
        integration: null,
      },
      operators: { operatorSecret: null, viewerSecret: null },
      acceptorId: 'vercel',
      plan: 'pro',
      cronSecret: null,
      publicUrl: null,
      doorbellForRestricted: false,
      sandbox: {
        runtime: 'node24',
        image: null,
        region: null,
        vcpus: 2,
        timeoutMs: 1_200_000,
        maxLifetimeMs: 86_400_000,
        snapshotExpirationMs: 2_592_000_000,
      },
      maxConcurrent: 5,
      pollIntervalMs: 3000,
      probeIntervalMs: 120_000,
      unheardProbeIntervalMs: 120_000,
      claimRenewMarginMs: 60_000,
      port: 3000,
    });
  });

  it('in local mode -> every missing account variable is named, once', () => {
    expect(namesOf(problemsOf({}, 'local'))).toEqual([
      'DEVIN_OUTPOSTS_TOKEN',
      'DEVIN_OUTPOST_ID',
      'VERCEL_TOKEN',
      'VERCEL_TEAM_ID',
      'VERCEL_PROJECT_ID',
    ]);
  });
});

describe('accounts', () => {
  it('all five variables -> local mode has both accounts', () => {
    const { accounts } = configOf(ACCOUNTS, 'local');
    expect(accounts?.devin).toMatchObject({
      apiUrl: 'https://api.devin.ai',
      credentials: { outpostId: 'outpost_env-1' },
      staticBaseUrl: 'https://static.devin.ai/devin-rs/remote',
    });
    expect(accounts?.devin.credentials?.token.reveal()).toBe('cog_verysecret');
    expect(accounts?.vercel).toMatchObject({
      source: 'VERCEL_TOKEN',
      teamId: 'team_1',
      projectId: 'prj_1',
    });
    expect(accounts?.vercel.token?.reveal()).toBe('vercelsecret');
  });

  it('two of the three Vercel variables -> the third is named', () => {
    expect(namesOf(problemsOf({ ...ACCOUNTS, VERCEL_TEAM_ID: ' ' }, 'local'))).toEqual(['VERCEL_TEAM_ID']);
  });

  it('an OIDC token instead of the three -> team and project come from its claims', () => {
    const token = oidc({ owner_id: 'team_o', project_id: 'prj_o', exp: NOW / 1000 + 60 });
    const env = {
      DEVIN_OUTPOSTS_TOKEN: 'cog_x',
      DEVIN_OUTPOST_ID: 'o',
      VERCEL_OIDC_TOKEN: token,
      VERCEL_PROJECT_ID: 'prj_x',
    };
    const vercel = configOf(env, 'local').accounts?.vercel;
    expect(vercel).toMatchObject({ source: 'VERCEL_OIDC_TOKEN', teamId: 'team_o', projectId: 'prj_o' });
    expect(vercel?.token?.reveal()).toBe(token);
  });

  it.each([
    ['has expired', oidc({ owner_id: 'team_o', project_id: 'prj_o', exp: NOW / 1000 - 1 })],
    ['should name its team and project', oidc({ sub: 'x' })],
    ['three parts', 'nodots'],
  ])('an OIDC token that %s -> a problem that says so', (says, token) => {
    const problems = problemsOf(
      { DEVIN_OUTPOSTS_TOKEN: 'cog_x', DEVIN_OUTPOST_ID: 'o', VERCEL_OIDC_TOKEN: token },
      'local',
    );
    expect(problems).toEqual([{ variable: 'VERCEL_OIDC_TOKEN', problem: expect.stringContaining(says) }]);
  });

  it('broken account variables in the embedded world -> ignored, and one warning names those that are set', () => {
    const result = parseConfig(
      {
        DEVIN_OUTPOSTS_TOKEN: 'nonsense',
        DEVIN_API_URL: ':',
        VERCEL_PROJECT_ID: 'team_x',
        VERCEL_TOKEN: ' ',
      },
      { mode: 'embedded' },
    );
    expect(result).toMatchObject({ kind: 'ok', config: { accounts: null } });
    expect(result.warnings).toEqual([
      {
        variable: 'DEVIN_OUTPOSTS_TOKEN, DEVIN_API_URL, VERCEL_PROJECT_ID',
        problem: expect.stringMatching(/^are not used here.*start:local/),
      },
    ]);
  });

  it('settings that are no accounts in the embedded world -> used, without a warning', () => {
    const { warnings } = parseConfig({ ACCEPTOR_ID: 'me', VERCEL_PLAN: 'hobby' }, { mode: 'embedded' });
    expect(warnings).toEqual([]);
    expect(configOf({ ACCEPTOR_ID: 'me', VERCEL_PLAN: 'hobby' })).toMatchObject({
      acceptorId: 'me',
      plan: 'hobby',
    });
  });
});

describe('malformed values', () => {
  it('many at once -> all reported at once', () => {
    const problems = problemsOf(
      {
        ...ACCOUNTS,
        DEVIN_API_URL: 'http://api.devin.ai',
        SANDBOX_VCPUS: '3',
        SANDBOX_TIMEOUT_MS: '86400000',
        SANDBOX_MAX_LIFETIME_MS: '2700000',
        MAX_CONCURRENT: 'NaN',
        PORT: '70000',
        SANDBOX_IMAGE: 'ubuntu',
        SANDBOX_RUNTIME: 'node24',
      },
      'local',
    );
    expect(namesOf(problems).sort()).toEqual(
      [
        'DEVIN_API_URL',
        'SANDBOX_VCPUS',
        'SANDBOX_TIMEOUT_MS',
        'MAX_CONCURRENT',
        'PORT',
        'SANDBOX_IMAGE',
      ].sort(),
    );
  });

  it.each([
    '20m',
    ' 5',
    '5 ',
    '-5',
    '+5',
    '5.0',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '5,000',
    '٥',
    '0',
    '9999999999999999',
  ])('MAX_CONCURRENT=%j -> refused, saying what it should be', (MAX_CONCURRENT) => {
    expect(problemsOf({ MAX_CONCURRENT })).toEqual([
      { variable: 'MAX_CONCURRENT', problem: expect.stringContaining('whole number from 1 to 2000') },
    ]);
  });

  it.each([
    ['SANDBOX_VCPUS', ['1', '2', '8'], ['0', '3', '10', '34']],
    ['SANDBOX_SNAPSHOT_EXPIRATION_MS', ['0', '86400000'], ['1', '86399999']],
    [
      'SANDBOX_RUNTIME',
      ['node22', 'node24', 'node26', 'python3.13'],
      ['node', 'node8', 'node20', 'python3.9', 'Node24', 'node24; rm', 'ruby'],
    ],
    ['SANDBOX_REGION', ['iad1', 'fra1'], ['IAD1', 'iad', 'iad12', 'us-east-1', 'iad1 ']],
    ['SANDBOX_IMAGE', ['ubuntu', 'node:24', 'vercel/sandbox/universal:latest'], ['-x', 'a b', '$(x)', '/a']],
    ['ACCEPTOR_ID', ['a', 'A_b-9', 'x'.repeat(40)], ['a b', 'a.b', 'x'.repeat(41), 'ä']],
    [
      'DATABASE_URL',
      ['file:x.db', 'postgres://u:p@h/d', 'postgresql://h/d', 'postgres://u:p%23@h:5432/d?sslmode=require'],
      [
        'x.db',
        'mysql://h/d',
        'file:',
        'http://h',
        'postgres://',
        'postgres://h:port/d',
        'postgres://u:p#w@h/d',
        'postgres://u:%zz@h/d',
        'prisma+postgres://h/d',
      ],
    ],
    ['VERCEL_PLAN', ['hobby', 'pro', 'enterprise'], ['Pro', 'free', 'toString']],
    [
      'CRON_SECRET',
      ['x'.repeat(16), '~!@#$%^&*()_+-=[]'],
      ['x'.repeat(15), `${'x'.repeat(16)} `, 'ä'.repeat(16)],
    ],
    ['DOORBELL_FOR_RESTRICTED', ['true', 'false'], ['yes', '1', 'TRUE']],
    ['CLAIM_RENEW_MARGIN_MS', ['10000', '240000'], ['9999', '240001', '1m']],
    ['UNHEARD_PROBE_INTERVAL_MS', ['1000', '600000'], ['999', '600001']],
    [
      'PUBLIC_URL',
      ['https://o.example.com/', 'http://127.0.0.1:3000'],
      ['o.example.com', 'http://o.example.com', 'https://u@o.example.com', 'https://o.example.com?x'],
    ],
    ['PORT', ['0', '1', '65535'], ['65536', '-1']],
  ])('%s takes %j and refuses %j', (name, good, bad) => {
    for (const value of good) expect(problemsOf({ [name]: value }), value).toEqual([]);
    for (const value of bad) expect(namesOf(problemsOf({ [name]: value })), value).toEqual([name]);
  });

  it.each([
    ['https://api.example.devinenterprise.com/', true],
    ['http://127.0.0.1:4000', true],
    ['http://[::1]:4000', true],
    ['http://localhost:4000/x', true],
    ['http://example.com', false],
    ['http://127.0.0.1.example.com', false],
    ['http://localhost@example.com', false],
    ['https://user:pass@api.devin.ai', false],
    ['https://api.devin.ai?x=1', false],
    ['https://api.devin.ai#x', false],
    ['file:///etc/passwd', false],
    ['api.devin.ai', false],
  ])('DEVIN_API_URL=%s -> accepted: %s', (DEVIN_API_URL, accepted) => {
    const refused = namesOf(problemsOf({ ...ACCOUNTS, DEVIN_API_URL }, 'local'));
    expect(refused).toEqual(accepted ? [] : ['DEVIN_API_URL']);
  });

  it('an address with slashes at its end -> without them', () => {
    const config = configOf({ ...ACCOUNTS, DEVIN_API_URL: 'https://eu.devin.ai/api//' }, 'local');
    expect(config.accounts?.devin.apiUrl).toBe('https://eu.devin.ai/api');
  });

  it('blank values -> count as unset, also beside what excludes them', () => {
    const config = configOf({ SANDBOX_RUNTIME: ' ', SANDBOX_IMAGE: 'ubuntu', MAX_CONCURRENT: '' });
    expect(config.sandbox).toMatchObject({ runtime: null, image: 'ubuntu' });
    expect(config.maxConcurrent).toBe(5);
  });
});

describe('secrets', () => {
  it('wrong secrets, or secrets in the wrong place -> never in a message', () => {
    const result = parseConfig(
      {
        DEVIN_OUTPOSTS_TOKEN: 'sk-hunter2hunter2',
        DEVIN_OUTPOST_ID: 'cog_hunter2 hunter2',
        DEVIN_API_URL: 'https://me:hunter2@api.devin.ai',
        VERCEL_TOKEN: 'hunter2 hunter2',
        VERCEL_OIDC_TOKEN: 'hunter2',
        DATABASE_URL: 'mysql://me:hunter2@host/db',
        MAX_CONCURRENT: 'cog_hunter2hunter2',
        SANDBOX_VCPU: 'hunter2',
        CRON_SECRET: 'hunter2',
        PUBLIC_URL: 'https://hunter2@x.example.com',
        SANDBOX_RUNTIME: 'hunter2',
        VERCEL_PLAN: 'hunter2',
        VERCEL_TEAM_ID: 'cog_hunter2',
      },
      { mode: 'local' },
    );
    expect(result.kind === 'problems' && result.problems.length).toBeGreaterThanOrEqual(12);
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('a configuration printed in any usual way -> no secret in it', () => {
    const config = configOf({ ...ACCOUNTS, DATABASE_URL: 'postgres://u:hunter2@h/d' }, 'local');
    for (const text of [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      `${config.databaseUrl}`,
    ])
      expect(text).not.toMatch(/verysecret|vercelsecret|hunter2/);
    expect(`${new Secret('x')}`).toBe('[secret]');
  });
});

describe('names that are nearly ours', () => {
  it.each([
    ['SANDBOX_VCPU', 'SANDBOX_VCPUS'],
    ['SANDBOX_TIMEOUT', 'SANDBOX_TIMEOUT_MS'],
    ['DEVIN_OUTPOST_TOKEN', 'DEVIN_OUTPOSTS_TOKEN'],
    ['MAX_CONCURRENCY', 'MAX_CONCURRENT'],
    ['sandbox_vcpus', 'SANDBOX_VCPUS'],
  ])('%s -> a warning that proposes %s', (wrong, right) => {
    const result = parseConfig({ [wrong]: '4' }, { mode: 'embedded' });
    expect(result.kind).toBe('ok');
    expect(result.warnings).toEqual([{ variable: wrong, problem: expect.stringContaining(`${right}?`) }]);
  });

  it('what Vercel and the databases of its Marketplace set -> no warning', () => {
    const names = [
      ...['VERCEL', 'VERCEL_ENV', 'VERCEL_TARGET_ENV', 'VERCEL_URL', 'VERCEL_BRANCH_URL', 'VERCEL_REGION'],
      ...['VERCEL_PROJECT_PRODUCTION_URL', 'VERCEL_DEPLOYMENT_ID', 'VERCEL_SKEW_PROTECTION_ENABLED'],
      ...['VERCEL_AUTOMATION_BYPASS_SECRET', 'VERCEL_GIT_PROVIDER', 'VERCEL_GIT_COMMIT_SHA'],
      ...['DATABASE_URL_UNPOOLED', 'DATABASE_URL_POOLED', 'PRISMA_DATABASE_URL', 'PGHOST', 'PGDATABASE'],
      ...['POSTGRES_URL', 'POSTGRES_URL_NON_POOLING', 'POSTGRES_DATABASE', 'SUPABASE_URL', 'NEXT_PUBLIC_URL'],
    ];
    const env = Object.fromEntries(names.map((name) => [name, '1']));
    expect(parseConfig(env, { mode: 'embedded' }).warnings).toEqual([]);
  });

  it('names of others -> no warning', () => {
    const env = {
      PATH: '/bin',
      PORTS: '1',
      VERCEL_URL: 'x',
      VERCEL_ENV: 'x',
      VERCEL_PROJECT_NAME: 'x',
      SANDBOX_VCPU: '',
    };
    expect(parseConfig(env, { mode: 'embedded' }).warnings).toEqual([]);
  });
});
