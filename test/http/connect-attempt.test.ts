/** The page of an attempt: what its browser reads, and may do. */
import { describe, expect, test } from 'vitest';
import type { AttemptView } from '../../src/ports/connector.js';
import { ATTEMPT, DEVIN, openRig, opensIn, SENT, targetOf, URL_OF_THIS, WAITING } from './connect-rig.js';

const PROJECT = { projectId: 'prj_1', teamId: 'team_1', name: 'my-outposts', written: [] };
const OUTPOST = { id: 'outpost_env-1', name: 'vercel-sandbox' };
const PART = { ...PROJECT, written: ['CRON_SECRET', 'ACCEPTOR_ID'] };

async function pageOf(change: Partial<AttemptView>) {
  const { get, attempt } = await openRig({ script: { look: async () => ({ ...WAITING, ...change }) } });
  const answer = await get('/connect/attempt', attempt.cookie);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  return {
    text,
    refresh: /http-equiv="refresh" content="([^"]+)"/.exec(text)?.[1] ?? null,
    forms: [...text.matchAll(/<form[^>]+action="([^"]+)"/g)].map(([, action]) => action),
    links: [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href),
  };
}

describe('this deployment’s own', () => {
  const [again, retry] = [['/connect'], ['/connect/retry']];
  test.each<[Partial<AttemptView>, string, { refresh?: string; forms?: string[]; links?: string[] }]>([
    [{ kind: 'waiting' }, 'Waiting for the confirmation in Devin', { refresh: '5', links: again }],
    [{ kind: 'working' }, 'Putting that to use', { refresh: '2' }],
    [{ kind: 'connected', outpost: OUTPOST }, 'outpost_env-1', { links: ['/', '/connect'] }],
    [{ kind: 'expired', problem: 'too late' }, 'Too late.', { links: again }],
    [{ kind: 'refused', problem: 'declined at Devin' }, 'Declined at Devin.', { links: again }],
    [{ kind: 'refused' }, 'It did not work.', { links: again }],
    [{ kind: 'failed', problem: 'no answer', retryable: true }, 'No answer.', { forms: retry, links: again }],
    [{ kind: 'failed', problem: 'no answer' }, 'No answer.', { links: again }],
    [{ kind: 'superseded' }, 'Another attempt was begun since', { links: again }],
    [{ kind: 'gone' }, 'Nothing is known of this attempt', { links: again }],
  ])('%o -> %s', async (view, says, { refresh = null, forms = [], links = [] }) => {
    const page = await pageOf(view);
    expect(page.text).toContain(says);
    expect(page).toMatchObject({ refresh, forms, links });
  });
});

describe('somebody’s project', () => {
  test.each<[Partial<AttemptView>, string[], { refresh?: string; forms?: string[]; links?: string[] }]>([
    [{ kind: 'preparing', project: { ...PROJECT, name: null } }, ['Asking Vercel'], { refresh: '2' }],
    [
      { kind: 'waiting', project: PROJECT },
      ['my-outposts', 'prj_1', 'team_1', 'Go on only if it is yours', 'for production only'],
      { forms: ['/connect/continue'] },
    ],
    [
      { kind: 'waiting', project: { ...PROJECT, teamId: null } },
      ['a personal account'],
      { forms: ['/connect/continue'] },
    ],
    [{ kind: 'working', project: PROJECT }, ['Putting that to use'], { refresh: '2' }],
    [
      { kind: 'connected', project: PART, outpost: OUTPOST },
      ['CRON_SECRET, ACCEPTOR_ID', 'OPERATOR_SECRET', 'my-outposts'],
      { refresh: '4; url=/connect/next', links: ['/connect/next'] },
    ],
    [
      { kind: 'failed', project: PART, retryable: true, problem: 'no answer' },
      ['No answer.', 'CRON_SECRET, ACCEPTOR_ID', 'Another try writes the rest'],
      { forms: ['/connect/retry'] },
    ],
    [
      { kind: 'expired', project: PART, problem: 'too late' },
      ['CRON_SECRET, ACCEPTOR_ID', 'do not make it serve'],
      {},
    ],
    [{ kind: 'refused', project: PROJECT, problem: 'no' }, ['Nothing has been written into it'], {}],
  ])('%o -> %j', async (view, says, { refresh = null, forms = [], links = [] }) => {
    const page = await pageOf(view);
    for (const words of says) expect(page.text).toContain(words);
    // The pages of the deployment that does the setting up are not this person's.
    expect(page).toMatchObject({ refresh, forms, links });
  });
});

