import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/index.js';
import { COMPLETE, configOf, MODES, NOW, namesOf, oidc, parse, problemsOf } from './support.js';

describe('what each mode needs', () => {
  it.each(MODES)('%s with all of it -> no problem, no warning', (mode) => {
    expect(parse(mode)).toMatchObject({ kind: 'ok', warnings: [], config: { mode } });
  });

  it.each([
    [
      'server',
      [
        'DEVIN_OUTPOSTS_TOKEN',
        'DEVIN_OUTPOST_ID',
        'VERCEL_TOKEN',
        'VERCEL_TEAM_ID',
        'VERCEL_PROJECT_ID',
        'DATABASE_URL',
      ],
    ],
    ['vercel', ['DEVIN_CONNECTION_SECRET', 'VERCEL_PROJECT_ID', 'DATABASE_URL', 'CRON_SECRET']],
  ] as const)('%s with nothing -> each missing variable is named, once', (mode, names) => {
    const result = parseConfig({}, { mode, now: NOW });
    expect(result.kind === 'problems' && namesOf(result.problems)).toEqual(names);
  });

  it('server with an OIDC token instead of the three -> team and project come from its claims', () => {
    const VERCEL_OIDC_TOKEN = oidc({ owner_id: 'team_o', project_id: 'prj_o', exp: NOW / 1000 + 60 });
    const config = configOf('server', { VERCEL_TOKEN: '', VERCEL_TEAM_ID: '', VERCEL_OIDC_TOKEN });
    expect(config.accounts?.vercel).toMatchObject({ source: 'VERCEL_OIDC_TOKEN', projectId: 'prj_o' });
  });

  it('server with a file as database -> accepted', () => {
    expect(configOf('server', { DATABASE_URL: 'file:x.db' }).databaseUrl.reveal()).toBe('file:x.db');
  });
});

describe('on Vercel', () => {
  it("sandboxes are made with the deployment's own identity", () => {
    expect(configOf('vercel').accounts?.vercel).toEqual({
      source: 'deployment',
      token: null,
      projectId: 'prj_1',
    });
  });

  it('a token and a team, even malformed -> ignored, each with a warning to remove it', () => {
    const result = parse('vercel', { VERCEL_TOKEN: 'a b', VERCEL_TEAM_ID: 'prj_1' });
    expect(result).toMatchObject({ kind: 'ok', config: { accounts: { vercel: { source: 'deployment' } } } });
    expect(result.warnings).toEqual([
      { variable: 'VERCEL_TOKEN', problem: expect.stringContaining('Remove it') },
      { variable: 'VERCEL_TEAM_ID', problem: expect.stringContaining('Remove it') },
    ]);
  });

  it.each([
    ['prj_1', []],
    ['prj_2', ['VERCEL_PROJECT_ID']],
  ])('the project that Vercel names, beside a token of project %s -> warns of %j', (project_id, names) => {
    const VERCEL_OIDC_TOKEN = oidc({ owner_id: 'team_o', project_id, exp: NOW / 1000 - 60 });
    expect(namesOf(parse('vercel', { VERCEL_OIDC_TOKEN }).warnings)).toEqual(names);
  });

  it('an OIDC token of any shape -> no problem: requests bring their own', () => {
    expect(problemsOf('vercel', { VERCEL_OIDC_TOKEN: 'nonsense' })).toEqual([]);
  });

  it('no database -> one problem that names the two clicks', () => {
    expect(problemsOf('vercel', { DATABASE_URL: ' ' })).toEqual([
      {
        variable: 'DATABASE_URL',
        problem: expect.stringMatching(/^is missing.*Storage tab.*Create Database/),
      },
    ]);
  });

  it('no database, but another variable has the address of one -> that variable is named, its value is not', () => {
    const [problem] = problemsOf('vercel', {
      DATABASE_URL: undefined,
      POSTGRES_URL: 'postgres://u:hunter2@h/d',
    });
    expect(problem?.problem).toContain('POSTGRES_URL');
    expect(problem?.problem).not.toContain('hunter2');
  });

  it('a file as database -> refused, and never a default', () => {
    expect(problemsOf('vercel', { DATABASE_URL: 'file:/tmp/x.db' })).toEqual([
      { variable: 'DATABASE_URL', problem: expect.stringMatching(/postgres:\/\/.*Storage tab/) },
    ]);
  });

  it.each(MODES)('a database address of no use, in %s -> one problem, of DATABASE_URL', (mode) => {
    expect(namesOf(problemsOf(mode, { DATABASE_URL: 'mysql://h/d' }))).toEqual(['DATABASE_URL']);
    expect(namesOf(problemsOf(mode, { DATABASE_URL: 'postgres://h:port/d' }))).toEqual(['DATABASE_URL']);
  });

  it('the secret of the cron -> known, and never printed', () => {
    const config = configOf('vercel');
    expect(config.cronSecret?.reveal()).toBe('0123456789abcdef');
    expect(JSON.stringify(config)).not.toContain('0123456789abcdef');
  });
});

