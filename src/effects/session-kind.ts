/** The session's machine together with everything the interpreter needs to run it. */

import { factsSchema, type SessionContext, sessionContextSchema } from '../../machines/session/context.js';
import { sessionDeadlines } from '../../machines/session/deadlines.js';
import type { sessionEffects } from '../../machines/session/effects.js';
import { sessionEventSchema } from '../../machines/session/events.js';
import type { SessionRules } from '../../machines/session/rules.js';
import { createSessionMachine, SESSION_VERSION } from '../../machines/session.js';
import type { ActorKind, Effects, ReadableKind } from '../runtime/actor.js';

/** Failed tries before the chart's `onError` hears of it. Giving a claim back and deleting are never given up. */
const PATIENCE: Readonly<Record<keyof typeof sessionEffects, number>> = {
  claimSession: 8,
  renewClaim: 5,
  openSandbox: 8,
  launchRemote: 6,
  lookAtRemote: 4,
  secureSandbox: 4,
  extendSandbox: 4,
  stopSandbox: 4,
  lookAtStop: 4,
  readRow: 5,
  releaseClaim: Number.POSITIVE_INFINITY,
  discardSandbox: Number.POSITIVE_INFINITY,
};

/** By the version that a row comes from. */
const MIGRATIONS: ActorKind['migrations'] = {
  /** It knew of no doorbell, and let a sandbox settle for ever. */
  1: ({ context, ...saved }) => ({
    ...saved,
    context: { ...(context as object), bellHeard: false, settlingSince: null },
  }),
};

/** The machine of sessions, as rows name it. */
export const SESSIONS = 'session';

export function createSessionKind(rules: SessionRules, effects: Effects<typeof sessionEffects>): ActorKind {
  return { ...readableSessionKind(rules), effects };
}

/** For those who look at sessions and perform nothing. */
export function readableSessionKind(rules: SessionRules): ReadableKind {
  return {
    name: SESSIONS,
    version: SESSION_VERSION,
    machine: createSessionMachine(rules),
    contextSchema: sessionContextSchema,
    eventSchema: sessionEventSchema,
    migrations: MIGRATIONS,
    deadlines: sessionDeadlines(rules),
    patience: (effect) => PATIENCE[effect as keyof typeof PATIENCE] ?? 5,
    factsEvent(text, context) {
      const facts = factsSchema.parse(JSON.parse(text));
      return JSON.stringify(facts) === JSON.stringify((context as SessionContext).facts)
        ? null
        : { type: 'queue.changed', facts };
    },
    holdsSlot: (snapshot) => snapshot.hasTag('holdsSlot'),
    episode: (context) => (context as SessionContext).episode,
  };
}
