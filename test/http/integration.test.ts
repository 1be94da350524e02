/** Vercel's callback: what begins to set a project up, and what does not. */
import { expect, test } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import { openRig, SENT, targetOf } from './connect-rig.js';

const NEXT = 'https://vercel.com/new/continue?a=1&b=2';
const GIVEN = {
  code: 'code-of-this',
  configurationId: 'icfg_1',
  currentProjectId: 'prj_1',
  teamId: 'team_1',
  next: NEXT,
};
const path = (fields: Record<string, string>) => `/integration/callback?${new URLSearchParams(fields)}`;
const without = (name: keyof typeof GIVEN) =>
  Object.fromEntries(Object.entries(GIVEN).filter(([key]) => key !== name));

test('a project of a team, and parameters that nobody knows -> begun, in this browser, with the code out of the address bar', async () => {
  const { get, calls } = await openRig();
  const answer = await get(path({ ...GIVEN, source: 'deploy-button', externalId: '' }));
  expect(targetOf(answer)).toEqual([303, '/connect/project']);
  expect(answer.headers.get('set-cookie')).toMatch(/^outposts-project=ey.*HttpOnly; SameSite=Lax$/);
  const { code, configurationId, teamId, next } = GIVEN;
  expect(calls).toEqual([['beginProject', { code, configurationId, projectId: 'prj_1', teamId, next }]]);
});

test('a project of a personal account -> begun without a team', async () => {
  const { get, calls } = await openRig();
  expect((await get(path(without('teamId')))).status).toBe(303);
  expect(calls).toEqual([['beginProject', expect.objectContaining({ teamId: null })]]);
});

test('the integration was added outside a deployment -> 400, and how to begin', async () => {
  const { get, calls } = await openRig();
  const answer = await get(path(without('currentProjectId')));
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('begin with the Deploy Button');
  expect(calls).toEqual([]);
});

const twice = (name: string, value: string) => `${path(GIVEN)}&${name}=${value}`;
test.each([
  ['nothing', '/integration/callback'],
  ['no code', path(without('code'))],
  ['no configuration', path(without('configurationId'))],
  ['no way back', path(without('next'))],
  ['two codes', twice('code', SENT)],
  ['two configurations', twice('configurationId', SENT)],
  ['two projects', twice('currentProjectId', SENT)],
  ['two teams', twice('teamId', SENT)],
  ['two ways back', twice('next', encodeURIComponent(`https://vercel.com/${SENT}`))],
  ['an empty team', path({ ...GIVEN, teamId: '' })],
  ['an empty project', path({ ...GIVEN, currentProjectId: '' })],
  ['a code of 513 characters', path({ ...GIVEN, code: 'x'.repeat(513) })],
  ['a code with a line break', path({ ...GIVEN, code: `a\n${SENT}` })],
  ['a project with a way up', path({ ...GIVEN, currentProjectId: `../${SENT}` })],
  ['a project with a query', path({ ...GIVEN, currentProjectId: `prj_1?teamId=${SENT}` })],
  ['a team with a query', path({ ...GIVEN, teamId: `team_1&x=${SENT}` })],
  ['a team of 201 characters', path({ ...GIVEN, teamId: 'x'.repeat(201) })],
  ['a configuration with a script', path({ ...GIVEN, configurationId: `<script>${SENT}</script>` })],
  ['a way back to another host', path({ ...GIVEN, next: `https://evil.example/${SENT}` })],
  ['a way back that is a script', path({ ...GIVEN, next: `javascript:alert('${SENT}')` })],
  ['a way back that is a path', path({ ...GIVEN, next: `/${SENT}` })],
  ['a way back of 3 kB', path({ ...GIVEN, next: `https://vercel.com/${'x'.repeat(3_000)}` })],
])('the address brings %s -> 400, nothing begun, nothing of it on the page', async (_, address) => {
  const { get, calls, lines } = await openRig();
  const answer = await get(address);
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(text).toMatch(/begin with the Deploy Button|Begin again with the Deploy Button/);
  expect(text + lines.join()).not.toContain(SENT);
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(calls).toEqual([]);
});

test('no projects are set up from here -> 404', async () => {
  const { get, calls } = await openRig({ integrationPath: null });
  expect((await get(path(GIVEN))).status).toBe(404);
  expect(calls).toEqual([]);
});

test('one client begins again and again -> soon too many; another is let through, until all are too many', async () => {
  const { get, from, calls } = await openRig();
  const burst = async (client: string, times: number) => {
    from(client);
    const statuses: number[] = [];
    for (let each = 0; each < times; each++) statuses.push((await get(path(GIVEN))).status);
    return statuses;
  };
  const first = await burst('192.0.2.1', 12);
  expect(first.slice(0, 10)).toEqual(Array(10).fill(303));
  expect(first.at(-1)).toBe(429);
  const others: number[] = [];
  for (let client = 2; client < 20; client++) others.push(...(await burst(`192.0.2.${client}`, 10)));
  expect(others[0]).toBe(303);
  expect(others.at(-1)).toBe(429);
  expect(calls.length).toBeLessThan(100);
});

test.each([
  [new TransientError(`begin: ${SENT}`), 503, 'Nothing is lost'],
  [new RefusedError(SENT, { setting: 'VERCEL_INTEGRATION_CLIENT_ID' }), 503, 'VERCEL_INTEGRATION_CLIENT_ID'],
  [new Error(SENT), 500, 'The log says what'],
])('%o -> %i, no cookie, and no reason on the page', async (error, status, says) => {
  const { get, lines } = await openRig({ script: { beginProject: () => Promise.reject(error) } });
  const answer = await get(path(GIVEN));
  const text = await answer.text();
  expect(answer.status).toBe(status);
  expect(text).toContain(says);
  expect(text).not.toContain(SENT);
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(lines).toEqual([`GET /integration/callback: ${error.message}`]);
});

test('sent by Vercel, and not yet on to Devin by a button -> no code is taken, and what was begun before stays', async () => {
  const { get, calls, attempt, project } = await openRig();
  const answer = await get(`/connect/callback?code=${SENT}`, project);
  expect(answer.status).toBe(400);
  expect(calls).toEqual([]);
  const begun = await get(path(GIVEN), attempt.cookie);
  expect(begun.headers.get('set-cookie')).not.toContain('outposts-attempt');
});

test('clients cannot be told apart -> none is held up by another before all are', async () => {
  const { get, from } = await openRig();
  from(null);
  const statuses: number[] = [];
  for (let each = 0; each < 40; each++) statuses.push((await get(path(GIVEN))).status);
  expect(statuses.slice(0, 30)).toEqual(Array(30).fill(303));
  expect(statuses.at(-1)).toBe(429);
});
