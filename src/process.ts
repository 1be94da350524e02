/**
 * What the bundles of one process share.
 *
 * A function's bundle, the compiled steps and the program that hosts them hold
 * separate copies of every module; what they have in common is the process.
 * Whoever hosts them says here whose clock counts and when the end has come.
 * On Vercel nobody does: the wall's clock counts and the platform ends things.
 */
import { type Clock, createClock } from './ports/clock.js';

interface Shared {
  time: ProcessTime;
  readonly stopping: AbortController;
}

export interface ProcessTime {
  readonly clock: Clock;
  /** How many times as fast as the wall the clock runs. */
  readonly speed: number;
}

const KEY = Symbol.for('devin-outposts-vercel');
const holder = globalThis as { [KEY]?: Shared };

function shared(): Shared {
  holder[KEY] ??= { time: { clock: createClock(), speed: 1 }, stopping: new AbortController() };
  return holder[KEY];
}

export const processTime = (): ProcessTime => shared().time;

/** For an emulated world, whose clock is not the wall's. To be said before anything asks. */
export function settleProcessTime(time: ProcessTime): void {
  shared().time = time;
}

/** Aborts when the process is about to end: nothing new is begun. */
export const stopping = (): AbortSignal => shared().stopping.signal;

export const announceStop = (): void => shared().stopping.abort(new Error('the process is stopping'));
