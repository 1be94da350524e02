/**
 * What becomes of a session: queued, served, asleep, over.
 *
 * A session has a wish (run, sleep, end); its status follows when the remote
 * did what it was told, some seconds late. Knows orders to a remote, but not
 * how they reach it: see gateway.ts.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../ports/clock.js';
import type { Journal } from './journal.js';
import type { Queue } from './queue.js';
import { playScript } from './script.js';
import { isConnected, isEnded, type Order, type Session } from './session.js';

export interface LifecycleOptions {
  readonly clock: Clock;
  /** How far the final status lags behind the end of the remote. */
  readonly statusLagMs: number;
  /** After this long without a remote a freshly claimed session is given up. */
  readonly giveUpMs: number;
  /** What the row says while a session that runs has lost its remote. */
  readonly lostRemoteStatus: 'running' | 'pending';
  readonly signal: AbortSignal;
}

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** A request that the session's present state does not allow. */
export class WrongMomentError extends Error {
  override readonly name = 'WrongMomentError';
}

export function createLifecycle(options: LifecycleOptions, queue: Queue, journal: Journal) {
  const { clock } = options;
  let deliver: (session: Session) => void = () => {};

  const addOrder = (session: Session, order: Omit<Order, 'id' | 'toldTo' | 'settle' | 'fail'>) =>
    new Promise<{ code: number; output: string }>((settle, fail) => {
      session.orders.push({ id: randomUUID(), toldTo: null, settle, fail, ...order });
      deliver(session);
    });

  const dropOrder = (session: Session, order: Order) => {
    const index = session.orders.indexOf(order);
    if (index >= 0) session.orders.splice(index, 1);
  };

  const run = async (session: Session, command: string, by: 'script' | 'say') => {
    const { code, output } = await addOrder(session, { order: 'run', command, by });
    session.outputs.push({ command, code, output, at: clock.now(), by });
    journal.note(session, 'output', `${code}`);
    return { code, output };
  };

  /** Says what became of the session once its remote is gone (or it never had one). */
  const finish = (session: Session, status: 'suspended' | 'terminated' | 'error') => {
    for (const order of [...session.orders]) {
      // The script's orders wait for the remote of the next resume; anything else is pointless now.
      if (status === 'suspended' && order.by === 'script') continue;
      dropOrder(session, order);
      order.fail(new WrongMomentError(`${session.id} is ${status}`));
    }
    queue.setStatus(session, status);
    if (status !== 'suspended') session.over.abort(new WrongMomentError(`${session.id} is ${status}`));
  };

  const finishing = new WeakSet<Session>();
  const finishLater = (session: Session) => {
    if (finishing.has(session)) return;
    finishing.add(session);
    clock.sleep(options.statusLagMs, options.signal).then(
      () => {
        finishing.delete(session);
        if (isEnded(session)) return;
        if (session.wish === 'sleep') finish(session, 'suspended');
        else if (session.wish === 'end') finish(session, 'terminated');
      },
      () => {},
    );
  };

  const tell = (session: Session, order: 'sleep' | 'end') => {
    if (isConnected(session)) void addOrder(session, { order, by: 'cloud' }).catch(() => {});
    else finishLater(session);
  };

  const suspend = (session: Session, flush = { flickerReads: 0, flushMs: 0 }) => {
    if (session.wish !== 'run' || isEnded(session)) {
      throw new WrongMomentError(`${session.id} cannot be suspended: it is ${session.status}`);
    }
    session.wish = 'sleep';
    session.flickerReads = flush.flickerReads;
    journal.note(session, 'wish', 'sleep');
    if (flush.flushMs === 0) return tell(session, 'sleep');
    clock.sleep(flush.flushMs, options.signal).then(
      () => {
        if (session.wish === 'sleep' && !isEnded(session)) tell(session, 'sleep');
      },
      () => {},
    );
  };

  const end = (session: Session) => {
    if (session.wish === 'end' || session.status === 'terminated' || session.status === 'error') {
      throw new WrongMomentError(`${session.id} is over already`);
    }
    session.wish = 'end';
    journal.note(session, 'wish', 'end');
    if (isEnded(session)) {
      // It sleeps: nothing has to stop. Where ended rows stay for a while, the queue shows this one again.
      session.status = 'terminated';
      if (!session.entry) queue.enqueue(session);
      finish(session, 'terminated');
    } else tell(session, 'end');
  };

  const play = (session: Session) => {
    const signal = AbortSignal.any([options.signal, session.over.signal]);
    playScript(session.script, {
      position: () => session.position,
      advance: () => {
        session.position += 1;
        journal.note(session, 'step', String(session.position));
      },
      attached: () => journal.until(session, () => session.wish === 'run' && isConnected(session), signal),
      sleep: (ms) => clock.sleep(ms, signal),
      run: async (command) => {
        await run(session, command, 'script');
      },
      suspend: (flush) => suspend(session, flush),
      crash: async (code) => {
        await addOrder(session, { order: 'crash', code, by: 'script' });
      },
      hang: async () => {
        await addOrder(session, { order: 'hang', by: 'script' });
      },
      end: () => end(session),
    }).catch(() => {
      // Over, or the cloud closed: the session's own events say which.
    });
  };

  return {
    suspend,
    end,
    /** How orders reach the remote; called whenever there is a new one. */
    onOrder(handler: (session: Session) => void) {
      deliver = handler;
    },

    start(session: Session) {
      queue.sessions.set(session.id, session);
      queue.enqueue(session);
      play(session);
    },

    resume(session: Session) {
      if (session.status !== 'suspended') {
        throw new WrongMomentError(`${session.id} cannot be resumed: it is ${session.status}`);
      }
      session.wish = 'run';
      session.kind = 'resume';
      session.status = session.queuedStatus;
      journal.note(session, 'status', session.status);
      queue.enqueue(session);
    },

    /** Runs a command in the remote for whoever talks to the session. */
    say(session: Session, command: string) {
      if (session.wish !== 'run' || !isConnected(session)) {
        return Promise.reject(new WrongMomentError(`${session.id} has no remote to run a command in`));
      }
      return run(session, command, 'say');
    },

    /** Call after the first claim by an acceptor: a session that no remote joins in time is given up. */
    expectRemote(session: Session) {
      const { entry } = session;
      const claimedAt = entry?.claimedAt;
      clock.sleep(options.giveUpMs, options.signal).then(
        () => {
          queue.settle(session);
          const same = entry && session.entry === entry && entry.claimedAt === claimedAt;
          if (!same || entry.phase !== 'claimed' || entry.attached || isEnded(session)) return;
          journal.note(session, 'givenUp', 'no remote connected');
          finish(session, 'error');
        },
        () => {},
      );
    },

    connected(session: Session) {
      if (session.entry) session.entry.attached = true;
      if (session.wish === 'run') queue.setStatus(session, 'running');
      deliver(session);
    },

    /** The remote is not connected any more; `instance` may come back. */
    disconnected(session: Session, instance: string) {
      session.flickerReads = 0;
      for (const order of [...session.orders]) {
        if (order.toldTo !== instance) continue;
        if (order.order === 'run') order.toldTo = null;
        else {
          dropOrder(session, order);
          order.settle({ code: 0, output: '' });
        }
      }
      if (session.wish !== 'run') finishLater(session);
      else if (options.lostRemoteStatus === 'pending' && session.status === 'running') {
        queue.setStatus(session, 'pending');
      }
    },

    /** A remote's answer to an order; unknown ones are late repeats. */
    reported(session: Session, orderId: string, result: { code: number; output: string }) {
      const order = session.orders.find((candidate) => candidate.id === orderId);
      if (!order) return;
      dropOrder(session, order);
      order.settle(result);
    },
  };
}
