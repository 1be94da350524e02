import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCaller, remoteEnv, serve, startCloud, startRemote, temporaryDirectory } from './rig.js';

describe('the published files', () => {
  const fetchText = async (url: string) => {
    const answer = await fetch(url);
    return { status: answer.status, text: await answer.text() };
  };

  test('latest -> a 40-digit SHA whose binary matches its digest', async () => {
    const { cloud } = await startCloud();
    const sha = (await fetchText(`${cloud.staticUrl}/latest_linux_x64`)).text.trim();
    expect(sha).toMatch(/^[0-9a-f]{40}$/);
    const binary = await fetchText(`${cloud.staticUrl}/devin-remote_${sha}_linux_x64`);
    const digest = await fetchText(`${cloud.staticUrl}/devin-remote_${sha}_linux_x64.sha256`);
    expect(digest.text.split(/\s+/)[0]).toBe(createHash('sha256').update(binary.text).digest('hex'));
  });

  test('broken ones -> bytes that do not match, or 404 for that file alone', async () => {
    const { cloud } = await startCloud();
    const file = (sha: string, end = '') => `${cloud.staticUrl}/devin-remote_${sha}_linux_x64${end}`;
    const bytes = cloud.remotes.publish({ broken: 'bytes' });
    const digest = (await fetchText(file(bytes, '.sha256'))).text.split(/\s+/)[0];
    const body = (await fetchText(file(bytes))).text;
    expect(digest).not.toBe(createHash('sha256').update(body).digest('hex'));

    const noBinary = cloud.remotes.publish({ broken: 'binary', latest: false });
    expect((await fetchText(file(noBinary))).status).toBe(404);
    expect((await fetchText(file(noBinary, '.sha256'))).status).toBe(200);
    const noDigest = cloud.remotes.publish({ broken: 'digest', latest: false });
    expect((await fetchText(file(noDigest))).status).toBe(200);
    expect((await fetchText(file(noDigest, '.sha256'))).status).toBe(404);
    expect(cloud.remotes.latest()).toBe(bytes);
    expect(() => cloud.remotes.publish({ sha: '../etc' })).toThrow();
  });
});

