import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import {
  attachWorld,
  type Demo,
  demoScripts,
  startWorld,
  type World,
} from '../../src/emulator/world/index.js';
import { createCaller, serve, temporaryDirectory } from './rig.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Serves the demo with bare remotes, one directory per session (or per claim), until all are over. */
async function serveDemo(world: World, demo: Demo, directoryFor: (id: string) => string) {
  const fleet = createCaller(world.devin);
  const serveOne = async (id: string, done: Promise<unknown>) => {
    let over = false;
    done.finally(() => {
      over = true;
    });
    for (let episode = 1; !over; episode += 1) {
      await world.devin.until(id, (view) => over || (view.phase === 'pending' && view.status === 'pending'));
      const dir = directoryFor(id);
      for (let code: number | null = 1; code !== 0; ) {
        code = (await (await serve(world.devin, id, dir, `us-${episode}`)).exited).code;
      }
      await world.devin.until(id, (view) => ['suspended', 'terminated'].includes(view.status));
      await fleet.release(id, `us-${episode}`);
      if (world.devin.session(id).status === 'terminated') return;
    }
  };
  await Promise.all(
    demo.sessionIds.map((id, index) => serveOne(id, demo.reports[index] as Promise<unknown>)),
  );
  return Promise.all(demo.reports);
}

const startTestWorld = async () => {
  const world = await startWorld({
    dir: temporaryDirectory(),
    speed: 200,
    // Starting a remote takes real time, which is long in this world.
    devin: { claimTtlMs: 3_600_000, giveUpMs: 3_600_000 },
  });
  cleanups.push(() => world.close());
  return world;
};

describe('demo', () => {
  test('scripts come in three kinds, in turn, and each ends by itself', () => {
    const scripts = demoScripts(5);
    const titles = scripts.map(({ title }) => title);
    expect(new Set(titles).size).toBe(3);
    expect(titles.slice(3)).toEqual(titles.slice(0, 2));
    for (const { script } of scripts) expect(script.at(-1)).toEqual({ end: true });
  });

  test('all three kinds are served -> all hold', async () => {
    const world = await startTestWorld();
    const demo = await world.runDemo(3);
    const directories = new Map(demo.sessionIds.map((id) => [id, temporaryDirectory()]));
    const reports = await serveDemo(world, demo, (id) => directories.get(id) as string);
    expect(reports).toMatchObject([
      { ok: true, problems: [], status: 'terminated' },
      { ok: true, problems: [], status: 'terminated' },
      { ok: true, problems: [], status: 'terminated' },
    ]);
    expect(reports[0]?.tookMs).toBeGreaterThan(600_000);
  });

  test('the files of the sleeper are gone after its resume -> its report says so, the others hold', async () => {
    const world = await startTestWorld();
    const demo = await world.runDemo(2);
    const reports = await serveDemo(world, demo, temporaryDirectory);
    expect(reports).toMatchObject([
      { ok: true },
      { ok: false, problems: [expect.stringContaining('note.txt is lost')] },
    ]);
  });
});

describe('another process', () => {
  /** `main.ts` as a child that lives no longer than this process. */
  async function spawnWorld(...args: string[]) {
    const child = spawn(
      process.execPath,
      [
        '--import',
        'tsx',
        'src/emulator/world/main.ts',
        '--dir',
        temporaryDirectory(),
        '--while-stdin',
        ...args,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    cleanups.push(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    return { child, ...(JSON.parse(line) as { url: string; token: string; pid: number }) };
  }
  const codeOf = async (child: ChildProcess) => (await once(child, 'exit'))[0] as number | null;

  test('attaches -> has the same time and works sessions; SIGTERM ends the world and what runs in its sandboxes', async () => {
    const { child, url, token } = await spawnWorld('--speed', '50');
    const world = await attachWorld(url, token);
    expect(world.clock.speed).toBe(50);
    const before = Date.now();
    expect(world.worldClock.now() - world.clock.origin.clock).toBeGreaterThanOrEqual(
      (before - world.clock.origin.wall) * 50,
    );
    expect(world.env).toMatchObject({
      DEVIN_API_URL: world.devinUrl,
      DEVIN_OUTPOSTS_TOKEN: expect.stringMatching(/^cog_/),
      VERCEL_TEAM_ID: expect.any(String),
    });
    await world.control.startSession({ id: 'a' });
    await world.control.suspend('a');
    expect(await world.control.sessions()).toMatchObject([{ id: 'a', wish: 'sleep' }]);
    await expect(world.control.session('b')).rejects.toThrow('404 from the world: no session b');
    await world.call('POST', '/faults', { on: 'list', kind: { status: 503 } });
    expect(await world.call('GET', '/faults')).toMatchObject([{ on: 'list' }]);

    const pid = await runInSandbox(world.vercelUrl, world.env, 'echo $$; exec sleep 600');
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGTERM');
    expect(await codeOf(child)).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  test('its starter goes away -> the world ends by itself', async () => {
    const { child } = await spawnWorld();
    child.stdin?.end();
    expect(await codeOf(child)).toBe(0);
  });

  test('a wrong token, an address that is not this machine -> refused', async () => {
    const { url } = await spawnWorld();
    await expect(attachWorld(url, 'wrong')).rejects.toThrow('401 from the world');
    await expect(attachWorld('http://example.com', 'wrong')).rejects.toThrow('on this machine');
    await expect(attachWorld('https://127.0.0.1', 'wrong')).rejects.toThrow('http on this machine');
  });
});

/** Starts a command in a fresh sandbox and answers the number that it prints first. */
async function runInSandbox(vercelUrl: string, env: Readonly<Record<string, string>>, script: string) {
  const call = async (path: string, body: unknown) => {
    const answer = await fetch(`${vercelUrl}${path}?teamId=${env.VERCEL_TEAM_ID}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.VERCEL_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    return answer;
  };
  const created = (await (
    await call('/v2/sandboxes', { projectId: env.VERCEL_PROJECT_ID, name: 'box', runtime: 'node24' })
  ).json()) as { session: { id: string } };
  const stream = await call(`/v2/sandboxes/sessions/${created.session.id}/cmd`, {
    command: 'bash',
    args: ['-c', script],
    wait: true,
    logs: true,
  });
  let text = '';
  for await (const chunk of stream.body ?? []) {
    text += Buffer.from(chunk).toString();
    const printed = /"data":"(\d+)\\n"/.exec(text)?.[1];
    if (printed) return Number(printed);
  }
  throw new Error('the command printed nothing');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
