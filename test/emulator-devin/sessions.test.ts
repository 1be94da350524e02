import { describe, expect, test } from 'vitest';
import { serve, startCloud, temporaryDirectory } from './rig.js';

const outputs = (view: { outputs: { code: number; output: string }[] }) =>
  view.outputs.map(({ code, output }) => [code, output.trim()]);

describe('a scripted session', () => {
  test('commands -> run in order in the working directory, code and output are kept', async () => {
    const { cloud } = await startCloud();
    cloud.startSession({ id: 'a', script: [{ run: 'pwd' }, { run: 'echo bad >&2; exit 3' }] });
    const dir = temporaryDirectory();
    await serve(cloud, 'a', dir);
    const view = await cloud.until('a', (each) => each.outputs.length === 2);
    expect(outputs(view)).toEqual([
      [0, dir],
      [3, 'bad'],
    ]);
    expect(view.status).toBe('running');
  });

  test('end -> the remote exits 0; the status follows two seconds later; the claim has a deadline again', async () => {
    const { cloud, clock, fleet } = await startCloud();
    cloud.startSession({ id: 'a', script: [{ end: true }] });
    const { exited } = await serve(cloud, 'a', temporaryDirectory());
    expect((await exited).code).toBe(0);
    await cloud.until('a', (view) => view.remotes.now === 0);
    expect(cloud.session('a').remotes.list[0]?.exitCode).toBe(0);
    await clock.advance(1_999);
    expect((await fleet.read('a')).body.status).toMatchObject({
      session_status: 'running',
      claim_deadline: null,
    });
    await clock.advance(1);
    expect((await fleet.read('a')).body.status).toMatchObject({
      phase: 'claimed',
      session_status: 'terminated',
      claim_deadline: expect.any(Number),
    });
  });

  test('wait -> the next step comes when that time has passed', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a', script: [{ run: 'true' }, { waitMs: 600_000 }, { run: 'true' }] });
    await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.step === 1);
    await clock.advance(0);
    await clock.advance(599_999);
    expect(cloud.session('a').step).toBe(1);
    await clock.advance(1);
    await cloud.until('a', (view) => view.step === 3);
  });

  test('suspend with flicker -> shown twice while the remote flushes, and true after it left; a resume goes on where it stopped', async () => {
    const { cloud, clock, fleet } = await startCloud();
    const dir = temporaryDirectory();
    cloud.startSession({
      id: 'a',
      script: [
        { run: 'echo kept > file' },
        { suspend: true, flickerReads: 2, flushMs: 8_000 },
        { run: 'cat file' },
        { end: true },
      ],
    });
    const first = await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.wish === 'sleep');
    const status = async () => (await fleet.read('a')).body.status.session_status;
    expect([await status(), await status(), await status()]).toEqual(['suspended', 'suspended', 'running']);
    await clock.advance(8_000);
    expect((await first.exited).code).toBe(0);
    expect(await status()).toBe('running');
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(2_000);
    expect(await status()).toBe('suspended');
    await fleet.release('a');

    cloud.resume('a');
    const second = await serve(cloud, 'a', dir, 'us-2');
    expect((await second.exited).code).toBe(0);
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(2_000);
    const view = cloud.session('a');
    expect(view).toMatchObject({ status: 'terminated', kind: 'resume', step: 4 });
    expect(outputs(view).at(-1)).toEqual([0, 'kept']);
    expect(view.remotes).toMatchObject({ ever: 2, maxAtOnce: 1 });
    expect(view.remotes.list.map((remote) => remote.starts)).toEqual([1, 2]);
  });

  test('crash -> the remote exits with that code, the next one goes on after it', async () => {
    const { cloud } = await startCloud();
    const dir = temporaryDirectory();
    cloud.startSession({ id: 'a', script: [{ crash: 9 }, { run: 'echo on' }] });
    const first = await serve(cloud, 'a', dir);
    expect((await first.exited).code).toBe(9);
    expect(cloud.session('a').status).toBe('running');
    await serve(cloud, 'a', dir);
    const view = await cloud.until('a', (each) => each.outputs.length === 1);
    expect(outputs(view)).toEqual([[0, 'on']]);
    expect(view.remotes.list.map((remote) => remote.exitCode)).toEqual([null, null]);
  });

  test('the remote is killed in the middle of a command -> the next remote runs it again', async () => {
    const { cloud } = await startCloud();
    const dir = temporaryDirectory();
    cloud.startSession({
      id: 'a',
      script: [{ run: 'echo x >> tries; [ $(wc -l < tries) = 2 ] && echo done || sleep 600' }],
    });
    const first = await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.status === 'running');
    await cloud.say('a', 'while [ ! -e tries ]; do sleep 0.02; done');
    first.child.kill('SIGTERM');
    await first.exited;
    await serve(cloud, 'a', dir);
    const view = await cloud.until('a', (each) => each.step === 1);
    expect(view.outputs.filter(({ by }) => by === 'script')).toMatchObject([{ output: 'done\n' }]);
  });

  test('hang -> alive and deaf: not even an end reaches it', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a', script: [{ hang: true }] });
    const { child, exited } = await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.step === 1);
    cloud.end('a');
    await clock.advance(60_000);
    expect(cloud.session('a')).toMatchObject({ status: 'running', remotes: { now: 1 } });
    child.kill('SIGKILL');
    await exited;
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(2_000);
    expect(cloud.session('a').status).toBe('terminated');
  });
});