describe('where sandboxes ring', () => {
  it("on Vercel -> the production address, never this deployment's own", () => {
    expect(configOf('vercel').publicUrl).toBe('https://outposts.example.com');
  });

  it('on Vercel without a production address -> nowhere', () => {
    expect(configOf('vercel', { VERCEL_PROJECT_PRODUCTION_URL: ' ' }).publicUrl).toBeNull();
  });

  it('elsewhere -> nowhere, unless PUBLIC_URL says so', () => {
    const VERCEL_PROJECT_PRODUCTION_URL = 'outposts.example.com';
    for (const mode of ['embedded', 'local', 'server'] as const) {
      expect(configOf(mode, { VERCEL_PROJECT_PRODUCTION_URL }).publicUrl).toBeNull();
      expect(configOf(mode, { PUBLIC_URL: 'https://o.example.com/' }).publicUrl).toBe(
        'https://o.example.com',
      );
    }
  });

  it('PUBLIC_URL without CRON_SECRET -> a warning, where it is not needed anyway', () => {
    const PUBLIC_URL = 'https://o.example.com';
    expect(namesOf(parse('local', { PUBLIC_URL }).warnings)).toEqual(['PUBLIC_URL']);
    expect(parse('local', { PUBLIC_URL, CRON_SECRET: '0123456789abcdef' }).warnings).toEqual([]);
  });

  it('a production address that is none -> a problem of PUBLIC_URL', () => {
    expect(namesOf(problemsOf('vercel', { VERCEL_PROJECT_PRODUCTION_URL: 'a b' }))).toEqual(['PUBLIC_URL']);
  });

  it('DOORBELL_FOR_RESTRICTED=true -> restricted sessions may ring', () => {
    expect(configOf('server', { DOORBELL_FOR_RESTRICTED: 'true' }).doorbellForRestricted).toBe(true);
  });
});

describe('how often sandboxes are looked at', () => {
  it.each([
    ['embedded', 120_000, 120_000],
    ['local', 120_000, 120_000],
    ['server', 60_000, 15_000],
    ['vercel', 60_000, 15_000],
  ] as const)(
    '%s -> every %i ms, and every %i ms while the doorbell was not heard',
    (mode, heard, unheard) => {
      expect(configOf(mode)).toMatchObject({ probeIntervalMs: heard, unheardProbeIntervalMs: unheard });
    },
  );

  it('looked at more often than every 15 s -> those that are not heard too', () => {
    expect(configOf('vercel', { PROBE_INTERVAL_MS: '10000' }).unheardProbeIntervalMs).toBe(10_000);
    expect(configOf('local', { PROBE_INTERVAL_MS: '10000' }).unheardProbeIntervalMs).toBe(10_000);
  });

  it('UNHEARD_PROBE_INTERVAL_MS -> what it says', () => {
    expect(configOf('server', { UNHEARD_PROBE_INTERVAL_MS: '30000' }).unheardProbeIntervalMs).toBe(30_000);
  });
});

