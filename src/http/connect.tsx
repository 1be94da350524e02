/**
 * Connecting in the browser: the operator's page, Devin's and Vercel's
 * callbacks, and the page that shows how an attempt goes.
 *
 * Takes what the callbacks bring only from the browser that began, only once,
 * and only in the shape that it should have. Shows nothing of it.
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Attempt, GoOn, NoAttempt } from '../dashboard/attempt.js';
import { Connection, type ConnectionProps } from '../dashboard/connect.js';
import { drawn } from '../dashboard/layout.js';
import { messageOf, RefusedError, TransientError } from '../errors.js';
import { createLimiter } from '../operators/limiter.js';
import type { Connector } from '../ports/connector.js';
import type { Binding, Browsers } from './browser.js';
import { isOurOwn, type People } from './people.js';
import { CODE, ID, oneOf, parameter, vercelUrl } from './query.js';

export interface ConnectDeps {
  readonly people: People;
  readonly browsers: Browsers;
  /** Rejects while the database is away, or must not be opened; null: nothing can be connected here. */
  connector(): Promise<Connector | null>;
  readonly missing: ConnectionProps['missing'];
  readonly callbackUrl: string | null;
  /** Where Devin's callback is served: its address may have been registered with another path. */
  readonly callbackPath: string;
  /** Vercel's callback; null where no projects are set up. */
  readonly integrationPath: string | null;
  /** Who asks; null where it cannot be known. */
  clientOf(c: Context): string | null;
  log(line: string): void;
}

type Act = (connector: Connector, attemptId: string) => Promise<Response>;

const LONGEST_FORM = 4_096;
/** Callbacks of one attempt, or of one address. */
const CALLBACKS = { burst: 10, perSecond: 1 / 5 };
/** Looks at one attempt, and buttons pressed there: its page comes back every two seconds. */
const LOOKS = { burst: 30, perSecond: 2 };
/** Anybody may begin to set a project up: each costs a row, and a question to Vercel. Fewer than the cron can end. */
const INSTALLATIONS = { burst: 30, perSecond: 1 / 2 };

