/**
 * Joins a world that runs in another process of this machine.
 *
 * Reads its address book once and then shares its clock; session control goes
 * over HTTP. Refuses any address that is not loopback.
 */
import { type Clock, createClock } from '../../ports/clock.js';
import type { SessionControl, SessionView } from '../devin/index.js';
import { type Demo, runDemo } from './demo.js';
import { type WorldInfo, worldInfoSchema } from './info.js';

export interface AttachedWorld extends WorldInfo {
  readonly worldClock: Clock;
  readonly control: SessionControl;
  runDemo(n: number, signal?: AbortSignal): Promise<Demo>;
  /** Any call under `/_world`, such as `GET /calls` or `POST /faults`. Rejects unless it answers 2xx. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** `token` is what the world printed when it started. Rejects when there is no world, or it refuses the token. */
export async function attachWorld(url: string, token: string): Promise<AttachedWorld> {
  const { protocol, hostname, origin } = new URL(url);
  if (protocol !== 'http:' || !LOOPBACK.has(hostname)) {
    throw new Error('a world must be http on this machine');
  }

  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${origin}/_world${path}`, {
      method,
      redirect: 'error',
      headers: { 'x-world-token': token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} from the world: ${detailOf(text)}`);
    return JSON.parse(text);
  };
  const info = worldInfoSchema.parse(await call('GET', '/'));
  const control = controlOver(call);
  const worldClock = createClock(info.clock);
  return {
    ...info,
    worldClock,
    control,
    call,
    runDemo: (n, signal) => runDemo(n, { control, clock: worldClock, ...(signal ? { signal } : {}) }),
  };
}

function controlOver(call: AttachedWorld['call']): SessionControl {
  // Both ends are this program: the shape of a view is not checked again.
  const view = (answer: Promise<unknown>) => answer as Promise<SessionView>;
  const at = (id: string) => `/sessions/${encodeURIComponent(id)}`;
  return {
    startSession: (spec = {}) => view(call('POST', '/sessions', spec)),
    suspend: (id) => view(call('POST', `${at(id)}/suspend`)),
    resume: (id) => view(call('POST', `${at(id)}/resume`)),
    end: (id) => view(call('POST', `${at(id)}/end`)),
    say: (id, command) =>
      call('POST', `${at(id)}/say`, { command }) as Promise<{ code: number; output: string }>,
    session: (id) => view(call('GET', at(id))),
    sessions: () => call('GET', '/sessions') as Promise<SessionView[]>,
  };
}

function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return 'no JSON';
  }
}
