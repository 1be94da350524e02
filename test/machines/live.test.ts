import { expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import { sessionEffects } from '../../machines/session/effects.js';
import { createSessionMachine } from '../../machines/session.js';
import { AT, answers } from './happenings.js';
import { input, rules } from './walk.js';

it('the same definition run live -> serves, with its deadlines as delays', async () => {
  const names = Object.keys(sessionEffects) as (keyof typeof sessionEffects)[];
  const actors = Object.fromEntries(names.map((name) => [name, fromPromise(async () => answers[name][0])]));
  // A minute after every answer: looks that the chart puts off are due at once, the next probe is not.
  const machine = createSessionMachine(rules, () => AT + 60_000).provide({ actors } as never);
  const actor = createActor(machine, { input }).start();
  actor.send({ type: 'slot.granted' });
  const served = await waitFor(actor, (snapshot) => snapshot.matches('serving'));
  actor.stop();
  expect(served.context).toMatchObject({ vm: { vmId: 'sbx_1' }, launches: 1 });
});

it('an effect that nobody implements -> says which', async () => {
  const actor = createActor(sessionEffects.releaseClaim, {
    input: { sessionId: 's', episode: 1, acceptorId: 'a' },
  });
  const failed = new Promise((resolve) => actor.subscribe({ error: resolve }));
  actor.start();
  expect(String(await failed)).toContain('releaseClaim');
});
