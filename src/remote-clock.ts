/**
 * What a remote service's clock says, compared with ours.
 *
 * One offset per service, so that instants from its answers can be used as if
 * both clocks agreed. It is learnt from answers that changed an object (their
 * change instant was "now" over there), and until then from the Date header.
 * It is never averaged: an estimate stands until an observation contradicts it,
 * so deadlines that were converted at different moments stay comparable.
 */
import type { Clock } from './ports/clock.js';

export interface RemoteClock {
  /** Takes in that the remote's clock showed `remoteNowMs` between sending (`sentAtMs`) and receiving (`receivedAtMs`), both ours. */
  learn(remoteNowMs: number, sentAtMs: number, receivedAtMs: number): void;
  /** The same from an HTTP Date header (whole seconds; null when absent). Ignored once `learn` was heard. */
  learnFromDate(header: string | null, sentAtMs: number, receivedAtMs: number): void;
  /** A remote instant in our time, milliseconds. The identity while nothing is known. */
  toLocal(remoteMs: number): number;
  /** One of our instants in the remote's time, milliseconds. */
  toRemote(localMs: number): number;
  /** What the remote's clock shows now, milliseconds. */
  now(): number;
  /** Remote minus ours, milliseconds; null while nothing is known. */
  offsetMs(): number | null;
  /** Called with the new offset whenever it moves. */
  onChange: ((offsetMs: number) => void) | null;
}

/** Differences below this are whole-second timestamps and slow answers, not clocks. */
const WOBBLE_MS = 2_000;

/**
 * `initialOffsetMs`: an offset learnt earlier (remote minus ours), for example by another process. It counts as
 * much as a Date header, because either clock may have been set right since; what is no number counts nothing.
 */
export function createRemoteClock(clock: Clock, initialOffsetMs: number | null = null): RemoteClock {
  let offset = Number.isFinite(initialOffsetMs) ? initialOffsetMs : null;
  let learnt = false;

  /** The true offset lies somewhere between `least` and `most`. */
  const contradicts = (least: number, most: number) =>
    offset === null || offset <= least - WOBBLE_MS || offset >= most + WOBBLE_MS;
  const settle = (least: number, most: number) => {
    const settled = Math.round((least + most) / 2);
    if (settled === offset) return;
    offset = settled;
    remote.onChange?.(settled);
  };

  const remote: RemoteClock = {
    learn(remoteNowMs, sentAtMs, receivedAtMs) {
      const [least, most] = [remoteNowMs - receivedAtMs, remoteNowMs - sentAtMs];
      if (!Number.isFinite(least) || !Number.isFinite(most)) return;
      if (!learnt || contradicts(least, most)) settle(least, most);
      learnt = true;
    },
    learnFromDate(header, sentAtMs, receivedAtMs) {
      if (learnt || header === null) return;
      const second = Date.parse(header);
      if (Number.isNaN(second)) return;
      const [least, most] = [second - receivedAtMs, second + 1_000 - sentAtMs];
      if (contradicts(least, most)) settle(least, most);
    },
    toLocal: (remoteMs) => remoteMs - (offset ?? 0),
    toRemote: (localMs) => localMs + (offset ?? 0),
    now: () => clock.now() + (offset ?? 0),
    offsetMs: () => offset,
    onChange: null,
  };
  return remote;
}
