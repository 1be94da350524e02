import { expect, test } from 'vitest';
import type { AnyStateNode } from 'xstate';
import { sessionEffects } from '../../machines/session/effects.js';
import { createSessionMachine } from '../../machines/session.js';
import { createSessionEffects, type SessionEffectDeps } from '../../src/effects/session-effects.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import type { EffectCall, Effects } from '../../src/runtime/actor.js';

const invokedBy = (node: AnyStateNode): string[] => [
  ...node.invoke.map(({ src }) => String(src)),
  ...Object.values(node.states).flatMap(invokedBy),
];

test('what the chart invokes, what is declared and what is implemented are the same', () => {
  const implemented = Object.keys(createSessionEffects({} as SessionEffectDeps)).sort();
  expect(implemented).toEqual(Object.keys(sessionEffects).sort());
  expect([...new Set(invokedBy(createSessionMachine().root))].sort()).toEqual(implemented);
});

/** Never called: the compiler alone judges it, and fails where an `@ts-expect-error` expects none. */
void ((deps: SessionEffectDeps, rules: Parameters<typeof createSessionKind>[0]) => {
  type All = Effects<typeof sessionEffects>;
  const effects: All = createSessionEffects(deps);
  const { discardSandbox, ...lacking } = effects;
  const complete = createSessionKind(rules, { ...lacking, discardSandbox });

  // @ts-expect-error an effect is missing
  const missing: All = lacking;
  // @ts-expect-error an effect is missing
  const incomplete = createSessionKind(rules, lacking);
  // @ts-expect-error the machine invokes no such effect
  const unknown: All = { ...effects, openWindow: async () => ({ at: 1 }) };
  const wrongAnswer: All = {
    ...effects,
    // @ts-expect-error the answer lacks its instant
    releaseClaim: async () => ({}),
  };
  const wrongKind: All = {
    ...effects,
    // @ts-expect-error the machine knows no such answer
    extendSandbox: async (_, call) => ({ kind: 'shortened', at: call.now(), expiresAt: 1 }),
  };
  const wrongInput: All = {
    ...effects,
    // @ts-expect-error the machine gives no such input
    readRow: async (input: { row: number }, call: EffectCall) => ({
      at: input.row + call.now(),
      status: null,
    }),
  };
  const noPromise: All = {
    ...effects,
    // @ts-expect-error an effect answers later
    releaseClaim: (_, call) => ({ at: call.now() }),
  };
  return [complete, missing, incomplete, unknown, wrongAnswer, wrongKind, wrongInput, noPromise];
});
