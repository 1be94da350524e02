/**
 * The process dies at any of its calls to the store, before or after it took
 * effect, anywhere in either flow; another one goes on. Each ends in one way.
 */
import { expect, test } from 'vitest';
import type { Connector } from '../../src/ports/connector.js';
import type { Store } from '../../src/ports/store.js';
import { until } from '../e2e/support.js';
import { openWorld, type World } from './support.js';

const DEAD = new Promise<never>(() => undefined);
/** More calls than any flow makes of the store. */
const MOST = 200;

/** A store that dies with its process at call number `at`. */
function mortal(at: number, lastCallCounts: boolean) {
  let calls = 0;
  let die = () => {};
  const death = new Promise<'died'>((resolve) => {
    die = () => resolve('died');
  });
  const held = new Map<string, string>();
  const change = (store: Store): Store =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const method = target[name];
        if (typeof method !== 'function' || name === 'close') return method;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls >= at) die();
          if (calls > at || (calls === at && !lastCallCounts)) return DEAD;
          if (name === 'take') held.set(String(args[0]), String(args[1]));
          const answer = (method as (...args: unknown[]) => Promise<unknown>).apply(target, args);
          return calls === at ? answer.then(() => DEAD) : answer;
        };
      },
    });
  /** Time passes, until the leases of the dead count no more. */
  const forget = async (store: Store) => {
    for (const [id, owner] of held) await store.free(id, owner);
  };
  return { change, death, forget };
}

/** Resolves with what the act gave, or null when the process died first. */
const orDeath = <T>(act: Promise<T>, death: Promise<'died'>): Promise<T | null> =>
  Promise.race([act, death.then(() => null)]);

const settled = (connector: Connector, attemptId: string) =>
  until('nothing is worked on', async () => {
    const view = await connector.look(attemptId);
    return view.kind === 'working' || view.kind === 'preparing' ? null : view;
  });

async function secretsLeft(store: Store, attemptId: string): Promise<string[]> {
  const names = ['verifier', 'code', 'granted', 'installation', 'access', 'values'];
  const kept = await Promise.all(names.map((name) => store.sealed(`attempt/${attemptId}/${name}`, 0)));
  return names.filter((_, index) => kept[index] !== null);
}

test.each(['before', 'after'] as const)(
  'a deployment that connects itself, cut %s each call -> connected, or refused because the code was used',
  async (when) => {
    const world = await openWorld();
    const next = await world.process();
    const ends: Record<string, number> = {};
    let finished = false;
    for (let at = 1; !finished && at < MOST; at++) {
      const dying = mortal(at, when === 'after');
      const first = await world.process(dying.change);
      const begun = await orDeath(first.connector.begin(), dying.death);
      await dying.forget(next.base.store);
      if (begun === null) {
        // The person saw no page, and presses the button again.
        expect((await next.connector.begin()).kind).toBe('begun');
        continue;
      }
      if (begun.kind !== 'begun') throw new Error('busy');
      const { attemptId, redirectTo } = begun;
      const code = (await world.confirm(redirectTo, 'connect', `${when} ${at}`)).get('code') ?? '';
      finished =
        (await orDeath(
          first.connector.returned(attemptId, code).then(() => true),
          dying.death,
        )) ?? false;
      await dying.forget(next.base.store);
      // The page did not come: loaded again, it brings the same code.
      await next.connector.returned(attemptId, code);
      const view = await settled(next.connector, attemptId);
      ends[view.kind] = (ends[view.kind] ?? 0) + 1;
      expect(['connected', 'refused']).toContain(view.kind);
      if (view.kind === 'refused') expect(view.problem).toContain('Start again');
      next.base.account.forget();
      const account = await next.base.account.current();
      if (view.kind === 'connected') expect(account?.outpostId).toBe(view.outpost?.id);
      expect(await secretsLeft(next.base.store, attemptId)).toEqual([]);
      expect(await next.base.store.counts('connection')).toMatchObject({ quarantined: 0 });
    }
    console.log(`cut ${when} each call of the store: ${JSON.stringify(ends)}`);
    expect(finished).toBe(true);
    expect(ends.connected).toBeGreaterThan(5);
    await expectNothingInTheClear(world);
  },
  120_000,
);

test.each(['before', 'after'] as const)(
  'a project that is set up, cut %s each call -> all of its variables, or a refusal, and never values that disagree',
  async (when) => {
    const world = await openWorld();
    const next = await world.process();
    const ends: Record<string, number> = {};
    let finished = false;
    for (let at = 1; !finished && at < MOST; at++) {
      const dying = mortal(at, when === 'after');
      const first = await world.process(dying.change);
      const installation = await world.install();
      const begun = await orDeath(first.connector.beginProject(installation), dying.death);
      await dying.forget(next.base.store);
      // Without a page the person starts anew: Vercel's code may have been used.
      if (begun === null) continue;
      const { attemptId } = begun;
      const ready = await settled(next.connector, attemptId);
      if (ready.kind === 'refused') continue;
      expect(ready.kind).toBe('waiting');
      const address = (await next.connector.continueProject(attemptId)) ?? '';
      const code = (await world.confirm(address, 'connect', `${when} ${at}`)).get('code') ?? '';
      finished =
        (await orDeath(
          first.connector.returned(attemptId, code).then(() => true),
          dying.death,
        )) ?? false;
      await dying.forget(next.base.store);
      const written = new Map(world.platform.projects.get(installation.projectId)?.env);
      await next.connector.returned(attemptId, code);
      const view = await settled(next.connector, attemptId);
      ends[view.kind] = (ends[view.kind] ?? 0) + 1;
      expect(['connected', 'refused']).toContain(view.kind);
      const env = world.platform.projects.get(installation.projectId)?.env;
      expect(env?.size).toBe(view.kind === 'connected' ? 9 : 0);
      // What the dead process had written is what the next one writes.
      for (const [key, { value }] of written) expect(env?.get(key)?.value).toBe(value);
      expect(await secretsLeft(next.base.store, attemptId)).toEqual([]);
    }
    console.log(`cut ${when} each call of the store, setting up projects: ${JSON.stringify(ends)}`);
    expect(finished).toBe(true);
    expect(ends.connected).toBeGreaterThan(5);
    await expectNothingInTheClear(world);
  },
  120_000,
);

async function expectNothingInTheClear(world: World): Promise<void> {
  const kept = [...world.raw(), ...world.lines].join('\n');
  expect(kept).not.toMatch(/cog_|vca_|canary-of-the-root/);
  for (const { env } of world.platform.projects.values())
    for (const [key, { value }] of env) if (/SECRET|TOKEN/.test(key)) expect(kept).not.toContain(value);
}
