/**
 * Where a state stands in the lifecycle, for drawing. Decides nothing.
 */
import type { ActionName, SessionView } from './view.js';

export const STEPS = [
  'queued',
  'claiming',
  'provisioning',
  'serving',
  'extending',
  'snapshotting',
  'released',
] as const;
export type Step = (typeof STEPS)[number];

/** States of the chart that come after a release, by the step that they are drawn at. */
const AFTER_RELEASE = new Set(['parked', 'discarding', 'ended']);

/** The lifecycle's step of a dotted state, or null for one beside it, such as `lost`. */
export function stepOf(state: string): Step | null {
  const top = topOf(state);
  return AFTER_RELEASE.has(top) ? 'released' : (STEPS.find((step) => step === top) ?? null);
}

/** Whether a session in this state has nothing to do until something happens to it. */
export function isAtRest(state: string): boolean {
  const step = stepOf(state);
  return step === null || step === 'released';
}

/** `serving.coolingDown` -> `serving · cooling down`. */
export function stateInWords(state: string): string {
  return state.split('.').map(inWords).join(' · ');
}

/** `neverConnected` -> `never connected`. */
export function inWords(name: string): string {
  return name.replaceAll(
    /([a-z0-9])([A-Z])/g,
    (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
  );
}

/** `trouble`: an operator has to act. */
export type Group = 'trouble' | 'working' | 'waiting' | 'resting';

/** Which part of a list a session belongs in. */
export function groupOf(session: SessionView): Group {
  const { state, outcome, problem, quarantine, holdsSlot } = session;
  const gaveUp = topOf(state) === 'parked' && outcome !== 'stopped';
  if (quarantine !== null || problem !== null || gaveUp) return 'trouble';
  if (topOf(state) === 'queued') return 'waiting';
  return isAtRest(state) && !holdsSlot ? 'resting' : 'working';
}

/** The actions that make sense for a session now. */
export function offersOf(session: SessionView): readonly ActionName[] {
  if (session.quarantine !== null) return ['retry'];
  switch (topOf(session.state)) {
    case 'serving':
    case 'extending':
      return ['suspend', 'end', 'stop'];
    case 'queued':
    case 'claiming':
    case 'provisioning':
    case 'snapshotting':
      return ['end', 'stop'];
    case 'released':
      return session.state === 'released.coolingOff' ? ['retry', 'end'] : ['resume', 'end'];
    case 'parked':
      return ['retry', 'end'];
    case 'lost':
      return ['end'];
    default:
      return [];
  }
}

function topOf(state: string): string {
  return state.split('.', 1)[0] ?? state;
}