describe('devin-remote', () => {
  test.each([
    'DEVIN_OUTPOST_GATEWAY_URL',
    'DEVIN_OUTPOST_CONNECT_TOKEN',
    'DEVIN_OUTPOST_SESSION_ID',
    'DEVIN_REMOTE_STATE_DIR',
  ])('without %s -> exits 64 and says so', async (name) => {
    const { cloud } = await startCloud();
    const dir = temporaryDirectory();
    const env: Record<string, string> = remoteEnv(dir, { id: 'a', token: 't', gateway: cloud.gatewayUrl });
    delete env[name];
    const { exited } = await startRemote(cloud, dir, env);
    expect(await exited).toEqual({ code: 64, stderr: expect.stringContaining(name) });
  });

  test('without `serve` -> exits 64', async () => {
    const { cloud } = await startCloud();
    const dir = temporaryDirectory();
    const env = remoteEnv(dir, { id: 'a', token: 't', gateway: cloud.gatewayUrl });
    expect((await (await startRemote(cloud, dir, env, [])).exited).code).toBe(64);
  });

  test('with a token that no claim gave -> exits 77', async () => {
    const { cloud } = await startCloud();
    cloud.startSession({ id: 'a' });
    const dir = temporaryDirectory();
    const env = remoteEnv(dir, { id: 'a', token: 'ct_made-up', gateway: cloud.gatewayUrl });
    expect((await (await startRemote(cloud, dir, env)).exited).code).toBe(77);
    expect(cloud.session('a').remotes.ever).toBe(0);
  });

  test('connected -> running, no deadline, and the gateway knows its directory and the names of its environment', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    const dir = temporaryDirectory();
    const { child } = await serve(cloud, 'a', dir);
    const view = await cloud.until('a', (each) => each.status === 'running');
    expect(view.remotes).toMatchObject({ ever: 1, now: 1, maxAtOnce: 1 });
    expect(view.remotes.list[0]).toMatchObject({
      pid: child.pid,
      cwd: dir,
      build: cloud.remotes.latest(),
      starts: 1,
      envNames: [
        'DEVIN_OUTPOST_CONNECT_TOKEN',
        'DEVIN_OUTPOST_GATEWAY_URL',
        'DEVIN_OUTPOST_SESSION_ID',
        'DEVIN_REMOTE_STATE_DIR',
        'PATH',
      ],
    });
    expect((await fleet.read('a')).body.status).toMatchObject({
      claim_deadline: null,
      session_status: 'running',
    });
    expect(JSON.stringify(view)).not.toContain('ct_');
  });

  test('an old token of the same claim still connects after a renewal', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    const { connect_token: token } = (await fleet.claim('a')).body.status;
    await fleet.claim('a');
    const dir = temporaryDirectory();
    await startRemote(cloud, dir, remoteEnv(dir, { id: 'a', token, gateway: cloud.gatewayUrl }));
    expect((await cloud.until('a', (view) => view.status === 'running')).remotes.now).toBe(1);
  });

  test('a second one -> refused with exit 75, and the view says that two were alive', async () => {
    const { cloud } = await startCloud();
    cloud.startSession({ id: 'a' });
    await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    const second = await serve(cloud, 'a', temporaryDirectory());
    expect((await second.exited).code).toBe(75);
    expect(cloud.session('a').remotes).toMatchObject({ ever: 1, now: 1, maxAtOnce: 2 });
  });

  test('its stream breaks -> it comes back as the same one, and its command is not run twice', async () => {
    const { cloud } = await startCloud();
    cloud.startSession({ id: 'a' });
    const dir = temporaryDirectory();
    await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.status === 'running');
    const answer = cloud.say(
      'a',
      'echo run >> runs; while [ ! -e go ]; do sleep 0.02; done; echo over; cat runs',
    );
    while (!existsSync(join(dir, 'runs'))) await new Promise((resolve) => setImmediate(resolve));
    cloud.cutRemotes('a');
    await cloud.until('a', (view) => view.remotes.list[0]?.connections === 2 && view.remotes.now === 1);
    await cloud.say('a', 'touch go');
    expect(await answer).toEqual({ code: 0, output: 'over\nrun\n' });
    expect(cloud.session('a').remotes).toMatchObject({ ever: 1, maxAtOnce: 1 });
  });

  test.each(['drop', 'loseAnswer', 'garbage', { status: 503 }] as const)(
    'the gateway answers the first connect with %j -> it tries again',
    async (kind) => {
      const { cloud } = await startCloud();
      cloud.faults.add({ on: 'gateway', session: 'a', kind });
      cloud.startSession({ id: 'a', script: [{ run: 'echo on' }] });
      await serve(cloud, 'a', temporaryDirectory());
      const view = await cloud.until('a', (each) => each.outputs.length === 1);
      expect(view.outputs[0]?.output).toBe('on\n');
      expect(view.remotes).toMatchObject({ ever: 1, maxAtOnce: 1 });
    },
  );

  test('its stream breaks while the session is being put to sleep -> it comes back and is sent home', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a' });
    const { exited } = await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    cloud.cutRemotes('a');
    cloud.suspend('a');
    expect((await exited).code).toBe(0);
    await clock.advance(2_000);
    expect(cloud.session('a')).toMatchObject({ status: 'suspended', remotes: { ever: 1, now: 0 } });
  });

  test('SIGTERM -> exits 143 and takes its commands along; the session waits for another', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a' });
    const dir = temporaryDirectory();
    const { child, exited } = await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.status === 'running');
    cloud.say('a', 'echo $$ > pid; exec sleep 600').catch(() => {});
    while (!existsSync(join(dir, 'pid')) || readFileSync(join(dir, 'pid'), 'utf8') === '') {
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill('SIGTERM');
    expect((await exited).code).toBe(143);
    const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(3_600_000);
    expect(cloud.session('a')).toMatchObject({ status: 'running', phase: 'claimed' });
  });

  test('the claim is released under it -> exits 77, and the session can be claimed again', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a' });
    const { exited } = await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    await fleet.release('a');
    expect((await exited).code).toBe(77);
    expect((await fleet.claim('a', 'them')).status).toBe(201);
  });

  test('a session with a pinned build -> only that build attaches', async () => {
    const { cloud } = await startCloud();
    const pinned = cloud.remotes.publish({ sha: 'abcdef1' });
    cloud.startSession({ id: 'a', remoteSha: pinned });
    cloud.remotes.publish();
    const wrong = await serve(cloud, 'a', temporaryDirectory());
    expect((await wrong.exited).code).toBe(78);
    expect(cloud.session('a')).toMatchObject({ status: 'pending', remotes: { ever: 0 } });
    cloud.remotes.publish({ sha: pinned });
    await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
  });

  test('another session’s token -> exits 77', async () => {
    const { cloud } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.startSession({ id: 'b' });
    const claimed = await createCaller(cloud).claim('a');
    const dir = temporaryDirectory();
    const env = remoteEnv(dir, {
      id: 'b',
      token: claimed.body.status.connect_token,
      gateway: cloud.gatewayUrl,
    });
    expect((await (await startRemote(cloud, dir, env)).exited).code).toBe(77);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
