/**
 * A pass that is cut, before or after any of its calls to the store took
 * effect. What the platform kills does not clean up: leases stay, until time
 * ends them.
 */
import { expect, test } from 'vitest';
import type { Store } from '../../src/ports/store.js';
import { claimsOf, openWorld, until } from './support.js';

const DEAD = new Promise<never>(() => undefined);

/** A process that dies at its call number `at` of the store: no answer reaches it any more, and nothing of it is heard. */
function mortal(at: number, lastCallCounts: boolean) {
  let calls = 0;
  const held: { pass?: string; actors: Map<string, string> } = { actors: new Map() };
  let died = () => {};
  const death = new Promise<void>((resolve) => {
    died = resolve;
  });
  const change = (store: Store): Store =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const method = target[name];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls >= at) died();
          if (calls > at || (calls === at && !lastCallCounts)) return DEAD;
          if (name === 'take') held.actors.set(String(args[0]), String(args[1]));
          if (name === 'lead' && args[0] === 'pass') held.pass = String(args[1]);
          const answer = (method as (...args: unknown[]) => Promise<unknown>).apply(target, args);
          return calls === at ? answer.then(() => DEAD) : answer;
        };
      },
    });
  return {
    change,
    death,
    get calls() {
      return calls;
    },
    /** Time passes, until nothing that it held counts any more. */
    async forget(store: Store): Promise<void> {
      if (held.pass !== undefined) await store.unlead('pass', held.pass);
      for (const [id, owner] of held.actors) await store.free(id, owner);
    },
  };
}

/** Calls of the store at which passes are cut; further ones until one of them came after the claim. */
const FIRST = 2;
const EVERY = 3;
const LEAST = 48;
const MOST = 200;

test.each(['before', 'after'] as const)(
  'cut %s one of its calls to the store took effect -> the next pass claims what is left, under the same name, in one slot each',
  async (when) => {
    const world = await openWorld({ env: { MAX_CONCURRENT: '100' } });
    const next = await world.process();
    const ids: string[] = [];
    let cutAfterClaim = 0;
    for (let at = FIRST; at < LEAST || (cutAfterClaim === 0 && at < MOST); at += EVERY) {
      const dying = mortal(at, when === 'after');
      const { runs, pass } = await world.process(dying.change, 'dies');
      const { id } = world.devin.startSession();
      ids.push(id);
      const cut = pass();
      await Promise.race([dying.death, until('a ring', () => runs.rung.includes(id))]);
      // The claim that the dying pass had sent may still arrive.
      await until('quiet', () => claimsOf(world, id).length <= 1);
      if (claimsOf(world, id).length === 1) cutAfterClaim += 1;
      cut.end();
      await dying.forget(next.base.store);

      const { report, end } = next.pass();
      await until('a ring', () => next.runs.rung.includes(id) || runs.rung.includes(id));
      end();
      expect(await report).toEqual({ kind: 'passed', problem: null });
    }
    for (const id of ids) {
      const { claims, acceptor } = world.devin.session(id);
      expect(new Set(claims.map(({ acceptorId }) => acceptorId))).toEqual(new Set([acceptor]));
      expect(await next.base.store.read(id)).toMatchObject({ episode: 1, holdsSlot: true, quarantine: null });
    }
    expect(await next.base.store.counts('session')).toMatchObject({ slots: ids.length, quarantined: 0 });
    // The moments reach from before the claim to after it.
    expect(cutAfterClaim).toBeGreaterThan(0);
    expect(cutAfterClaim).toBeLessThan(ids.length);
  },
);
