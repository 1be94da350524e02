/** A running server with planted secrets, and what is sent to it over a real socket. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../src/cli/listen.js';
import { createDeployment } from '../../src/deployment.js';
import { type DevinCloud, startDevinCloud } from '../../src/emulator/devin/index.js';
import { startPlatform } from '../../src/emulator/platform/index.js';
import { createControlApp } from '../../src/http/app.js';
import { createCronApp } from '../../src/http/cron.js';
import { createAttemptCookies } from '../../src/operators/attempts.js';
import { createOperators } from '../../src/operators/operators.js';
import { createClock } from '../../src/ports/clock.js';
import { createKeyRing } from '../../src/vault/keys.js';
import { noted } from './support.js';

export const CANARIES = {
  DEVIN_CONNECTION_SECRET: 'canary-root-secret-0123456789-0123456789',
  OPERATOR_SECRET: 'canary-operator-secret',
  VIEWER_SECRET: 'canary-viewer-secret-1',
  CRON_SECRET: 'canary-cron-secret-123',
  VERCEL_TOKEN: 'canary-vercel-token',
  VERCEL_INTEGRATION_CLIENT_SECRET: 'canary-client-secret',
};
/** Sent by attackers; may come back nowhere. */
export const SENT = 'canary-sent-by-a-stranger';

export type Send = {
  method?: string;
  path: string;
  headers?: Record<string, string | undefined>;
  body?: string;
};
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

export type Server = Awaited<ReturnType<typeof startServer>>;

export async function startServer() {
  const clock = createClock();
  const devin: DevinCloud = await startDevinCloud({ clock });
  const platform = await startPlatform({ clientSecret: CANARIES.VERCEL_INTEGRATION_CLIENT_SECRET });
  const dir = await mkdtemp(join(tmpdir(), 'outposts-hostile-'));
  const database = join(dir, 'outposts.db');
  const env = {
    DATABASE_URL: `file:${database}`,
    VERCEL_TEAM_ID: 'team_1',
    VERCEL_PROJECT_ID: 'prj_1',
    DEVIN_API_URL: devin.url,
    DEVIN_CONNECT_URL: devin.connectUrl,
    DEVIN_API_HOSTS: new URL(devin.url).host,
    VERCEL_API_URL: platform.url,
    VERCEL_INTEGRATION_CLIENT_ID: platform.clientId,
    ...CANARIES,
  };
  const lines: string[] = [];
  const answers: string[] = [];
  // The address is a setting, and known only once something listens on it.
  let fetch: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const listening = await listen((request) => fetch(request), 0);
  const deployment = {
    ...createDeployment({ ...env, PUBLIC_URL: listening.url }),
    log: (line: string) => lines.push(line),
  };
  const apps = { deployment, runs: noted() };
  const [control, cron] = [createControlApp(apps), createCronApp(apps)];
  fetch = (request) => (new URL(request.url).pathname === '/api/cron' ? cron : control).fetch(request);
  devin.connect.callbacks.push(`${listening.url}/connect/callback`);

  const keys = createKeyRing(CANARIES.DEVIN_CONNECTION_SECRET, null);
  const operators = createOperators({
    keys,
    secrets: { operator: CANARIES.OPERATOR_SECRET, viewer: CANARIES.VIEWER_SECRET },
  });
  const attempts = createAttemptCookies(keys);
  const signedIn = async (role: 'operator' | 'viewer') => {
    const cookie = await operators.admit(role);
    const person = await operators.recognize(cookie);
    if (person === null) throw new Error('nobody');
    return { cookie: `outposts-session=${cookie}`, token: operators.formToken(person) };
  };
  const connections = await deployment.connections();
  const begun = await connections?.connector.begin();
  if (begun?.kind !== 'begun') throw new Error('not begun');
  const { store } = await deployment.base();
  return {
    url: listening.url,
    /** Everything that was answered so far. */
    answers,
    send: (sent: Send) => sendTo(listening.url, sent, answers),
    host: new URL(listening.url).host,
    devin,
    store,
    lines,
    operator: await signedIn('operator'),
    viewer: await signedIn('viewer'),
    attempt: {
      id: begun.attemptId,
      cookie: `outposts-attempt=${await attempts.issue(begun.attemptId)}`,
      token: attempts.formToken(begun.attemptId),
    },
    raw: () => [database, `${database}-wal`].map((file) => readFileSync(file, 'latin1')).join('\n'),
    async close() {
      await listening.close();
      await store.close();
      await devin.close();
      await platform.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function sendTo(
  url: string,
  { method = 'GET', path, headers = {}, body }: Send,
  answers: string[],
): Promise<Answer> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const sending = request(
      `${url}/`,
      { method, path, headers: given as Record<string, string> },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          // A stream of events never ends by itself.
          if (response.headers['content-type']?.startsWith('text/event-stream')) response.destroy();
        });
        response.once('close', () => {
          answers.push(text, JSON.stringify(response.headers));
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sending.once('error', reject);
    sending.end(body);
  });
}
