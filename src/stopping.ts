/**
 * Says that this process is about to end.
 *
 * Bundles of one process share no modules, but they share the process: whoever
 * runs it announces the end here, and steps begin nothing new.
 */
const KEY = Symbol.for('devin-outposts-vercel/stopping');
const shared = globalThis as { [KEY]?: AbortController };

const controller = (): AbortController => {
  shared[KEY] ??= new AbortController();
  return shared[KEY];
};

/** Aborts when the process is about to end. */
export const stopping = (): AbortSignal => controller().signal;

export const announceStop = (): void => controller().abort(new Error('the process is stopping'));
