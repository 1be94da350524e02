/** The operator's page of a long-lived orchestrator, on loopback. */
import { randomBytes } from 'node:crypto';
import type { Orchestrator } from '../compose.js';
import { localAdmission } from '../dashboard/guard.js';
import { createDashboard } from '../dashboard/index.js';
import type { ActionAnswer } from '../dashboard/view.js';
import type { SessionControl } from '../emulator/devin/index.js';
import { messageOf } from '../errors.js';
import { withDeadline } from '../ports/clock.js';
import { type Listening, listen } from './listen.js';

/** The page asks for a fresh view at least this often, for what other processes change. */
const REFRESH_MS = 5_000;

export async function servePage(
  orchestrator: Orchestrator,
  options: { port: number; control: SessionControl | null; log(line: string): void },
): Promise<Listening> {
  const { control, log } = options;
  const hosts: string[] = [];
  const app = createDashboard({
    view: () => orchestrator.view(),
    changes: (signal) => changes(orchestrator, signal),
    health: () => orchestrator.health(),
    actions: { ...operatorActions(orchestrator), ...(control === null ? {} : worldActions(control)) },
    admission: localAdmission(randomBytes(24).toString('base64url'), hosts),
    title: control === null ? 'Devin Outposts' : 'Devin Outposts, embedded world',
    world: control === null ? 'local' : 'embedded',
    log,
  });
  const listening = await listen(app.fetch, options.port);
  hosts.push(...['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${listening.port}`));
  return listening;
}

async function* changes(orchestrator: Orchestrator, signal: AbortSignal): AsyncIterable<void> {
  while (!signal.aborted) {
    const limit = withDeadline(REFRESH_MS, signal);
    await orchestrator.changed(limit.signal).finally(limit.clear);
    if (!signal.aborted) yield;
  }
}

function operatorActions(orchestrator: Orchestrator) {
  const noSuch = (id: string | undefined): ActionAnswer => ({
    ok: false,
    message: `There is no session ${id}.`,
  });
  return {
    stop: async (id?: string): Promise<ActionAnswer> =>
      id !== undefined && (await orchestrator.tell(id, { type: 'stop.requested' }))
        ? { ok: true, message: `${id} is being stopped; its files are kept.` }
        : noSuch(id),
    retry: async (id?: string): Promise<ActionAnswer> =>
      id !== undefined && (await orchestrator.retry(id))
        ? { ok: true, message: `${id} is tried again.` }
        : noSuch(id),
  };
}

function worldActions(control: SessionControl) {
  const act =
    (act: (id: string) => Promise<unknown>, done: string) =>
    async (id?: string): Promise<ActionAnswer> => {
      try {
        await act(id ?? '');
        return { ok: true, message: `${id} ${done}.` };
      } catch (error) {
        return { ok: false, message: messageOf(error) };
      }
    };
  return {
    start: async (): Promise<ActionAnswer> => {
      const { id } = await control.startSession();
      return { ok: true, message: `${id} is in the queue.` };
    },
    suspend: act((id) => control.suspend(id), 'goes to sleep'),
    resume: act((id) => control.resume(id), 'is in the queue again'),
    end: act((id) => control.end(id), 'is ending'),
  };
}
