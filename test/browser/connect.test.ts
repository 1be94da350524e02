/** Both ways to connect, in a real browser, from nothing to a served session. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPlatform } from '../../src/emulator/platform/index.js';
import { CRON_SECRET, freePort, SPEED, sleeper, untilOver, WAIT_MS } from '../deployed/support.js';
import { startChild, startOpenWorld } from '../e2e/child.js';
import { onEnd } from '../e2e/support.js';
import { startPostgres, type TestPostgres } from '../support/postgres.js';
import { hasBrowser, openBrowser, picture } from './chromium.js';

const ROOT = 'canary-root-secret-0123456789-0123456789';
const OPERATOR = 'canary-operator-secret';
const VIEWER = 'canary-viewer-secret-1';

describe.skipIf(!hasBrowser)('in a browser', () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.close());

  async function serve(world: Awaited<ReturnType<typeof startOpenWorld>>, env: Record<string, string>) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const child = await startChild(world, await postgres.createDatabase(), {
      command: 'serve',
      port,
      env: { CRON_SECRET, PUBLIC_URL: url, ...env },
    });
    await child.up();
    return { url, child };
  }
  const UNCONNECTED = { DEVIN_OUTPOSTS_TOKEN: '', DEVIN_OUTPOST_ID: '' };

  test('a deployment connects itself -> a session of the new outpost is served, and seen on the page', async () => {
    const world = await startOpenWorld({ speed: SPEED });
    const { url, child } = await serve(world, {
      ...UNCONNECTED,
      DEVIN_CONNECTION_SECRET: ROOT,
      OPERATOR_SECRET: OPERATOR,
      VIEWER_SECRET: VIEWER,
    });
    const { page, complaints } = await openBrowser();

    await page.goto(url);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await picture(page, '01-sign-in');
    await page.fill('[name=secret]', 'not-the-secret-of-this');
    await page.click('text=Sign in');
    await page.waitForSelector('[role=alert]');
    await page.fill('[name=secret]', OPERATOR);
    await page.click('button');
    await page.waitForURL(`${url}/connect`);
    await picture(page, '02-unconnected');

    await page.click('text=Connect Devin >> visible=true >> nth=-1');
    await page.waitForSelector('text=This callback address is not on the list');
    world.devin.connect.callbacks.push(`${url}/connect/callback`);
    await page.goto(`${url}/connect`);
    await page.click('form[action="/connect/start"] button');
    await page.waitForURL(`${world.devin.url}/outposts/connect?**`);
    await picture(page, '03-devin');
    await page.click('text=Connect >> nth=-1');
    await page.waitForURL(`${url}/connect/attempt`);
    await page.waitForSelector('text=Connected to the outpost');
    expect(page.url()).not.toContain('code=');
    await picture(page, '04-connected');

    const outpostId = (await page.textContent('.said .id')) ?? '';
    world.devin.startSession({ id: 'devin-one', outpostId, script: sleeper.slice(0, 1) });
    await page.click('text=See the sessions');
    await page.waitForSelector('text=devin-one', { timeout: WAIT_MS });
    await picture(page, '05-sessions');
    world.devin.end('devin-one');
    await untilOver(world, 'devin-one');

    await page.click('text=Connection');
    await page.waitForSelector('text=Connected in the browser');
    await picture(page, '06-connection');
    await page.check('[name=sure]');
    await page.click('form[action="/connect/disconnect"] button');
    await page.waitForSelector('text=Disconnected');
    await page.click('text=Sign out');
    await page.waitForURL(`${url}/sign-in`);
    expect(child.output()).not.toMatch(/canary|cog_/);
    const ours = complaints.filter((text) => text.startsWith(url));
    expect(ours).toEqual([expect.stringMatching(/sign-in: .*status of 401/)]);
  }, 300_000);

  test('the Deploy Button -> the project has its settings, serves a session, and its operator signs in', async () => {
    const world = await startOpenWorld({ speed: SPEED });
    const platform = await startPlatform();
    onEnd(() => platform.close());
    const controller = await serve(world, {
      ...UNCONNECTED,
      DEVIN_CONNECTION_SECRET: ROOT,
      VERCEL_INTEGRATION_CLIENT_ID: platform.clientId,
      VERCEL_INTEGRATION_CLIENT_SECRET: platform.clientSecret,
      VERCEL_API_URL: platform.url,
    });
    platform.redirectUrl = `${controller.url}/integration/callback`;
    world.devin.connect.callbacks.push(`${controller.url}/connect/callback`);
    const { page, complaints } = await openBrowser({ phone: true, script: false });

    await page.goto(`${platform.url}/new/clone?project-name=my-outposts`);
    await page.click('text=Add integration');
    await page.waitForURL(`${controller.url}/connect/project`);
    await page.waitForSelector('text=my-outposts');
    await picture(page, '11-project');
    await page.click('text=Go on to Devin');
    await page.waitForURL(`${world.devin.url}/outposts/connect?**`);
    await page.click('text=Connect >> nth=-1');
    const back = page.waitForRequest('https://vercel.com/new/continue?**');
    await page.waitForSelector('text=The settings are in the project');
    await picture(page, '12-set-up');
    await back;

    const [project] = platform.projects.values();
    const env = Object.fromEntries([...(project?.env ?? [])].map(([key, { value }]) => [key, value]));
    const deployed = await serve(world, env);
    const outpostId = env.DEVIN_OUTPOST_ID ?? '';
    world.devin.startSession({ id: 'devin-two', outpostId, script: sleeper.slice(0, 1) });
    await world.devin.until('devin-two', ({ remotes }) => remotes.now === 1, WAIT_MS);

    await page.goto(deployed.url);
    await page.fill('[name=secret]', env.OPERATOR_SECRET ?? '');
    await page.click('button');
    await page.waitForSelector('text=devin-two');
    await picture(page, '13-sessions-phone');
    world.devin.end('devin-two');
    await untilOver(world, 'devin-two');
    const said = controller.child.output() + deployed.child.output();
    for (const [key, value] of Object.entries(env))
      if (/SECRET|TOKEN/.test(key)) expect(said, key).not.toContain(value);
    expect(complaints.filter((text) => text.startsWith(deployed.url))).toEqual([]);
  }, 300_000);
});
