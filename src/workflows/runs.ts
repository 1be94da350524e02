/**
 * Runs of the workflow engine, behind the orchestrator's port.
 *
 * Starts runs by their id, because whoever imports this may not have been
 * through the engine's compiler; a test holds the id to what the compiler makes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { getHookByToken, getRun, resumeHook, start } from 'workflow/api';
import {
  EntityConflictError,
  HookNotFoundError,
  RunExpiredError,
  WorkflowError,
  WorkflowRunNotFoundError,
} from 'workflow/errors';
import { messageOf, TransientError } from '../errors.js';
import type { Runs } from '../ports/runs.js';
import { hookToken, type Ring } from './token.js';

/** The compiler's name for `sessionRun` in session.ts. */
export const SESSION_RUN_ID = 'workflow//./src/workflows/session//sessionRun';

/** The engine has answered by then, or is taken to be away. By the wall. */
const ANSWER_MS = 10_000;

export function workflowRuns(): Runs {
  return {
    async ring(sessionId) {
      if (await send(sessionId, 'look')) return 'rung';
      await startSessionRun(sessionId);
      return 'started';
    },

    answers: () =>
      // No session has an empty name: the engine answers that it knows no such hook.
      unlessOver(ask('ask the engine', () => getHookByToken(hookToken('')))).then(
        () => true,
        () => false,
      ),

    async dismiss(sessionId) {
      await send(sessionId, 'leave');
    },

    async replace(sessionId) {
      const cancel = async () => getRun((await getHookByToken(hookToken(sessionId))).runId).cancel();
      await unlessOver(ask(`cancel the run of ${sessionId}`, cancel));
      await startSessionRun(sessionId);
    },
  };
}

/** The run belongs to the deployment of whoever starts it. */
export async function startSessionRun(sessionId: string): Promise<void> {
  await ask(`start a run for ${sessionId}`, () => start({ workflowId: SESSION_RUN_ID }, [sessionId]));
}

/** False when the session has no run. */
function send(sessionId: string, type: Ring['type']): Promise<boolean> {
  const ring: Ring = { type, sentAt: Date.now() };
  return unlessOver(ask(`ring the run of ${sessionId}`, () => resumeHook(hookToken(sessionId), ring)));
}

/** Asks the engine. Rejects with TransientError, also when it does not answer in time. */
async function ask(what: string, act: () => Promise<unknown>): Promise<void> {
  const answered = new AbortController();
  const late = pause(ANSWER_MS, undefined, { signal: answered.signal }).then(
    () => Promise.reject(new Error('no answer in time')),
    () => undefined,
  );
  try {
    await Promise.race([act(), late]);
  } catch (error) {
    throw new TransientError(`${what}: ${causeOf(error)}`, { cause: error });
  } finally {
    answered.abort();
  }
}

/** The engine's errors quote what they were answered: their kind and status have to do. */
function causeOf(error: unknown): string {
  if (!WorkflowError.is(error)) return messageOf(error);
  const status = 'status' in error && typeof error.status === 'number' ? ` ${error.status}` : '';
  return `${error.name}${status} from the workflow engine`;
}

/** False when the run that was meant is over. */
async function unlessOver(asked: Promise<void>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    const cause = error instanceof TransientError ? error.cause : error;
    if (OVER.some((kind) => kind.is(cause))) return false;
    throw error;
  }
}

const OVER = [HookNotFoundError, RunExpiredError, WorkflowRunNotFoundError, EntityConflictError];
