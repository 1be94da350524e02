import { createLocalWorld, type LocalWorld } from '@workflow/world-local';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WorkflowRunNotFoundError } from 'workflow/errors';
import { setWorld } from 'workflow/runtime';
import { TransientError } from '../../src/errors.js';
import { workflowRuns } from '../../src/workflows/runs.js';
import { hookToken } from '../../src/workflows/token.js';
import { onEnd, temporaryDirectory } from '../pass/support.js';

const ID = 'devin-1';
const runs = workflowRuns();
let world: LocalWorld;
/** Messages that the engine was given; nobody works on them. */
let queued: string[];

beforeEach(async () => {
  world = createLocalWorld({ dataDir: await temporaryDirectory() });
  queued = [];
  world.queue = async (name) => {
    queued.push(name);
    return { messageId: 'msg_1' as never };
  };
  setWorld(world);
  onEnd(() => world.close?.());
});
afterEach(() => setWorld(undefined));

const countRuns = async () => (await world.runs.list({})).data.length;

/** A run that holds the session, as its first wake-up leaves it. */
async function holder(): Promise<string> {
  await runs.ring(ID);
  const [run] = (await world.runs.list({})).data;
  const runId = run?.runId ?? '';
  await world.events.create(runId, {
    eventType: 'hook_created',
    specVersion: run?.specVersion ?? 1,
    correlationId: `hook_${runId}`,
    eventData: { token: hookToken(ID), isWebhook: false },
  });
  return runId;
}

test('nobody holds the session -> a run is started', async () => {
  expect(await runs.ring(ID)).toBe('started');
  expect(await countRuns()).toBe(1);
});

test('a run holds the session -> it is rung, and no other started', async () => {
  await holder();
  expect(await runs.ring(ID)).toBe('rung');
  expect(await countRuns()).toBe(1);
});

test('replaced -> the holder is cancelled, another started', async () => {
  const runId = await holder();
  await runs.replace(ID);
  expect((await world.runs.get(runId)).status).toBe('cancelled');
  expect(await countRuns()).toBe(2);
});

test('replaced while nobody holds the session, or while the holder ends by itself -> another is started', async () => {
  await runs.replace(ID);
  expect(await countRuns()).toBe(1);
  const runId = await holder();
  const before = await countRuns();
  const { getByToken } = world.hooks;
  world.hooks.getByToken = async (...args) => {
    const hook = await getByToken.apply(world.hooks, args);
    await world.events.create(runId, { eventType: 'run_cancelled', specVersion: hook.specVersion ?? 1 });
    return hook;
  };
  await runs.replace(ID);
  expect(await countRuns()).toBe(before + 1);
});

test('the hook is there, but its run is not -> another is started', async () => {
  await holder();
  world.runs.get = async (id) => {
    throw new WorkflowRunNotFoundError(id);
  };
  expect(await runs.ring(ID)).toBe('started');
});

test.each(['ring', 'replace'] as const)(
  'the engine is away: %s -> TransientError that names the session',
  async (act) => {
    world.hooks.getByToken = () => Promise.reject(new Error('connect ECONNREFUSED'));
    const failure = await runs[act](ID).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TransientError);
    expect(String(failure)).toContain(ID);
    expect(await countRuns()).toBe(0);
  },
);

test('the engine never answers -> TransientError', async () => {
  world.hooks.getByToken = () => new Promise(() => undefined);
  await expect(runs.ring(ID)).rejects.toThrow(TransientError);
});
