/** The routes of connecting before a connector that does as it is told and notes what it is asked. */
import { Hono } from 'hono';
import { createBrowsers } from '../../src/http/browser.js';
import { connectRoutes } from '../../src/http/connect.js';
import { createPeople } from '../../src/http/people.js';
import { createAttemptCookies } from '../../src/operators/attempts.js';
import { createOperators } from '../../src/operators/operators.js';
import type { AttemptView, ConnectionView, Connector } from '../../src/ports/connector.js';
import { createKeyRing } from '../../src/vault/keys.js';

export const URL_OF_THIS = 'http://outposts.example.com';
export const DEVIN = 'https://app.devin.example/outposts/connect?code_challenge=x';
export const ATTEMPT = 'own-of-this-test';
/** Sent by whoever asks; may come back nowhere. */
export const SENT = 'canary-of-this-test';

const ROOT = 'a-root-secret-of-this-test-0123456';
const SECRETS = { operator: 'operator-secret-of-this', viewer: 'viewer-secret-of-this-1' };

export const NO_CONNECTION: ConnectionView = {
  state: 'idle',
  source: 'none',
  outpostId: null,
  apiHost: null,
  fallsBack: false,
  since: null,
  problem: null,
  working: false,
  sessions: 0,
};
export const WAITING: AttemptView = {
  attemptId: ATTEMPT,
  kind: 'waiting',
  state: 'authorizing.waiting',
  problem: null,
  retryable: false,
  expiresAt: null,
  project: null,
  outpost: null,
};

interface RigOptions {
  readonly callbackPath?: string;
  readonly integrationPath?: string | null;
  readonly previousRoot?: string | null;
  readonly script?: Partial<Connector>;
}

export async function openRig(options: RigOptions = {}) {
  const calls: unknown[][] = [];
  const lines: string[] = [];
  const noted =
    <A extends unknown[], R>(name: keyof Connector, does: (...given: A) => Promise<R>) =>
    (...given: A) => {
      calls.push([name, ...given]);
      return does(...given);
    };
  const script: Connector = {
    begin: async () => ({ kind: 'begun', attemptId: ATTEMPT, redirectTo: DEVIN }),
    beginProject: async () => ({ attemptId: 'project-of-this-test' }),
    continueProject: async () => DEVIN,
    returned: async () => {},
    denied: async () => {},
    retry: async () => {},
    look: async () => WAITING,
    nextOf: async () => null,
    own: async () => NO_CONNECTION,
    disconnect: async () => {},
    ...options.script,
  };
  const connector: Connector = {
    begin: noted('begin', script.begin),
    beginProject: noted('beginProject', script.beginProject),
    continueProject: noted('continueProject', script.continueProject),
    returned: noted('returned', script.returned),
    denied: noted('denied', script.denied),
    retry: noted('retry', script.retry),
    look: noted('look', script.look),
    nextOf: noted('nextOf', script.nextOf),
    own: noted('own', script.own),
    disconnect: noted('disconnect', script.disconnect),
  };

  const keys = createKeyRing(ROOT, options.previousRoot ?? null);
  const operators = createOperators({ keys, secrets: SECRETS });
  const people = createPeople({ operators, secure: false });
  const attempts = createAttemptCookies(keys);
  const { callbackPath = '/connect/callback', integrationPath = '/integration/callback' } = options;
  let client: string | null = 'somebody';
  const app = new Hono();
  app.route(
    '/',
    connectRoutes({
      people,
      browsers: createBrowsers(attempts, false),
      connector: async () => connector,
      missing: [],
      callbackUrl: `${URL_OF_THIS}${callbackPath}`,
      callbackPath,
      integrationPath,
      clientOf: () => client,
      log: (line) => lines.push(line),
    }),
  );

  const person = async (role: 'operator' | 'viewer') => {
    const cookie = await operators.admit(role);
    const known = await operators.recognize(cookie);
    return {
      cookie: `outposts-session=${cookie}`,
      token: known === null ? '' : operators.formToken(known),
    };
  };
  return {
    calls,
    lines,
    from(other: string | null) {
      client = other;
    },
    operator: await person('operator'),
    viewer: await person('viewer'),
    attempt: {
      cookie: `outposts-attempt=${await attempts.issue(ATTEMPT)}`,
      token: attempts.formToken(ATTEMPT),
    },
    /** The same attempt, as Vercel's callback binds it. */
    project: `outposts-project=${await attempts.issue(ATTEMPT)}`,
    formTokenOf: attempts.formToken,
    get: (path: string, cookie = '') =>
      app.request(`${URL_OF_THIS}${path}`, { headers: { ...HOST, cookie } }),
    post: (path: string, cookie: string, fields: Record<string, string>, headers = {}) =>
      app.request(`${URL_OF_THIS}${path}`, {
        method: 'POST',
        headers: { ...HOST, origin: URL_OF_THIS, cookie, ...headers },
        body: new URLSearchParams(fields),
      }),
  };
}

const HOST = { host: new URL(URL_OF_THIS).host };

/** Where a page of ours opens another by itself. */
export const opensIn = async (answer: Response): Promise<string | undefined> =>
  /http-equiv="refresh" content="0; url=([^"]+)"/.exec(await answer.text())?.[1]?.replaceAll('&amp;', '&');

/** The cookie of an attempt as a deployment with that secret makes it, then. */
export const attemptCookie = async (root = ROOT, at = Date.now()): Promise<string> =>
  `outposts-attempt=${await createAttemptCookies(createKeyRing(root, null), () => at).issue(ATTEMPT)}`;

export const targetOf = (answer: Response) => [answer.status, answer.headers.get('location')];
