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

/** The lifecycle's step of a dotted state, or null for a state beside it, such as `lost`. */
export function stepOf(state: string): Step | null {
  const top = topOf(state);
  return STEPS.find((step) => step === top) ?? null;
}

/** `serving.awaitingRunning` -> `serving · awaiting running`. */
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

export type Group = 'trouble' | 'working' | 'waiting' | 'resting';

/** Which part of a list a session belongs in, most interesting first. */
export function groupOf(session: SessionView): Group {
  if (session.quarantine !== null || session.problem !== null) return 'trouble';
  const step = stepOf(session.state);
  if (step === 'queued') return 'waiting';
  return step === null || step === 'released' ? (session.holdsSlot ? 'working' : 'resting') : 'working';
}

/** The actions that make sense for a session now. */
export function offersOf(session: SessionView): readonly ActionName[] {
  if (session.offers) return session.offers;
  const step = stepOf(session.state);
  const atRest = step === null || step === 'released';
  if (session.quarantine !== null) return ['retry'];
  if (step === 'serving' || step === 'extending') return ['suspend', 'end', 'stop'];
  if (!atRest) return ['end', 'stop'];
  return session.problem === null ? ['resume', 'end', 'retry'] : ['retry', 'resume', 'end'];
}

function topOf(state: string): string {
  return state.split('.', 1)[0] ?? state;
}
