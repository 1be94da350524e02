/** Requests that nobody should send, and the status that each gets. */
import { SENT, type Send, type Server } from './hostile-server.js';

const FORM = 'application/x-www-form-urlencoded';
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
/** A form as our own page would send it, as the person that `who` names at the time. */
export const posted =
  (
    path: string,
    who: 'operator' | 'viewer' | 'attempt' | null,
    fields: (server: Server) => Record<string, string>,
    headers: Record<string, string | undefined> = {},
  ) =>
  (server: Server): Send => ({
    method: 'POST',
    path,
    headers: {
      'content-type': FORM,
      origin: server.url,
      ...(who === null ? {} : { cookie: server[who].cookie }),
      ...headers,
    },
    body: form(fields(server)),
  });
const asked =
  (
    path: string,
    who: 'operator' | 'viewer' | 'attempt' | null = null,
    headers: Record<string, string> = {},
  ) =>
  (server: Server): Send => ({
    path,
    headers: { ...(who === null ? {} : { cookie: server[who].cookie }), ...headers },
  });

const HTML = { accept: 'text/html' };
const LONG = 'x'.repeat(5_000);
const QUERY = 'configurationId=icfg_1&currentProjectId=prj_1&teamId=team_1';
const NEXT = `next=${encodeURIComponent('https://vercel.com/new')}`;