describe('plans', () => {
  it.each([
    ['hobby', 2_700_000],
    ['pro', 86_400_000],
    ['enterprise', 86_400_000],
  ])('%s -> a vm lives %i ms unless told otherwise', (VERCEL_PLAN, maxLifetimeMs) => {
    for (const mode of MODES)
      expect(configOf(mode, { VERCEL_PLAN }).sandbox.maxLifetimeMs).toBe(maxLifetimeMs);
  });

  it.each([
    ['hobby', 'SANDBOX_MAX_LIFETIME_MS', '2700000', '2700001'],
    ['pro', 'SANDBOX_MAX_LIFETIME_MS', '86400000', '86400001'],
    ['hobby', 'SANDBOX_VCPUS', '4', '6'],
    ['pro', 'SANDBOX_VCPUS', '8', '10'],
    ['enterprise', 'SANDBOX_VCPUS', '32', '34'],
    ['hobby', 'MAX_CONCURRENT', '10', '11'],
    ['pro', 'MAX_CONCURRENT', '2000', '2001'],
  ])('%s takes %s=%s and refuses %s', (VERCEL_PLAN, name, most, more) => {
    expect(problemsOf('vercel', { VERCEL_PLAN, [name]: most })).toEqual([]);
    expect(namesOf(problemsOf('vercel', { VERCEL_PLAN, [name]: more }))).toEqual([name]);
  });

  it('more than the plan allows -> every such problem names the plan and its variable', () => {
    const problems = problemsOf('server', {
      VERCEL_PLAN: 'hobby',
      SANDBOX_MAX_LIFETIME_MS: '86400000',
      SANDBOX_VCPUS: '8',
      MAX_CONCURRENT: '50',
    });
    expect(problems).toHaveLength(3);
    for (const { problem } of problems) expect(problem).toMatch(/hobby plan .*VERCEL_PLAN/);
  });

  it('a first life longer than what the plan gives by default -> a problem that names the plan', () => {
    expect(problemsOf('server', { VERCEL_PLAN: 'hobby', SANDBOX_TIMEOUT_MS: '3600000' })).toEqual([
      { variable: 'SANDBOX_TIMEOUT_MS', problem: expect.stringMatching(/2700000 on the hobby plan/) },
    ]);
  });

  it('a plan that does not exist -> only that is a problem', () => {
    const changes = { VERCEL_PLAN: 'free', SANDBOX_VCPUS: '32' };
    expect(namesOf(problemsOf('server', changes))).toEqual(['VERCEL_PLAN']);
  });
});

describe('ids and tokens taken for one another', () => {
  it.each([
    ['VERCEL_TEAM_ID', 'prj_1', 'a Vercel project'],
    ['VERCEL_TEAM_ID', 'vcp_hunter2', "Vercel's token"],
    ['VERCEL_PROJECT_ID', 'team_1', 'a Vercel team'],
    ['VERCEL_PROJECT_ID', 'dpl_1', 'a Vercel deployment'],
    ['VERCEL_PROJECT_ID', 'outpost_env-1', 'an outpost'],
    ['DEVIN_OUTPOST_ID', 'prj_1', 'a Vercel project'],
    ['DEVIN_OUTPOST_ID', 'cog_hunter2', "Devin's token"],
    ['DEVIN_OUTPOST_ID', `devin-${'0'.repeat(32)}`, 'a Devin session'],
    ['VERCEL_TOKEN', 'team_1', 'a Vercel team'],
    ['VERCEL_TOKEN', 'cog_hunter2', "Devin's token"],
  ])('%s=%s -> refused as what it looks like, without repeating it', (name, value, words) => {
    expect(problemsOf('local', { [name]: value })).toEqual([
      {
        variable: name,
        problem: expect.stringContaining(
          `looks like ${words.startsWith('a') ? `the id of ${words}` : words}`,
        ),
      },
    ]);
    expect(JSON.stringify(parse('local', { [name]: value }))).not.toContain('hunter2');
  });

  it.each([
    ['VERCEL_TEAM_ID', 'acme'],
    ['VERCEL_PROJECT_ID', 'devin-outposts'],
    ['VERCEL_PROJECT_ID', 'QmaUpHBcfVVgMi1yvCBeXfvxGnG3LkmV8yLnBKYj5gV6Gs'],
    ['DEVIN_OUTPOST_ID', 'pool_1'],
    ['DEVIN_OUTPOST_ID', 'o-1'],
    ['VERCEL_TOKEN', 'AbCdEfGhIjKlMnOpQrStUvWx'],
  ])('%s=%s, of a shape of its own -> accepted', (name, value) => {
    expect(problemsOf('local', { [name]: value })).toEqual([]);
  });

  it('an id with characters that none has -> one problem', () => {
    expect(namesOf(problemsOf('local', { VERCEL_TEAM_ID: 'team_1/../x' }))).toEqual(['VERCEL_TEAM_ID']);
  });
});

it('the environment is only read', () => {
  const env = Object.freeze({ ...COMPLETE.vercel });
  expect(parseConfig(env, { mode: 'vercel', now: NOW }).kind).toBe('ok');
});
