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

/** `deploymentId` null: this is no deployment among others. A run that could not be asked is asked by the next pass. */
export async function takeOver(parts: Parts, runs: Runs, deploymentId: string | null): Promise<void> {
  const { store, log } = parts;
  if (deploymentId === null || (await store.setting(DRIVING)) === deploymentId) return;
  const ids = await withSlots(parts);
  let failed = false;
  const ask = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      await runs.dismiss(id).catch((error) => {
        failed = true;
        log(messageOf(error));
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  if (!failed) await store.writeSetting(DRIVING, deploymentId);
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