export function connectRoutes(deps: ConnectDeps): Hono {
  const { people, browsers, callbackUrl } = deps;
  const { admission } = people;
  const app = new Hono();
  const callbacks = createLimiter(CALLBACKS);
  const looks = createLimiter(LOOKS);
  const installations = createLimiter(INSTALLATIONS);
  const small = bodyLimit({ maxSize: LONGEST_FORM, onError: (c) => c.text('The form is too large.\n', 413) });

  app.onError((error, c) => trouble(c, error));

  app.get('/connect', admission.gate, async (c) => {
    const connector = await deps.connector();
    const connection = connector === null ? null : await connector.own();
    const { missing } = deps;
    const said = c.req.query('said') === 'disconnected' ? 'Disconnected: that token is forgotten.' : null;
    const visitor = admission.visitor(c);
    return c.html(await drawn(<Connection {...{ visitor, connection, missing, callbackUrl, said }} />));
  });

  app.post('/connect/start', admission.gate, people.operatorsOnly, small, async (c) => {
    const refusal = await withoutToken(c);
    if (refusal !== null) return refusal;
    const connector = await deps.connector();
    if (connector === null || callbackUrl === null) return c.redirect('/connect', 303);
    const { host, origin } = new URL(callbackUrl);
    if (host !== c.req.header('host')?.toLowerCase())
      return nothing(
        c,
        409,
        'Devin sends browsers back to another address of this deployment.',
        `Only a browser that began there is let in. Open ${origin}/connect and begin there.`,
      );
    const begun = await connector.begin();
    if (begun.kind === 'busy') return c.redirect('/connect', 303);
    return onToDevin(c, begun.attemptId, begun.redirectTo);
  });

  app.post('/connect/disconnect', admission.gate, people.operatorsOnly, small, async (c) => {
    const refusal = await withoutToken(c);
    if (refusal !== null) return refusal;
    const connector = await deps.connector();
    if (connector === null || (await formOf(c)).get('sure') !== 'yes') return c.redirect('/connect', 303);
    await connector.disconnect();
    // An authorization that is being put to use goes on.
    const isDone = (await connector.own()).source !== 'browser';
    return c.redirect(isDone ? '/connect?said=disconnected' : '/connect', 303);
  });

  app.get(deps.callbackPath, async (c) => {
    const query = new URL(c.req.url).searchParams;
    const [code, error] = [parameter(query, 'code', CODE), parameter(query, 'error', CODE)];
    const makesSense =
      (code.kind === 'given' && error.kind === 'absent') ||
      (error.kind === 'given' && code.kind === 'absent');
    if (!makesSense) return nothing(c, 400, 'Devin’s answer makes no sense as it came here.', BEGIN_AGAIN);
    const attemptId = await browsers.attemptOf(c, 'attempt');
    if (attemptId === null) return notBegunHere(c);
    if (!callbacks.admits(attemptId)) return tooMany(c);
    const connector = await deps.connector();
    if (connector === null) return c.redirect('/connect', 303);
    if (code.kind === 'given') await connector.returned(attemptId, code.value);
    else if (error.kind === 'given') await connector.denied(attemptId, error.value);
    // Takes the code out of the address bar, and out of what a reload would send.
    return c.redirect('/connect/attempt', 303);
  });

  for (const binding of ['attempt', 'project'] as const)
    app.get(`/connect/${binding}`, (c) =>
      ofThisBrowser(c, binding, async (connector, attemptId) => {
        const attempt = await connector.look(attemptId);
        return c.html(await drawn(<Attempt attempt={attempt} token={browsers.formToken(attemptId)} />));
      }),
    );

  app.post('/connect/continue', small, (c) =>
    withToken(c, 'project', async (connector, attemptId) => {
      const address = await connector.continueProject(attemptId);
      return address === null ? c.redirect('/connect/project', 303) : onToDevin(c, attemptId, address);
    }),
  );

  app.post('/connect/retry', small, (c) =>
    withToken(c, 'attempt', async (connector, attemptId) => {
      await connector.retry(attemptId);
      return c.redirect('/connect/attempt', 303);
    }),
  );

  app.get('/connect/next', (c) =>
    ofThisBrowser(c, 'attempt', async (connector, attemptId) => {
      const next = vercelUrl((await connector.nextOf(attemptId)) ?? '');
      return c.redirect(next ?? '/connect/attempt', 303);
    }),
  );

  const { integrationPath } = deps;
  if (integrationPath !== null)
    app.get(integrationPath, async (c) => {
      const query = new URL(c.req.url).searchParams;
      const code = oneOf(query, 'code', CODE);
      const configurationId = oneOf(query, 'configurationId', ID);
      const project = parameter(query, 'currentProjectId', ID);
      const next = vercelUrl(oneOf(query, 'next', /^.{1,2000}$/) ?? '');
      const team = parameter(query, 'teamId', ID);
      const wrong = [team, project].some(({ kind }) => kind === 'wrong');
      if (code === null || configurationId === null || next === null || wrong)
        return nothing(c, 400, 'Vercel’s answer makes no sense as it came here.', ADD_AGAIN);
      if (project.kind !== 'given')
        return nothing(
          c,
          400,
          'The integration was added without a project.',
          'It sets up a new project: begin with the Deploy Button, and add the integration when Vercel asks for it.',
        );
      const client = deps.clientOf(c);
      if ((client !== null && !callbacks.admits(client)) || !installations.admits('all')) return tooMany(c);
      const connector = await deps.connector();
      if (connector === null) return c.notFound();
      const teamId = team.kind === 'given' ? team.value : null;
      const installation = { code, configurationId, projectId: project.value, teamId, next };
      const { attemptId } = await connector.beginProject(installation);
      await browsers.bind(c, 'project', attemptId);
      return c.redirect('/connect/project', 303);
    });

  return app;

  async function ofThisBrowser(c: Context, binding: Binding, act: Act): Promise<Response> {
    const attemptId = await browsers.attemptOf(c, binding);
    if (attemptId === null) return notBegunHere(c);
    if (!looks.admits(attemptId)) return tooMany(c);
    const connector = await deps.connector();
    return connector === null ? c.redirect('/connect', 303) : act(connector, attemptId);
  }

  function withToken(c: Context, binding: Binding, act: Act): Promise<Response> {
    return ofThisBrowser(c, binding, async (connector, attemptId) => {
      const given = (await formOf(c)).get('token') ?? '';
      if (isOurOwn(c) && browsers.isFormToken(attemptId, given)) return act(connector, attemptId);
      return nothing(
        c,
        403,
        'That form was not of this page.',
        'Load the page again and press the button there.',
      );
    });
  }

  /** By a page of ours: a form's own answer may lead to no other host, nor may what Devin makes of it. */
  async function onToDevin(c: Context, attemptId: string, address: string): Promise<Response> {
    await browsers.bind(c, 'attempt', attemptId);
    return c.html(await drawn(<GoOn address={address} />));
  }

  async function withoutToken(c: Context): Promise<Response | null> {
    if (admission.isToken(c, (await formOf(c)).get('token') ?? '')) return null;
    return nothing(c, 403, 'This page is out of date.', 'Open /connect again and press the button there.');
  }

  async function trouble(c: Context, error: unknown): Promise<Response> {
    deps.log(`${c.req.method} ${new URL(c.req.url).pathname}: ${messageOf(error)}`);
    c.header('Retry-After', '10');
    if (error instanceof TransientError)
      return nothing(
        c,
        503,
        'The database is away.',
        'Nothing is lost: load this page again in a moment. An authorization has to be complete within ten minutes.',
      );
    if (error instanceof RefusedError)
      return nothing(c, 503, `Something has to be mended first: ${error.setting}.`, 'The log says more.');
    return nothing(c, 500, 'Something is wrong here.', 'The log says what.');
  }
}

const BEGIN_AGAIN =
  'Nothing has changed. Begin again where you began: at the Deploy Button, or on the page /connect.';
const ADD_AGAIN = 'Nothing has changed. Begin again with the Deploy Button.';

const notBegunHere = (c: Context) =>
  nothing(
    c,
    400,
    'This browser did not begin an attempt to connect, or it was more than an hour ago.',
    `If cookies are refused here, allow them for this address. ${BEGIN_AGAIN}`,
  );

const tooMany = (c: Context) => {
  c.header('Retry-After', '30');
  return nothing(c, 429, 'Too many at once.', 'Load this page again in half a minute.');
};

async function nothing(c: Context, status: number, problem: string, what: string): Promise<Response> {
  const passes = status === 429 || status === 503;
  return c.html(await drawn(<NoAttempt {...{ problem, what, passes }} />), status as 400);
}

const formOf = async (c: Context) => new URLSearchParams(await c.req.text());
