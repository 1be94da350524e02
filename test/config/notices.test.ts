import { describe, expect, it } from 'vitest';
import { deploymentNotices } from '../../src/config/index.js';
import { COMPLETE, NOW, namesOf, oidc } from './support.js';

type Env = Record<string, string | undefined>;
const onVercel = (changes: Env = {}) => deploymentNotices({ ...COMPLETE.vercel, ...changes }, NOW);
const onServer = (changes: Env = {}) => deploymentNotices({ ...COMPLETE.server, ...changes }, NOW);
const problemOf = (notices: readonly { variable: string; problem: string }[], variable: string) =>
  notices.filter((notice) => notice.variable === variable).map(({ problem }) => problem);

describe('a Vercel deployment', () => {
  it('in production, with all it needs -> nothing to say', () => {
    expect(onVercel()).toEqual([]);
  });

  it.each(['preview', 'development'])('%s -> no cron fires there: promote it', (VERCEL_ENV) => {
    const [problem] = problemOf(onVercel({ VERCEL_ENV }), 'VERCEL_ENV');
    expect(problem).toMatch(new RegExp(`^is ${VERCEL_ENV}:.*Promote.*production`));
  });

  it('a stray token and team -> each is to be removed', () => {
    const notices = onVercel({ VERCEL_TOKEN: 'hunter2', VERCEL_TEAM_ID: 'team_1' });
    expect(namesOf(notices)).toEqual(['VERCEL_TOKEN', 'VERCEL_TEAM_ID']);
    for (const { problem } of notices) expect(problem).toContain('Remove it');
  });

  it('no CRON_SECRET -> where to add it', () => {
    const [problem] = problemOf(onVercel({ CRON_SECRET: '' }), 'CRON_SECRET');
    expect(problem).toMatch(/is missing.*environment variables/);
  });

  it('hobby -> how to call the cron from elsewhere, and that vms end after 45 minutes', () => {
    const [cron, vms, ...rest] = problemOf(onVercel({ VERCEL_PLAN: 'hobby' }), 'VERCEL_PLAN');
    expect(cron).toMatch(/once a day.*\/api\/cron each minute.*Authorization: Bearer.*CRON_SECRET/);
    expect(vms).toContain('45 minutes');
    expect(rest).toEqual([]);
  });

  it('no public address -> no doorbell, and how often sandboxes are looked at instead', () => {
    const without = { VERCEL_PROJECT_PRODUCTION_URL: undefined };
    expect(problemOf(onVercel(without), 'PUBLIC_URL')).toEqual([
      expect.stringMatching(/no doorbell.*every 15 seconds/),
    ]);
    expect(problemOf(onVercel({ ...without, UNHEARD_PROBE_INTERVAL_MS: '5000' }), 'PUBLIC_URL')).toEqual([
      expect.stringContaining('every 5 seconds'),
    ]);
  });

  it.each([
    ['http://127.0.0.1:3000', 'Remove it'],
    ['https://outposts-abc123-acme.vercel.app', 'the next replaces'],
  ])('PUBLIC_URL=%s -> %s', (PUBLIC_URL, words) => {
    expect(problemOf(onVercel({ PUBLIC_URL }), 'PUBLIC_URL')).toEqual([expect.stringContaining(words)]);
  });

  it('one setting that is wrong -> hides no notice about others', () => {
    const notices = onVercel({ PROBE_INTERVAL_MS: 'often', VERCEL_ENV: 'preview', PUBLIC_URL: ':' });
    expect(namesOf(notices)).toEqual(['VERCEL_ENV']);
    const without = { VERCEL_PROJECT_PRODUCTION_URL: undefined, PROBE_INTERVAL_MS: 'often' };
    expect(namesOf(onVercel(without))).toEqual(['PUBLIC_URL']);
  });

  it('nothing but the platform -> says the most pressing first', () => {
    expect(namesOf(deploymentNotices({ VERCEL: '1', VERCEL_ENV: 'preview' }, NOW))).toEqual([
      'VERCEL_ENV',
      'CRON_SECRET',
      'OPERATOR_SECRET',
      'PUBLIC_URL',
    ]);
  });
});

describe('a server of one’s own', () => {
  it('reachable from outside -> nothing to say', () => {
    expect(onServer({ PUBLIC_URL: 'https://o.example.com', CRON_SECRET: '0123456789abcdef' })).toEqual([]);
  });

  it('reachable, but without the secret of doorbells -> says that there is none', () => {
    expect(onServer({ PUBLIC_URL: 'https://o.example.com' })).toEqual([
      { variable: 'PUBLIC_URL', problem: expect.stringContaining('CRON_SECRET') },
    ]);
  });

  it('not reachable -> no doorbell', () => {
    expect(namesOf(onServer())).toEqual(['PUBLIC_URL']);
  });

  it('hobby -> vms end early; no word of a cron that it does not have', () => {
    const problems = problemOf(onServer({ VERCEL_PLAN: 'hobby' }), 'VERCEL_PLAN');
    expect(problems).toEqual([expect.stringContaining('45 minutes')]);
  });

  it.each([
    [60, 'ends at 2026-09-01T00:01:00.000Z'],
    [-60, 'has ended at 2026-08-31T23:59:00.000Z'],
  ])('an OIDC token that ends in %i s -> when, and what lasts', (seconds, words) => {
    const VERCEL_OIDC_TOKEN = oidc({ owner_id: 'team_o', project_id: 'prj_o', exp: NOW / 1000 + seconds });
    const changes = { VERCEL_TOKEN: undefined, VERCEL_OIDC_TOKEN };
    expect(problemOf(onServer(changes), 'VERCEL_OIDC_TOKEN')).toEqual([
      expect.stringMatching(new RegExp(`^${words}.*VERCEL_TOKEN`)),
    ]);
    expect(JSON.stringify(onServer(changes))).not.toContain(VERCEL_OIDC_TOKEN);
  });

  it('a file that `vercel env pull` wrote claims to be Vercel -> the caller who knows better is believed', () => {
    const env = { ...COMPLETE.server, VERCEL: '1', VERCEL_ENV: 'development' };
    expect(namesOf(deploymentNotices(env, NOW, 'server'))).toEqual(['PUBLIC_URL']);
  });
});

it('secrets in every place -> in no notice', () => {
  const env: Env = { VERCEL: '1', VERCEL_ENV: 'hunter2', VERCEL_PROJECT_PRODUCTION_URL: 'hunter2' };
  for (const name of Object.keys(COMPLETE.server)) env[name] = 'hunter2';
  for (const more of [{}, { VERCEL: '0' }, { VERCEL_PLAN: 'hobby', PUBLIC_URL: 'https://u:hunter2@x' }]) {
    const notices = deploymentNotices({ ...env, ...more }, NOW);
    expect(JSON.stringify(notices)).not.toContain('hunter2');
  }
  expect(deploymentNotices(env, NOW)).not.toEqual([]);
});
