/**
 * Runs of the workflow engine, behind the orchestrator's port.
 *
 * Starts runs by their id, because whoever imports this may not have been
 * through the engine's compiler; a test holds the id to what the compiler makes.
 */
import { getHookByToken, getRun, resumeHook, start } from 'workflow/api';
import { HookNotFoundError } from 'workflow/errors';
import { messageOf, TransientError } from '../errors.js';
import type { Runs } from '../ports/runs.js';
import { hookToken, type Ring } from './token.js';

/** The compiler's name for `sessionRun` in session.ts. */
export const SESSION_RUN_ID = 'workflow//./src/workflows/session//sessionRun';

const LOOK: Ring = { type: 'look' };

export function workflowRuns(): Runs {
  return {
    async ring(sessionId) {
      try {
        await resumeHook(hookToken(sessionId), LOOK);
        return 'rung';
      } catch (error) {
        if (!HookNotFoundError.is(error)) throw unreachable(`ring the run of ${sessionId}`, error);
      }
      await startSessionRun(sessionId);
      return 'started';
    },

    async replace(sessionId) {
      try {
        const { runId } = await getHookByToken(hookToken(sessionId));
        await getRun(runId).cancel();
      } catch (error) {
        if (!HookNotFoundError.is(error)) throw unreachable(`cancel the run of ${sessionId}`, error);
      }
      await startSessionRun(sessionId);
    },
  };
}

/** On Vercel the newest deployment takes over; elsewhere there is only this one. */
export async function startSessionRun(sessionId: string): Promise<void> {
  const options = process.env.VERCEL === '1' ? ({ deploymentId: 'latest' } as const) : undefined;
  try {
    if (options === undefined) await start({ workflowId: SESSION_RUN_ID }, [sessionId]);
    else await start({ workflowId: SESSION_RUN_ID }, [sessionId], options);
  } catch (error) {
    throw unreachable(`start a run for ${sessionId}`, error);
  }
}

const unreachable = (what: string, error: unknown) =>
  new TransientError(`${what}: ${messageOf(error)}`, { cause: error });
