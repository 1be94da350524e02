/** A walk over the situations that a session can be in, as far as decisions can tell them apart. */
import { type AnyMachineSnapshot, initialTransition, transition } from 'xstate';
import type { SessionContext, SessionInput } from '../../machines/session/context.js';
import { suspicionKey } from '../../machines/session/facts.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionEffects } from '../../src/effects/session-effects.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import { doneEvent, errorEvent, pendingEffect, timers } from '../../src/runtime/level.js';
import { pending } from '../support/pending.js';
import { answers, failure, outsideEvents } from './happenings.js';
import { markedSessionMachine } from './marked.js';

/** Small limits: each is reached, and the space stays small. */
export const rules = sessionRules({
  restartLimit: 1,
  vmLossLimit: 1,
  giveUpLimit: 2,
  suspendedReads: 1,
  finalReads: 2,
  absentLooks: 1,
});
const { machine, marks } = markedSessionMachine(rules);
// The walk answers every effect itself; nothing reaches a port.
const unreachable = new Proxy({}, { get: () => () => Promise.reject(new Error('unreachable')) }) as never;
const effects = createSessionEffects({ fleet: unreachable, host: unreachable, tagsOf: () => ({}) });
export const kind: ActorKind = { ...createSessionKind(rules, effects), machine };
export { marks };

export const input: SessionInput = {
  sessionId: 'devin-1',
  outpostId: 'outpost_env-1',
  sandboxName: 'devin-1-abc',
  acceptorPrefix: 'vercel-1-1',
  facts: pending,
};

export interface Step {
  readonly event: { readonly type: string };
  readonly to: AnyMachineSnapshot;
}
export interface Situation {
  readonly snapshot: AnyMachineSnapshot;
  readonly path: readonly Step[];
}

export function start(): AnyMachineSnapshot {
  const [snapshot] = initialTransition(machine, input);
  return snapshot;
}

/** One transition, with the marks that it left. */
export function step(snapshot: AnyMachineSnapshot, event: { type: string }) {
  const [next, actions] = transition(machine, snapshot, event as never);
  const taken = (actions as readonly { type: string; params?: unknown }[])
    .filter((action) => action.type === 'mark')
    .map((action) => (action.params as { name: string }).name);
  return { next, taken };
}

/** Every event that can come next. */
export function eventsIn(snapshot: AnyMachineSnapshot): { type: string }[] {
  const effect = pendingEffect(kind, snapshot);
  const results =
    effect === null
      ? []
      : [
          ...answers[effect.name as keyof typeof answers].map((output) => doneEvent(effect, output)),
          errorEvent(effect, failure),
        ];
  const due = timers(kind, snapshot).map((timer) => timer.event);
  return [...results, ...due, ...outsideEvents(snapshot.context as SessionContext)];
}

/** What decisions can tell apart; instants count only as armed or not. */
function signature(snapshot: AnyMachineSnapshot): string {
  const c = snapshot.context as SessionContext;
  const { facts } = c;
  return JSON.stringify([
    snapshot.value,
    facts.presence,
    facts.phase,
    facts.status,
    facts.acceptorId === null ? 0 : facts.acceptorId === 'another' ? 1 : 2,
    facts.hasClaimDeadline,
    facts.policyKey === c.policyKey,
    c.dismissed === suspicionKey(c),
    c.episode > 1,
    c.renewAt === null,
    c.vm === null,
    c.vm?.limited,
    c.hasDisk,
    c.launchedAt === null,
    c.connected,
    c.secureAgainAt === null,
    c.settlingSince === null,
    Math.min(c.restarts, rules.restartLimit),
    Math.min(c.vmLosses, rules.vmLossLimit),
    Math.min(c.looks, rules.absentLooks),
    Math.min(c.reads, rules.finalReads),
    c.stopFor,
    c.outcome,
    Math.min(c.strikes, rules.giveUpLimit),
  ]);
}

/** State and counters alone: the first situation of each kind, and of each transition, is walked on from before others. */
function coarse(snapshot: AnyMachineSnapshot): string {
  const c = snapshot.context as SessionContext;
  const armed = [c.keepUntil, c.renewAt].map((at) => at === null);
  return JSON.stringify([
    snapshot.value,
    c.restarts,
    c.vmLosses,
    c.looks > 0,
    c.reads > 0,
    c.facts.presence,
    c.connected,
    armed,
  ]);
}

/** Each situation once; `visit` sees every step. */
export function walk(
  visit: (from: Situation, step: Step, taken: readonly string[]) => void,
  options: { most: number },
): Situation[] {
  const first: Situation = { snapshot: start(), path: [] };
  const seen = new Set([signature(first.snapshot)]);
  const found: Situation[] = [first];
  const [fresh, stale]: [Situation[], Situation[]] = [[first], []];
  const known = new Set<string>();
  while (found.length < options.most) {
    const situation = fresh.shift() ?? stale.shift();
    if (situation === undefined) break;
    if (situation.snapshot.status !== 'active') continue;
    for (const event of eventsIn(situation.snapshot)) {
      const { next, taken } = step(situation.snapshot, event);
      visit(situation, { event, to: next }, taken);
      const isFirst = [coarse(next), ...taken].filter((name) => !known.has(name)).length > 0;
      for (const name of [coarse(next), ...taken]) known.add(name);
      const sign = signature(next);
      if (seen.has(sign)) continue;
      seen.add(sign);
      const reached = { snapshot: next, path: [...situation.path, { event, to: next }] };
      found.push(reached);
      (isFirst ? fresh : stale).push(reached);
    }
  }
  return found;
}
