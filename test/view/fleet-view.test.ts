import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionEffects } from '../../src/effects/session-effects.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import type { Store } from '../../src/ports/store.js';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { openStore } from '../../src/store/open.js';
import { fleetView } from '../../src/view.js';
import { input } from '../machines/walk.js';

const unreachable = new Proxy({}, { get: () => () => Promise.reject(new Error('unreachable')) }) as never;
const effects = createSessionEffects({ fleet: unreachable, host: unreachable, tagsOf: () => ({}) });
const kind = createSessionKind(sessionRules(), effects);
const fresh = toSaved(kind, begin(kind, input));

let dir: string;
let store: Store;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'outposts-view-'));
  store = await openStore(`file:${join(dir, 'test.db')}`);
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

const view = (of: Store) =>
  fleetView({
    store: of,
    kind,
    maxConcurrent: 5,
    speed: 1,
    now: () => 0,
    problems: () => [],
  });
const enroll = (id: string, state: string) => store.enroll(id, { ...fresh, state }, null, 0);

/** The store, in which `move` happens after every read. */
function moving(move: () => Promise<unknown>): Store {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        const answer = await member.apply(target, args);
        await move();
        return answer;
      };
    },
  });
}

describe('what is shown of the fleet', () => {
  it('a session that moves from state to state meanwhile -> shown once, neither lost nor twice', async () => {
    const states = [
      'claiming',
      'provisioning.opening',
      'serving.monitoring',
      'snapshotting.stopping',
      'queued',
    ];
    for (const [index, state] of states.entries()) await enroll(`devin-${index}`, state);
    let moves = 0;
    const shown = await view(
      moving(async () => {
        moves += 1;
        const taken = await store.take('devin-2', 'mover', 1_000);
        if (taken.kind !== 'taken') throw new Error(taken.kind);
        const state = states[moves % states.length] ?? 'queued';
        const change = { next: { ...fresh, state }, journal: null, newsTaken: [], at: moves };
        await store.save({ id: 'devin-2', owner: 'mover', rev: taken.row.rev }, change);
      }),
    );
    expect(moves).toBeGreaterThan(0);
    expect(shown.sessions.map(({ id }) => id).sort()).toEqual(states.map((_, index) => `devin-${index}`));
  });

  it('more sessions at rest than are shown -> those at work or set aside are shown all the same', async () => {
    for (let index = 0; index < 205; index++) await enroll(`a-${index}`, 'released.resting');
    await enroll('z-serves', 'serving.monitoring');
    const taken = await store.take('a-99', 'me', 1_000);
    if (taken.kind !== 'taken') throw new Error(taken.kind);
    await store.quarantine({ id: 'a-99', owner: 'me', rev: taken.row.rev }, 'for the test');
    const ids = (await view(store)).sessions.map(({ id }) => id);
    expect(ids).toHaveLength(200);
    expect(ids).toEqual(expect.arrayContaining(['z-serves', 'a-99']));
  });

  it('a vm is being booted while a renewal is due later -> the boot is what is waited for', async () => {
    const saved = JSON.parse(fresh.snapshot) as { value: unknown; context: object };
    const snapshot = {
      ...saved,
      value: { provisioning: 'opening' },
      context: { ...saved.context, renewAt: 9 },
    };
    const opening = { ...fresh, state: 'provisioning.opening', snapshot: JSON.stringify(snapshot) };
    await store.enroll('devin-boots', opening, null, 0);
    const [shown] = (await view(store)).sessions;
    expect(shown).toMatchObject({ state: 'provisioning.opening', waitsFor: null });
  });
});
