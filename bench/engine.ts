/**
 * What a session that is being served costs the workflow engine, hour after hour.
 *
 * Changes the process that it runs in (its clock, its `fetch`): to be measured last.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DayReport, liveADay } from '../test/deployed/day.js';

export async function measureEngine(hours: number): Promise<DayReport> {
  const dir = await mkdtemp(join(tmpdir(), 'outposts-bench-'));
  try {
    return await liveADay({ dir, hours });
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
