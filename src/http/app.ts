/**
 * What a deployment answers besides its cron: health to everybody, the doorbell
 * to vms, two callbacks to the browser that began, and pages to who has signed
 * in. Without a sign-in, a server's page is for who sits at its machine.
 */
import { type Context, Hono } from 'hono';
import { CALLBACK_PATH, type Config, describeProblems, INTEGRATION_PATH } from '../config/index.js';
import { assetRoutes } from '../dashboard/assets.js';
import { pageHeaders } from '../dashboard/headers.js';
import type { Deployment } from '../deployment.js';
import { createAttemptCookies } from '../operators/attempts.js';
import { createOperators } from '../operators/operators.js';
import { createPatience } from '../operators/patience.js';
import type { Runs } from '../ports/runs.js';
import { createKeyRing } from '../vault/keys.js';
import { answerTrouble, headed, plain } from './answers.js';
import { createBrowsers } from './browser.js';
import { connectRoutes } from './connect.js';
import { doorbellRoute } from './doorbell.js';
import { createHealth, type DeploymentHealth } from './health.js';
import { localPage } from './local-page.js';
import { networkOf } from './network.js';
import { createPage } from './page.js';
import { createPeople } from './people.js';
import { noSignInRoutes, signInRoutes } from './sign-in.js';

export interface ControlAppDeps {
  readonly deployment: Deployment;
  readonly runs: Runs;
  /** Whether who asks directly gets the operator's page without a sign-in, where there is none; never on Vercel. */
  readonly page?: boolean;
}

type Surroundings = Pick<ControlAppDeps, 'deployment' | 'runs'> & { health(): Promise<DeploymentHealth> };

export function createControlApp({ page = true, ...surroundings }: ControlAppDeps): Hono {
  const { deployment } = surroundings;
  const app = new Hono();
  const healthAt = createHealth(deployment);
  app.onError((error, c) => answerTrouble(c, error, deployment));
  app.notFound((c) => c.text('There is nothing here. Try /api/health.\n', 404));
  app.use('/api/*', plain);
  app.get('/api/health', async (c) => {
    const health = await healthAt(Date.now());
    return health.status === 'unready' ? c.json(health, 503, { 'Retry-After': '10' }) : c.json(health);
  });
  app.route('/api/sessions', doorbellRoute(surroundings));

  const { config } = deployment;
  const around = { ...surroundings, health: () => healthAt(Date.now()) };
  if (config.kind === 'problems') {
    const named = deployment.onVercel
      ? '; /api/health names them.'
      : `:\n${describeProblems(config.problems)}`;
    app.get('/', (c) => c.text(`The settings have problems${named}\n`, 503));
    return app;
  }
  mountPages(app, around, config.config, page && !deployment.onVercel);
  return app;
}

function mountPages(app: Hono, around: Surroundings, config: Config, local: boolean): void {
  const { deployment } = around;
  const { connect, operators: secrets, publicUrl } = config;
  const root = connect.secret;
  if (root === null) {
    mountUnsigned(app, around, local);
    return;
  }
  const secure = deployment.onVercel || (publicUrl?.startsWith('https:') ?? false);
  const keys = createKeyRing(root.reveal(), connect.previousSecret?.reveal() ?? null);
  const operators = createOperators({
    keys,
    secrets: {
      operator: secrets.operatorSecret?.reveal() ?? null,
      viewer: secrets.viewerSecret?.reveal() ?? null,
    },
  });
  const people = createPeople({ operators, secure });

  const callbackPath = connect.callbackUrl === null ? CALLBACK_PATH : new URL(connect.callbackUrl).pathname;
  const ours = headed(pageHeaders({ https: secure }));
  // Their addresses hold codes.
  const callback = headed(pageHeaders({ https: secure, unreferred: true }));
  app.use('*', (c, next) =>
    ([callbackPath, INTEGRATION_PATH].includes(c.req.path) ? callback : ours)(c, next),
  );

  app.route('/', assetRoutes());
  app.route(
    '/',
    connectRoutes({
      people,
      browsers: createBrowsers(createAttemptCookies(keys), secure),
      connector: async () => (await deployment.connections())?.connector ?? null,
      missing: missingToConnect(config),
      callbackUrl: connect.callbackUrl,
      callbackPath,
      integrationPath: connect.integration === null ? null : INTEGRATION_PATH,
      clientOf: (c) => clientOf(c, deployment),
      log: deployment.log,
    }),
  );
  if (!operators.open) {
    mountUnsigned(app, around, local);
    return;
  }
  const patience = createPatience({ store: async () => (await deployment.base()).store, keys });
  app.route('/', signInRoutes({ people, operators, patience, clientOf: (c) => clientOf(c, deployment) }));
  app.get('/', people.admission.gate, async (c, next) => {
    const { account } = await deployment.base();
    // There is nothing to see before that.
    return (await account.current()) === null ? c.redirect('/connect', 303) : next();
  });
  app.route('/', createPage({ ...around, admission: people.admission, world: 'deployed' }));
}

/** Where nobody can sign in. */
function mountUnsigned(app: Hono, around: Surroundings, local: boolean): void {
  app.route('/', assetRoutes());
  app.route('/', noSignInRoutes(local ? ['/connect'] : ['/', '/connect']));
  if (local) app.route('/', localPage(around));
}

function missingToConnect({ connect }: Config) {
  if (connect.callbackUrl !== null) return [];
  return [
    { variable: 'PUBLIC_URL', why: 'the address under which browsers, and sandboxes, reach this deployment' },
  ];
}

/** Vercel tells whose request it is, whatever the client says; elsewhere nobody can know. */
function clientOf(c: Context, { onVercel }: Deployment): string | null {
  return onVercel ? networkOf(c.req.header('x-real-ip') ?? '') : null;
}
