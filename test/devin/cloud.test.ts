/** The client against the emulated cloud: the meanings of the contract, not only its shapes. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { isSha, latestUrl, remoteFiles } from '../../src/devin/distribution.js';
import { createFleet, type FleetOptions } from '../../src/devin/fleet.js';
import { type DevinCloudOptions, startDevinCloud } from '../../src/emulator/devin/index.js';
import { ContractError, RefusedError, TransientError } from '../../src/errors.js';
import { createClock } from '../../src/ports/clock.js';
import type { ClaimAnswer, WatchHint } from '../../src/ports/fleet.js';
import { createRemoteClock } from '../../src/remote-clock.js';
import { never, thrownBy, until } from './support.js';

const MINUTE = 60_000;
const clock = createClock();

async function world(
  cloudOptions: Partial<DevinCloudOptions> = {},
  fleetOptions: Partial<FleetOptions> = {},
) {
  const cloud = await startDevinCloud({ clock, ...cloudOptions });
  onTestFinished(() => cloud.close());
  const oddities: string[] = [];
  const client = () => {
    const remoteClock = createRemoteClock(clock);
    const fleet = createFleet({
      apiUrl: cloud.url,
      token: () => cloud.token,
      outpostId: cloud.outpostId,
      clock,
      remoteClock,
      onOddity: (text) => oddities.push(text),
      ...fleetOptions,
    });
    return { fleet, remoteClock };
  };
  return { cloud, oddities, client, ...client() };
}

const held = (answer: ClaimAnswer) => {
  if (answer.kind !== 'claimed') throw new Error(`not claimed but ${answer.kind}`);
  return answer;
};

describe('claims', () => {
  test('two acceptors want one session -> the first has it, the second is told, release hands it over', async () => {
    const { cloud, fleet } = await world();
    const { id } = cloud.startSession();
    const [one, two] = await Promise.all(
      ['one', 'two'].map((acceptor) => fleet.claim(id, acceptor, never())),
    );
    expect([one?.kind, two?.kind].sort()).toEqual(['claimed', 'taken']);
    const [winner, loser] = one?.kind === 'claimed' ? ['one', 'two'] : ['two', 'one'];
    expect(await fleet.read(id, never())).toMatchObject({ phase: 'claimed', acceptorId: winner });
    await fleet.release(id, loser, never());
    expect(await fleet.read(id, never())).toMatchObject({ acceptorId: winner });
    await fleet.release(id, winner, never());
    expect(await fleet.read(id, never())).toMatchObject({ phase: 'pending', acceptorId: null });
    expect((await fleet.claim(id, loser, never())).kind).toBe('claimed');
  });

  test('the same acceptor claims again -> renewed: a fresh token, a deadline no earlier', async () => {
    const { cloud, fleet } = await world({ timestampStyle: 'ms' });
    const { id } = cloud.startSession();
    await fleet.list(never());
    const first = held(await fleet.claim(id, 'me', never()));
    const again = held(await fleet.claim(id, 'me', never()));
    expect(again.grant.connectToken).not.toBe(first.grant.connectToken);
    expect(again.grant.gatewayUrl).toBe(cloud.gatewayUrl);
    expect(again.claimDeadlineAt).toBeGreaterThanOrEqual(first.claimDeadlineAt ?? Number.NaN);
    expect(cloud.session(id).claims.map((claim) => claim.renewal)).toEqual([false, true]);
  });

  test('no such session -> read null, claim gone, release fine', async () => {
    const { fleet } = await world();
    expect(await fleet.read('devin-none', never())).toBeNull();
    expect(await fleet.claim('devin-none', 'me', never())).toEqual({ kind: 'gone' });
    await fleet.release('devin-none', 'me', never());
  });

  test('the answer to a claim is lost -> transient; claiming again under the same acceptor resolves it', async () => {
    const { cloud, fleet } = await world();
    const { id } = cloud.startSession();
    cloud.faults.add({ on: 'claim', kind: 'loseAnswer' });
    expect(await thrownBy(fleet.claim(id, 'me', never()))).toBeInstanceOf(TransientError);
    expect(await fleet.read(id, never())).toMatchObject({ acceptorId: 'me' });
    expect((await fleet.claim(id, 'me', never())).kind).toBe('claimed');
  });

  test('a session that wants more than [A-Za-z0-9_-] -> works all the same', async () => {
    const { cloud, fleet } = await world();
    const { id } = cloud.startSession({ id: 'devin a/b?c#%2e' });
    expect((await fleet.claim(id, 'me', never())).kind).toBe('claimed');
    expect(await fleet.read(id, never())).toMatchObject({ sessionId: id });
    await fleet.release(id, 'me', never());
    expect(cloud.session(id).phase).toBe('pending');
  });
});

describe('the clock of the cloud', () => {
  for (const skewMs of [-10 * MINUTE, 0, 10 * MINUTE]) {
    test.each(['seconds', 'float', 'ms', 'numericString', 'iso'] as const)(
      `${skewMs / MINUTE} min off, instants as %s -> the claim ends after its TTL by our clock`,
      async (timestampStyle) => {
        const { cloud, fleet, remoteClock } = await world({ skewMs, timestampStyle, claimTtlMs: 5 * MINUTE });
        const { id } = cloud.startSession();
        await fleet.list(never());
        const before = clock.now();
        const { claimDeadlineAt } = held(await fleet.claim(id, 'me', never()));
        const after = clock.now();
        expect(claimDeadlineAt).toBeGreaterThan(before + 5 * MINUTE - 2_000);
        expect(claimDeadlineAt).toBeLessThan(after + 5 * MINUTE + 2_000);
        expect(Math.abs((remoteClock.offsetMs() ?? Number.NaN) - skewMs)).toBeLessThan(2_000);
      },
    );
  }

  test('a new process that never listed -> the Date header keeps its renewal right', async () => {
    const { cloud, fleet, client } = await world({ skewMs: 10 * MINUTE });
    const { id } = cloud.startSession();
    await fleet.claim(id, 'me', never());
    const { claimDeadlineAt } = held(await client().fleet.claim(id, 'me', never()));
    expect(Math.abs((claimDeadlineAt ?? 0) - clock.now() - 5 * MINUTE)).toBeLessThan(3_000);
  });
});

describe('the list', () => {
  test('twenty sessions in pages of three -> each once, oldest first, complete', async () => {
    const { cloud, fleet, oddities } = await world({}, { pageSize: 3 });
    const started = Array.from({ length: 20 }, () => cloud.startSession().id);
    const { entries, complete } = await fleet.list(never());
    expect(entries.map((entry) => entry.sessionId)).toEqual(started);
    expect([complete, oddities]).toEqual([true, []]);
    expect(cloud.calls.count('list')).toBeGreaterThan(6);
  });

  test('claimed and pending together -> one list shows both phases', async () => {
    const { cloud, fleet } = await world();
    const [a, b] = [cloud.startSession().id, cloud.startSession().id];
    await fleet.claim(a, 'me', never());
    const { entries } = await fleet.list(never());
    expect(Object.fromEntries(entries.map((entry) => [entry.sessionId, entry.phase]))).toEqual({
      [a]: 'claimed',
      [b]: 'pending',
    });
  });

  test('a wedged cursor -> incomplete; a repeated row -> once; tomorrow’s values -> unknown', async () => {
    const { cloud, fleet } = await world({}, { pageSize: 2 });
    const ids = Array.from({ length: 5 }, () => cloud.startSession().id);
    cloud.faults.add({ on: 'list', kind: 'wedgedCursor', skip: 1 });
    expect((await fleet.list(never())).complete).toBe(false);
    cloud.faults.add({ on: 'list', kind: 'duplicateRow' });
    expect((await fleet.list(never())).entries).toHaveLength(5);
    cloud.faults.add({ on: 'list', kind: 'strangers', session: ids[0] ?? '' });
    const { entries, complete } = await fleet.list(never());
    expect(entries.find((entry) => entry.sessionId === ids[0])).toMatchObject({
      kind: 'unknown',
      status: 'unknown',
    });
    expect(complete).toBe(true);
  });

  test('restricted and unrestricted sessions, a pinned remote, another platform -> passed on as they are', async () => {
    const { cloud, fleet } = await world();
    const sha = 'ab'.repeat(20);
    const policy = { enabled: true, allow: [{ hostname: '*.example.com' }, { ipv4: '10.0.0.0/8' }] };
    cloud.startSession({ id: 'a', policy, remoteSha: sha, kind: 'resume' });
    cloud.startSession({ id: 'b', platform: 'windows' });
    const { entries } = await fleet.list(never());
    expect(entries[0]).toMatchObject({
      kind: 'resume',
      platform: 'linux',
      remoteSha: sha,
      policy: { enabled: true, hosts: ['*.example.com'], subnets: ['10.0.0.0/8'] },
    });
    expect(entries[1]).toMatchObject({ platform: 'windows', remoteSha: null, policy: { enabled: false } });
  });
});

describe('faults', () => {
  test.each([
    [{ status: 503 }, TransientError],
    [{ status: 429, retryAfter: '3' }, TransientError],
    ['drop', TransientError],
    ['hang', TransientError],
    ['garbage', ContractError],
    [{ status: 401 }, RefusedError],
    [{ status: 403 }, RefusedError],
    [{ status: 422 }, RefusedError],
  ] as const)('every call meets %j -> its error once, and the next call works', async (kind, expected) => {
    const { cloud, fleet } = await world({}, { timeoutMs: 500 });
    const { id } = cloud.startSession();
    cloud.faults.add({ on: 'list', kind });
    cloud.faults.add({ on: 'read', kind });
    cloud.faults.add({ on: 'claim', kind });
    expect(await thrownBy(fleet.list(never()))).toBeInstanceOf(expected);
    expect(await thrownBy(fleet.read(id, never()))).toBeInstanceOf(expected);
    expect(await thrownBy(fleet.claim(id, 'me', never()))).toBeInstanceOf(expected);
    expect((await fleet.list(never())).complete).toBe(true);
    expect(await fleet.read(id, never())).toMatchObject({ sessionId: id });
    expect((await fleet.claim(id, 'me', never())).kind).toBe('claimed');
  });

  test('the token is revoked, then a new one is set -> refused, then served', async () => {
    let token = 'cog_revoked';
    const { cloud, fleet } = await world({}, { token: () => token });
    expect(await thrownBy(fleet.list(never()))).toBeInstanceOf(RefusedError);
    token = cloud.access.mint(['machine']);
    expect((await fleet.list(never())).complete).toBe(true);
  });
});

describe('the watch', () => {
  /** Watches until told to stop, one stream after the other. */
  function follow(watch: (signal: AbortSignal) => AsyncIterable<WatchHint>) {
    const caller = new AbortController();
    const hints: WatchHint[] = [];
    let ended = 0;
    const over = (async () => {
      while (!caller.signal.aborted) {
        for await (const hint of watch(caller.signal)) hints.push(hint);
        ended += 1;
      }
    })().catch((error) => {
      if (!caller.signal.aborted) throw error;
    });
    const stop = async () => {
      caller.abort(new Error('seen enough'));
      await over;
    };
    onTestFinished(stop);
    return { hints, ended: () => ended, stop };
  }

  test('a session comes, is claimed and released -> a hint for each change, with the row', async () => {
    const { cloud, fleet } = await world();
    const { hints } = follow(fleet.watch);
    await until(() => cloud.calls.count('watch') === 1);
    const { id } = cloud.startSession();
    await until(() => hints.length === 1);
    expect(hints[0]).toMatchObject({ change: 'modified', sessionId: id, entry: { phase: 'pending' } });
    await fleet.claim(id, 'me', never());
    await until(() => hints.length === 2);
    expect(hints[1]?.entry).toMatchObject({ phase: 'claimed', acceptorId: 'me' });
    await fleet.release(id, 'me', never());
    await until(() => hints.length === 3);
    expect(hints[2]?.entry).toMatchObject({ phase: 'pending', acceptorId: null });
  });

  test('streams end by design every half second -> no change between them is missed', async () => {
    const { cloud, fleet } = await world({ watchMaxMs: 500, keepaliveMs: 100 });
    const first = cloud.startSession().id;
    const { hints, ended } = follow(fleet.watch);
    await until(() => cloud.calls.count('watch') === 1);
    await fleet.claim(first, 'me', never());
    const started = [first];
    for (let stream = 1; stream <= 3; stream += 1) {
      await until(() => ended() >= stream);
      started.push(cloud.startSession().id);
    }
    await until(() => started.every((id) => hints.some((hint) => hint.sessionId === id)));
  });

  test('the cloud forgot the cursor -> transient, and the next stream works', async () => {
    const { cloud, fleet } = await world({ watchMaxMs: 200, keepaliveMs: 50 });
    const caller = new AbortController();
    onTestFinished(() => caller.abort());
    const iterator = fleet.watch(caller.signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    await until(() => cloud.calls.count('watch') === 1);
    cloud.startSession({ id: 'a' });
    expect(await next).toMatchObject({ value: { sessionId: 'a' } });
    await iterator.return?.();
    cloud.faults.add({ on: 'watch', kind: { status: 410 } });
    const drain = async () => {
      for await (const _hint of fleet.watch(caller.signal));
    };
    expect(await thrownBy(drain())).toBeInstanceOf(TransientError);
    await drain();
  });

  test('the stream withholds its events -> no hint; the list beside it shows the session', async () => {
    const { cloud, fleet } = await world({ watchMaxMs: 400, keepaliveMs: 50 });
    cloud.faults.add({ on: 'watch', kind: 'stall' });
    const { hints, ended, stop } = follow(fleet.watch);
    await until(() => cloud.calls.count('watch') === 1);
    const { id } = cloud.startSession();
    expect((await fleet.list(never())).entries.map((entry) => entry.sessionId)).toEqual([id]);
    await until(() => ended() === 1);
    await stop();
    expect(hints).toEqual([]);
  });
});

test('the published files -> the latest SHA, its executable and its digest are where the addresses say', async () => {
  const { cloud } = await world();
  const sha = (await (await fetch(latestUrl(cloud.staticUrl))).text()).trim();
  expect(isSha(sha)).toBe(true);
  const { binaryUrl, digestUrl } = remoteFiles(cloud.staticUrl, sha);
  const [binary, digest] = await Promise.all([fetch(binaryUrl), fetch(digestUrl)]);
  expect([binary.status, digest.status]).toEqual([200, 200]);
  expect(await digest.text()).toMatch(/^[0-9a-f]{64}/);
});
