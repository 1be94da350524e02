/**
 * What happened, in order: each session's events, and whoever waits for them.
 *
 * Also carries the one piece of news that the queue has for the gateway: that a
 * claim, and with it its connect tokens, ended.
 */
import { EventEmitter } from 'node:events';
import type { Clock } from '../../ports/clock.js';
import type { Session, SessionEvent } from './session.js';

export interface Journal {
  note(session: Session, kind: SessionEvent['kind'], text: string): number;
  /** Calls back after each event until the returned function is called. */
  on(listener: (session: Session, event: SessionEvent) => void): () => void;
  /** Resolves as soon as `holds` (checked now and after each event of the session); rejects with the signal's reason. */
  until(session: Session, holds: () => boolean, signal: AbortSignal): Promise<void>;
  claimEnded(session: Session): void;
  onClaimEnded(listener: (session: Session) => void): void;
}

export function createJournal(clock: Clock): Journal {
  const emitter = new EventEmitter().setMaxListeners(0);
  let seq = 0;
  return {
    note(session, kind, text) {
      const event: SessionEvent = { seq: ++seq, at: clock.now(), kind, text };
      session.events.push(event);
      emitter.emit('event', session, event);
      return event.seq;
    },
    on(listener) {
      emitter.on('event', listener);
      return () => emitter.off('event', listener);
    },
    until(session, holds, signal) {
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          emitter.off('event', check);
          signal.removeEventListener('abort', abort);
          finish();
        };
        const check = (changed: Session) => {
          if (changed === session && holds()) settle(resolve);
        };
        const abort = () => settle(() => reject(signal.reason));
        if (signal.aborted) return reject(signal.reason);
        if (holds()) return resolve();
        emitter.on('event', check);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    claimEnded: (session) => emitter.emit('claimEnded', session),
    onClaimEnded: (listener) => {
      emitter.on('claimEnded', listener);
    },
  };
}