test('names and problems from outside hold scripts -> they are text', async () => {
  const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
  const project = { projectId: evil, teamId: evil, name: evil, written: [evil] };
  const outpost = { id: evil, name: evil };
  for (const kind of ['waiting', 'connected', 'failed', 'refused', 'expired'] as const) {
    const { text } = await pageOf({ kind, project, outpost, problem: evil, retryable: true });
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toMatch(/<script|<img/);
  }
});

describe('buttons', () => {
  test('going on with a project -> to Devin', async () => {
    const { post, calls, attempt, project } = await openRig();
    const answer = await post('/connect/continue', project, { token: attempt.token });
    expect(answer.headers.get('set-cookie')).toMatch(/^outposts-attempt=ey/);
    expect(await opensIn(answer)).toBe(DEVIN);
    expect(calls).toEqual([['continueProject', ATTEMPT]]);
  });

  test('going on when it is too late -> the page says so', async () => {
    const { post, attempt, project } = await openRig({ script: { continueProject: async () => null } });
    const answer = await post('/connect/continue', project, { token: attempt.token });
    expect(targetOf(answer)).toEqual([303, '/connect/project']);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('trying again -> the same attempt', async () => {
    const { post, calls, attempt } = await openRig();
    const answer = await post('/connect/retry', attempt.cookie, { token: attempt.token });
    expect(targetOf(answer)).toEqual([303, '/connect/attempt']);
    expect(calls).toEqual([['retry', ATTEMPT]]);
  });

  const OPAQUE = { origin: 'null' };
  const NEIGHBOUR = { 'sec-fetch-site': 'same-site' };
  test.each<
    [string, number, (rig: Awaited<ReturnType<typeof openRig>>) => [string, Record<string, string>, object]]
  >([
    ['no token', 403, ({ attempt }) => [attempt.cookie, {}, {}]],
    [
      'another attempt’s token',
      403,
      (rig) => [rig.attempt.cookie, { token: rig.formTokenOf('own-of-another') }, {}],
    ],
    ['an operator’s token', 403, ({ attempt, operator }) => [attempt.cookie, { token: operator.token }, {}]],
    [
      'another site',
      403,
      ({ attempt }) => [attempt.cookie, { token: attempt.token }, { origin: 'https://evil.example' }],
    ],
    [
      'our name in another scheme’s place',
      403,
      ({ attempt }) => [attempt.cookie, { token: attempt.token }, { origin: `${URL_OF_THIS}.evil.example` }],
    ],
    ['an opaque origin', 403, ({ attempt }) => [attempt.cookie, { token: attempt.token }, OPAQUE]],
    ['a neighbour', 403, ({ attempt }) => [attempt.cookie, { token: attempt.token }, NEIGHBOUR]],
    ['no cookie', 400, ({ attempt }) => ['', { token: attempt.token }, {}]],
    ['an operator’s cookie', 400, ({ attempt, operator }) => [operator.cookie, { token: attempt.token }, {}]],
    ['5 kB', 413, ({ attempt }) => [attempt.cookie, { token: attempt.token, more: 'x'.repeat(5_000) }, {}]],
  ])('a form with %s -> %i, and nothing done', async (_, status, formOf) => {
    const rig = await openRig();
    const [cookie, fields, headers] = formOf(rig);
    for (const path of ['/connect/continue', '/connect/retry']) {
      const bound = path.endsWith('continue') ? cookie.replace('-attempt=', '-project=') : cookie;
      const answer = await rig.post(path, bound, { ...fields, note: SENT }, headers);
      expect(answer.status).toBe(status);
      expect(await answer.text()).not.toContain(SENT);
    }
    expect(rig.calls).toEqual([]);
  });
});

test.each([
  ['https://vercel.com/new/continue?x=1', 'https://vercel.com/new/continue?x=1'],
  [null, '/connect/attempt'],
  ['https://evil.example/', '/connect/attempt'],
  ['http://vercel.com/', '/connect/attempt'],
  ['javascript:alert(1)', '/connect/attempt'],
])('the way back to Vercel is kept as %s -> the browser goes to %s', async (kept, goes) => {
  const { get, attempt } = await openRig({ script: { nextOf: async () => kept } });
  expect(targetOf(await get('/connect/next', attempt.cookie))).toEqual([303, goes]);
});
