import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { liveADay } from './day.js';

let dir = '';
afterEach(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));

/** Looked at every ten minutes and extended every two hours, to keep the test short; `npm run bench` has the real ones. */
test('a session of more than 24 hours -> moved to a fresh vm once, its runs hand over, and none grows long', async () => {
  dir = await mkdtemp(join(tmpdir(), 'outposts-day-'));
  const day = await liveADay({
    dir,
    hours: 24.2,
    env: { PROBE_INTERVAL_MS: '600000', SANDBOX_TIMEOUT_MS: '7200000' },
  });
  const perHour = (count: number) => (count / day.hours).toFixed(1);
  console.log(
    `${day.runs} runs, at most ${day.mostEventsPerRun} events in one; an hour: ${perHour(day.steps)} steps, ` +
      `${perHour(day.events)} events, ${perHour(day.sandboxCalls)} sandbox calls`,
  );
  expect(day.state).toBe('ended');
  expect(day.vms).toBe(2);
  expect(day.remotesAtOnce).toBe(1);
  expect(day.handedOver).toBeGreaterThanOrEqual(1);
  expect(day.mostEventsPerRun).toBeLessThan(2_000);
  expect(day.events / day.hours).toBeLessThan(400);
}, 300_000);
