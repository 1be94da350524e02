/**
 * Lets the deployment that the cron calls take over every session's run.
 *
 * A run stays with the deployment that started it. So the first pass of another
 * one, be it newer or rolled back to, asks the runs to leave: their sessions are
 * due within one probe, and whoever finds them then starts a run of its own.
 */
import { messageOf } from '../errors.js';
import type { Parts } from '../parts.js';
import type { Runs } from '../ports/runs.js';

/** The setting that names the deployment whose runs drive the sessions. */
export const DRIVING = 'driving-deployment';
/** Runs that are asked at a time. */
const CONCURRENCY = 8;
const PAGE = 500;

/**
 * Resolves once it is known whose runs are to leave, and asks them beside what the pass does: what it starts stays.
 * `deploymentId` null: this is no deployment among others. What fails is done by the next pass.
 */
export async function takeOver(
  parts: Parts,
  runs: Runs,
  deploymentId: string | null,
  over: AbortSignal,
): Promise<void> {
  const { store, log } = parts;
  if (deploymentId === null || (await store.setting(DRIVING)) === deploymentId) return;
  const ids = await withSlots(parts);
  if (ids.length > 0) log(`deployment ${deploymentId} takes over: ${ids.length} runs are asked to leave`);
  void dismiss(ids, runs, over)
    .then(() => (over.aborted ? undefined : store.writeSetting(DRIVING, deploymentId)))
    .catch((error) => log(`the runs of another deployment stay for now: ${messageOf(error)}`));
}

/** Rejects with the first failure, and asks no further. */
async function dismiss(ids: readonly string[], runs: Runs, over: AbortSignal): Promise<void> {
  const left = [...ids];
  let failed = false;
  const ask = async () => {
    for (let id = left.pop(); id !== undefined && !failed && !over.aborted; id = left.pop())
      await runs.dismiss(id).catch((error) => {
        failed = true;
        throw error;
      });
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
}

/** Sessions that may have a run: a run ends when its session rests. */
async function withSlots({ store, kind }: Parts): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const rows = await store.list({
      machine: kind.name,
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
    });
    ids.push(...rows.filter(({ holdsSlot }) => holdsSlot).map(({ id }) => id));
    after = rows.at(-1)?.id;
    if (rows.length < PAGE) return ids;
  }
}
