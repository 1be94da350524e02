/** The connection's machine together with everything the interpreter needs to run it. */
import { connectionContextSchema } from '../../machines/connection/context.js';
import { connectionDeadlines } from '../../machines/connection/deadlines.js';
import type { connectionEffects } from '../../machines/connection/effects.js';
import { connectionEventSchema } from '../../machines/connection/events.js';
import { CONNECTION_VERSION, createConnectionMachine } from '../../machines/connection.js';
import type { ActorKind, Effects } from '../runtime/actor.js';
import { WRITE_PATIENCE } from './connection-effects.js';

/** Failed tries before the chart's `onError` hears of it. Deleting secrets is never given up. */
const PATIENCE: Readonly<Record<keyof typeof connectionEffects, number>> = {
  exchangeInstallation: 4,
  exchangeCode: 4,
  adoptConnection: 4,
  configureProject: WRITE_PATIENCE + 1,
  forgetAttempt: Number.POSITIVE_INFINITY,
  forgetConnection: Number.POSITIVE_INFINITY,
};

export function createConnectionKind(effects: Effects<typeof connectionEffects>): ActorKind {
  return {
    name: 'connection',
    version: CONNECTION_VERSION,
    machine: createConnectionMachine(),
    contextSchema: connectionContextSchema,
    eventSchema: connectionEventSchema,
    migrations: {},
    deadlines: connectionDeadlines,
    effects,
    patience: (effect) => PATIENCE[effect as keyof typeof PATIENCE] ?? 5,
    factsEvent: () => null,
    holdsSlot: () => false,
    episode: () => 1,
  };
}