export const REQUESTS: readonly (readonly [string, number, (server: Server) => Send])[] = [
  // Nobody in particular.
  ['a page, by a browser', 303, asked('/', null, HTML)],
  ['a page, by a program', 401, asked('/')],
  ['the events', 401, asked('/events')],
  ['the sessions as JSON', 401, asked('/api/sessions')],
  ['the connection', 303, asked('/connect', null, HTML)],
  ['a page that does not exist', 401, asked('/wp-admin.php')],
  ['a file beside the pages', 401, asked('/app.css/../../package.json')],
  ['an encoded way up', 401, asked('/..%2f..%2fpackage.json')],
  ['a file of settings', 401, asked('/.env')],
  ['an action', 401, posted('/actions/stop', null, () => ({ id: 'devin-1' }))],
  ['an action by PUT', 401, (_server) => ({ method: 'PUT', path: '/actions/stop' })],
  [
    'OPTIONS of an action, from elsewhere',
    401,
    (_server) => ({
      method: 'OPTIONS',
      path: '/actions/stop',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    }),
  ],
  ['TRACE', 401, (_server) => ({ method: 'TRACE', path: '/' })],
  ['starting to connect', 401, posted('/connect/start', null, () => ({}))],
  ['disconnecting', 401, posted('/connect/disconnect', null, () => ({ sure: 'yes' }))],
  ['the cron without its secret', 401, asked('/api/cron')],
  ['the cron with another secret', 401, asked('/api/cron', null, { authorization: `Bearer ${SENT}` })],
  ['the cron as an operator', 401, asked('/api/cron', 'operator')],
  [
    'the doorbell without a key',
    204,
    (_server) => ({ method: 'POST', path: '/api/sessions/devin-1/doorbell' }),
  ],
  [
    'the doorbell of the connection',
    204,
    (_server) => ({
      method: 'POST',
      path: '/api/sessions/connection:own/doorbell',
      headers: { authorization: `Bearer 1.${SENT}` },
    }),
  ],

  // Cookies.
  ['a cookie that is none', 303, asked('/', null, { ...HTML, cookie: `outposts-session=${SENT}` })],
  [
    'an attempt’s cookie as a session’s',
    303,
    (server) => ({
      path: '/',
      headers: { ...HTML, cookie: server.attempt.cookie.replace('attempt', 'session') },
    }),
  ],
  [
    'a session’s cookie as an attempt’s',
    400,
    (server) => ({
      path: '/connect/attempt',
      headers: { cookie: server.operator.cookie.replace('session', 'attempt') },
    }),
  ],
  [
    'two cookies of one name, the wrong one first',
    303,
    (server) => ({
      path: '/',
      headers: { ...HTML, cookie: `outposts-session=${SENT}; ${server.operator.cookie}` },
    }),
  ],
  ['a cookie of 6 kB', 303, asked('/', null, { ...HTML, cookie: `outposts-session=${LONG}` })],
  ['a cookie with a broken escape', 303, asked('/', null, { ...HTML, cookie: 'outposts-session=%E0%A4%A' })],
  [
    'a __Host- cookie where there is no https',
    303,
    (server) => ({ path: '/', headers: { ...HTML, cookie: `__Host-${server.operator.cookie}` } }),
  ],

  // Signing in.
  ['a wrong secret', 401, posted('/sign-in', null, () => ({ secret: SENT }))],
  ['no secret', 401, posted('/sign-in', null, () => ({}))],
  [
    'from another site',
    403,
    posted('/sign-in', null, () => ({ secret: SENT }), { origin: 'https://evil.example' }),
  ],
  ['from nowhere', 403, posted('/sign-in', null, () => ({ secret: SENT }), { origin: undefined })],
  ['from an opaque origin', 403, posted('/sign-in', null, () => ({ secret: SENT }), { origin: 'null' })],
  [
    'from a neighbour',
    403,
    posted('/sign-in', null, () => ({ secret: SENT }), { 'sec-fetch-site': 'same-site' }),
  ],
  ['a form of 5 kB', 413, posted('/sign-in', null, () => ({ secret: LONG }))],
  [
    'JSON instead of a form',
    401,
    (server) => ({
      method: 'POST',
      path: '/sign-in',
      headers: { origin: server.url, 'content-type': 'application/json' },
      body: `{"secret":"${SENT}"}`,
    }),
  ],
  ['the page, with a script as the way on', 200, asked(`/sign-in?to=javascript:alert('${SENT}')`)],
  ['the page, with another host as the way on', 200, asked(`/sign-in?to=//evil.example/${SENT}`)],
  ['the page, with a backslash as the way on', 200, asked(`/sign-in?to=/\\evil.example/${SENT}`)],
  ['signing out without the form’s token', 403, posted('/sign-out', 'operator', () => ({}))],

  // A viewer.
  [
    'a viewer stops a session',
    403,
    posted('/actions/stop', 'viewer', (server) => ({ id: 'devin-1', token: server.viewer.token })),
  ],
  [
    'a viewer with an operator’s token',
    403,
    posted('/actions/stop', 'viewer', (server) => ({ id: 'devin-1', token: server.operator.token })),
  ],
  [
    'a viewer connects',
    403,
    posted('/connect/start', 'viewer', (server) => ({ token: server.viewer.token })),
  ],
  [
    'a viewer disconnects',
    403,
    posted('/connect/disconnect', 'viewer', (server) => ({ sure: 'yes', token: server.viewer.token })),
  ],

  // An operator, misled.
  [
    'an operator’s action without a token',
    403,
    posted('/actions/stop', 'operator', () => ({ id: 'devin-1' })),
  ],
  [
    'with a viewer’s token',
    403,
    posted('/actions/stop', 'operator', (server) => ({ id: 'devin-1', token: server.viewer.token })),
  ],
  [
    'from another site, with the token',
    403,
    posted('/actions/stop', 'operator', (server) => ({ id: 'devin-1', token: server.operator.token }), {
      origin: 'https://evil.example',
    }),
  ],
  [
    'an action that does not exist',
    404,
    posted('/actions/constructor', 'operator', (server) => ({ id: 'x', token: server.operator.token })),
  ],
  [
    'stopping what is no session',
    303,
    posted('/actions/stop', 'operator', (server) => ({ id: 'connection:own', token: server.operator.token })),
  ],
  [
    'retrying what is no session',
    303,
    posted('/actions/retry', 'operator', (server) => ({
      id: 'connection:own',
      token: server.operator.token,
    })),
  ],
  [
    'a session’s name with a line break',
    400,
    posted('/actions/stop', 'operator', (server) => ({ id: `a\n${SENT}`, token: server.operator.token })),
  ],
  ['connecting without a token', 403, posted('/connect/start', 'operator', () => ({}))],
  [
    'connecting, the name of another host',
    403,
    posted('/connect/start', 'operator', (server) => ({ token: server.operator.token }), {
      host: 'evil.example',
    }),
  ],
  [
    'disconnecting without saying so',
    303,
    posted('/connect/disconnect', 'operator', (server) => ({ token: server.operator.token })),
  ],

  // Devin's callback.
  ['nothing at all', 400, asked('/connect/callback', 'attempt')],
  ['a code without a cookie', 400, asked(`/connect/callback?code=${SENT}`)],
  ['two codes', 400, asked(`/connect/callback?code=${SENT}&code=b`, 'attempt')],
  ['a code and an error', 400, asked(`/connect/callback?code=${SENT}&error=b`, 'attempt')],
  ['an empty code', 400, asked('/connect/callback?code=', 'attempt')],
  ['a code of 5 kB', 400, asked(`/connect/callback?code=${LONG}`, 'attempt')],
  ['a code with a line break', 400, asked(`/connect/callback?code=a%0d%0aSet-Cookie:%20${SENT}`, 'attempt')],
  ['a code with a null byte', 400, asked('/connect/callback?code=a%00b', 'attempt')],
  ['a broken escape', 400, asked(`/connect/callback?code=%E0%A4%A${SENT}`, 'attempt')],
  [
    'a forged cookie',
    400,
    asked(`/connect/callback?code=${SENT}`, null, { cookie: 'outposts-attempt=e30.e30.x' }),
  ],
  [
    'an error with a script in its description',
    400,
    asked(
      `/connect/callback?error=access_denied&error=x&error_description=<script>${SENT}</script>`,
      'attempt',
    ),
  ],
  ['by POST', 401, (_server) => ({ method: 'POST', path: `/connect/callback?code=${SENT}` })],

  // The page of an attempt.
  ['of nobody', 400, asked('/connect/attempt')],
  [
    'going on, as if for a project',
    400,
    posted('/connect/continue', 'attempt', (server) => ({ token: server.attempt.token })),
  ],
  ['trying again, without a token', 403, posted('/connect/retry', 'attempt', () => ({}))],
  ['a project, of who has none', 400, asked('/connect/project', 'attempt')],
  [
    'trying again, from another site',
    403,
    posted('/connect/retry', 'attempt', (server) => ({ token: server.attempt.token }), {
      origin: 'https://evil.example',
    }),
  ],
  [
    'trying again, without a cookie',
    400,
    posted('/connect/retry', null, (server) => ({ token: server.attempt.token })),
  ],
  ['the way back to Vercel, of an attempt that has none', 303, asked('/connect/next', 'attempt')],
  ['the way back to Vercel, of nobody', 400, asked('/connect/next')],

  // Vercel's callback.
  ['an installation of nothing', 400, asked('/integration/callback')],
  ['without a project', 400, asked(`/integration/callback?code=${SENT}&configurationId=icfg_1&${NEXT}`)],
  ['on to another host', 400, asked(`/integration/callback?code=${SENT}&${QUERY}&next=https://evil.example`)],
  [
    'on to a host that only begins so',
    400,
    asked(`/integration/callback?code=${SENT}&${QUERY}&next=https://vercel.com.evil.example`),
  ],
  ['on to a script', 400, asked(`/integration/callback?code=${SENT}&${QUERY}&next=javascript:alert(1)`)],
  [
    'on with a name in front of the host',
    400,
    asked(`/integration/callback?code=${SENT}&${QUERY}&next=https://vercel.com@evil.example`),
  ],
  ['on without https', 400, asked(`/integration/callback?code=${SENT}&${QUERY}&next=http://vercel.com/new`)],
  ['two projects', 400, asked(`/integration/callback?code=${SENT}&${QUERY}&currentProjectId=prj_2&${NEXT}`)],
  [
    'a project with a way up',
    400,
    asked(`/integration/callback?code=${SENT}&configurationId=icfg_1&currentProjectId=..%2Fx&${NEXT}`),
  ],
  [
    'a team with a query of its own',
    400,
    asked(
      `/integration/callback?code=${SENT}&configurationId=icfg_1&currentProjectId=prj_1&teamId=a%26b&${NEXT}`,
    ),
  ],
  ['a code that Vercel does not know', 303, asked(`/integration/callback?code=${SENT}&${QUERY}&${NEXT}`)],
];
