import { beforeEach, describe, expect, test } from 'vitest';
import { acceptorOf, type SessionContext } from '../../machines/session/context.js';
import type { sessionEffects } from '../../machines/session/effects.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import type { Store } from '../../src/ports/store.js';
import type { ActorKind, Effects } from '../../src/runtime/actor.js';
import { type DriveAnswer, drive } from '../../src/runtime/drive.js';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { pending } from '../support/pending.js';
import { START } from './clock.js';
import { endLease, useRig } from './rig.js';

const rig = useRig();
const ID = 'devin-1';
const MINUTE = 60_000;
/** A world in which everything works: the remote runs until `ends`, then Devin says `terminated`. */
let world: { ends: boolean; vms: number; done: string[] };
let kind: ActorKind;
beforeEach(async () => {
  kind = createSessionKind(sessionRules(), noted(effects()));
  await arrive();
});

/** The session appears in the queue and is granted a slot. */
async function arrive(): Promise<void> {
  world = { ends: false, vms: 0, done: [] };
  const first = begin(kind, {
    sessionId: ID,
    outpostId: 'outpost_env-1',
    sandboxName: 'devin-1-abc',
    acceptorPrefix: 'vercel-1-1',
    facts: pending,
  });
  await rig.store.enroll(ID, toSaved(kind, first), JSON.stringify(pending), rig.clock.now());
  await rig.store.grantSlots([ID], 1, '{"type":"slot.granted"}');
}

function effects(): Effects<typeof sessionEffects> {
  const claim = () => ({ claimDeadlineAt: rig.clock.now() + 5 * MINUTE, policyKey: 'open' });
  const claimed = async () => ({ kind: 'claimed', at: rig.clock.now(), claim: claim() }) as const;
  const stopped = async () => ({ kind: 'stopped', at: rig.clock.now(), saved: true }) as const;
  const at = async () => ({ at: rig.clock.now() });
  return {
    claimSession: claimed,
    renewClaim: claimed,
    async openSandbox() {
      world.vms += 1;
      const now = rig.clock.now();
      const times = { at: now, startedAt: now, expiresAt: now + 20 * MINUTE };
      return { kind: 'running', claim: null, vmId: 'vm-1', policyDigest: 'p1', origin: 'created', ...times };
    },
    launchRemote: async () => ({ kind: 'launched', at: rig.clock.now(), claim: null }),
    lookAtRemote: async () =>
      world.ends
        ? { kind: 'exited', at: rig.clock.now(), code: 0 }
        : { kind: 'running', at: rig.clock.now() },
    secureSandbox: async () => ({ kind: 'secured', at: rig.clock.now(), policyDigest: 'p1', claim: claim() }),
    extendSandbox: async ({ untilAt }) => ({ kind: 'extended', at: rig.clock.now(), expiresAt: untilAt }),
    stopSandbox: stopped,
    lookAtStop: stopped,
    readRow: async () => ({ at: rig.clock.now(), status: world.ends ? 'terminated' : 'running' }),
    releaseClaim: at,
    discardSandbox: at,
  };
}

/** The same effects, noting what was done under which key. */
function noted(all: Effects<typeof sessionEffects>): Effects<typeof sessionEffects> {
  const entries = Object.entries(all as Record<string, ActorKind['effects'][string]>).map(
    ([name, effect]) =>
      [
        name,
        (input: never, call: Parameters<typeof effect>[1]) => {
          world.done.push(`${name} ${call.key}`);
          return effect(input, call);
        },
      ] as const,
  );
  return Object.fromEntries(entries) as unknown as Effects<typeof sessionEffects>;
}

/** Drives until the actor rests for good, moving the clock to whatever it waits for; the queue reports what it sees. */
async function live(driveOnce: () => Promise<DriveAnswer | null>, until: string): Promise<void> {
  for (let drives = 0; drives < 300; drives++) {
    const answer = await driveOnce();
    if (answer === null || answer.kind !== 'rests') continue;
    if (answer.state === until) return;
    const { snapshot } = await readRow();
    const context = (JSON.parse(snapshot) as { context: SessionContext }).context;
    const running = { phase: 'claimed', status: 'running', acceptorId: acceptorOf(context) } as const;
    if (answer.state === 'serving.connecting')
      await rig.store.observe(new Map([[ID, JSON.stringify({ ...pending, ...running })]]));
    else if (answer.wakeAt !== null) rig.clock.set(answer.wakeAt);
    if (rig.clock.now() > START + 15 * MINUTE) world.ends = true;
  }
  throw new Error(`not ${until} after 300 drives, but ${(await readRow()).state}`);
}
async function readRow() {
  const row = await rig.store.read(ID);
  if (row === null) throw new Error('the session is gone');
  return row;
}
/** The states in which it was, without those that only repeat. */
async function story(): Promise<string[]> {
  const states = (await rig.store.journal({ after: 0, limit: 1_000, actorId: ID })).map(({ to }) => to);
  return states.filter((state, index) => state !== states[index - 1]);
}

describe('a session of the real kind', () => {
  test('from its slot to its end -> every effect once per state, on the way that the chart shows', async () => {
    await live(() => drive(rig.deps(kind, { owner: 'one' }), ID), 'ended');
    const states = await story();
    expect(states.slice(0, 6)).toEqual([
      'claiming',
      'provisioning.opening',
      'provisioning.launching',
      'provisioning.confirming',
      'provisioning.looking',
      'serving.connecting',
    ]);
    expect(states).toContain('extending');
    expect(states.slice(-5)).toEqual([
      'snapshotting.stopping',
      'released.readingEnd',
      'released.releasing',
      'discarding',
      'ended',
    ]);
    expect(new Set(world.done).size).toBe(world.done.length);
    expect(world.vms).toBe(1);
    expect(await readRow()).toMatchObject({
      state: 'ended',
      holdsSlot: false,
      wakeAt: null,
      quarantine: null,
    });
  });

  test('its drivers die, one after each save -> the same story', async () => {
    await live(() => drive(rig.deps(kind, { owner: 'one' }), ID), 'ended');
    const [expected, { snapshot }] = [await story(), await readRow()];
    expect(expected.at(-1)).toBe('ended');
    await rig.store.remove(ID, (await readRow()).rev);
    rig.clock.set(START);
    await arrive();
    let deaths = 0;
    const mortal = async (): Promise<DriveAnswer | null> => {
      const owner = `driver-${deaths}`;
      let dead = false;
      const store: Store = {
        ...rig.store,
        async save(hold, change) {
          await rig.store.save(hold, change);
          dead = true;
          throw new Error('died');
        },
        free: async () => undefined,
      };
      try {
        return await drive(rig.deps(kind, { owner, store }), ID);
      } catch (error) {
        if (!dead) throw error;
        deaths += 1;
        await endLease(rig.store, ID, owner);
        return null;
      }
    };
    await live(mortal, 'ended');
    expect(deaths).toBeGreaterThan(expected.length - 1);
    expect(await story()).toEqual(expected);
    expect((await readRow()).snapshot).toBe(snapshot);
  });

  test('facts of the queue that no schema knows -> set aside, with what they are about', async () => {
    await rig.store.observe(new Map([[ID, '{"phase":"of the future"}']]));
    expect(await drive(rig.deps(kind), ID)).toMatchObject({
      kind: 'quarantined',
      reason: expect.stringContaining('facts'),
    });
  });
});