describe('a session without a script', () => {
  test('idles, does what it is told, sleeps, comes back, ends', async () => {
    const { cloud, clock, fleet } = await startCloud();
    const dir = temporaryDirectory();
    cloud.startSession({ id: 'a' });
    const first = await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.status === 'running');
    expect(await cloud.say('a', 'echo hello; exit 4')).toEqual({ code: 4, output: 'hello\n' });
    cloud.suspend('a');
    expect((await first.exited).code).toBe(0);
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(2_000);
    expect(cloud.session('a').status).toBe('suspended');
    await fleet.release('a');
    cloud.resume('a');
    const second = await serve(cloud, 'a', dir);
    await cloud.until('a', (view) => view.status === 'running');
    cloud.end('a');
    expect((await second.exited).code).toBe(0);
  });

  test('put to sleep while it is being provisioned -> a remote that comes all the same is sent home', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a' });
    cloud.suspend('a');
    await clock.advance(2_000);
    const { exited } = await serve(cloud, 'a', temporaryDirectory());
    expect((await exited).code).toBe(0);
    expect(cloud.session('a').status).toBe('suspended');
  });

  test('acts at the wrong moment -> an error that says so, and nothing changes', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a' });
    expect(() => cloud.startSession({ id: 'a' })).toThrow('exists already');
    expect(() => cloud.resume('a')).toThrow('cannot be resumed');
    await expect(cloud.say('a', 'true')).rejects.toThrow('no remote');
    cloud.end('a');
    await clock.advance(2_000);
    expect(() => cloud.suspend('a')).toThrow('cannot be suspended');
    expect(() => cloud.end('a')).toThrow('over already');
    expect(() => cloud.end('b')).toThrow('no session b');
  });

  test('a command is under way when the session ends -> its caller is told', async () => {
    const { cloud, clock } = await startCloud();
    cloud.startSession({ id: 'a' });
    await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    const answer = expect(cloud.say('a', 'sleep 600')).rejects.toThrow('a is terminated');
    cloud.end('a');
    await cloud.until('a', (view) => view.remotes.now === 0);
    await clock.advance(2_000);
    await answer;
  });

  test('listeners hear every event until they stop listening', async () => {
    const { cloud, fleet } = await startCloud();
    const heard: string[] = [];
    const stop = cloud.on((event, id) => heard.push(`${id} ${event.kind}`));
    cloud.startSession({ id: 'a' });
    await fleet.claim('a');
    stop();
    await fleet.release('a');
    expect(heard).toEqual(['a queued', 'a claimed']);
  });

  test('the row says pending while the remote is lost, where that is wanted', async () => {
    const { cloud, fleet } = await startCloud({ lostRemoteStatus: 'pending' });
    cloud.startSession({ id: 'a', script: [{ crash: 1 }] });
    await (await serve(cloud, 'a', temporaryDirectory())).exited;
    await cloud.until('a', (view) => view.remotes.now === 0 && view.status === 'pending');
    expect((await fleet.read('a')).body.status).toMatchObject({ phase: 'claimed', acceptor_id: 'us' });
  });

  test('the deadline stays while running, where that is wanted', async () => {
    const { cloud, fleet } = await startCloud({ keepDeadlineWhileRunning: true });
    cloud.startSession({ id: 'a' });
    await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    expect((await fleet.read('a')).body.status.claim_deadline).toEqual(expect.any(Number));
  });
});

describe('closing', () => {
  test('with a watch, a hanging call, a delayed one and a remote under way -> all of them end', async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'a', script: [{ waitMs: 600_000 }] });
    const { exited } = await serve(cloud, 'a', temporaryDirectory());
    await cloud.until('a', (view) => view.status === 'running');
    const watch = await fetch(`${cloud.url}/opbeta/outposts/devins?watch=true`, {
      headers: { authorization: `Bearer ${cloud.token}` },
    });
    cloud.faults.add({ on: 'list', kind: 'hang' });
    cloud.faults.add({ on: 'read', kind: { delayMs: 60_000 } });
    const calls = [fleet.list(), fleet.read('a'), watch.text()].map((call) => call.catch(() => 'cut'));
    while (cloud.calls.count('list') === 0 || cloud.calls.count('read') === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await cloud.close();
    expect(await calls[0]).toBe('cut');
    await Promise.all(calls);
    expect((await exited).code).toBe(77);
    await expect(fetch(cloud.url)).rejects.toThrow();
  });
});
