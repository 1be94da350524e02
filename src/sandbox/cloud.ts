/**
 * The SDK, with credentials, bounds and the learnt clock around every call.
 *
 * Work on a vm goes through an SDK `Session` that a read without resume gave:
 * unlike `Sandbox`, it never boots a vm when the one it names is gone. Sessions
 * are kept by vm id, so that a look costs one request; what they say of status
 * and times is only as old as their last answer and is not used later.
 */
import { Sandbox, type Session } from '@vercel/sandbox';
import { RefusedError } from '../errors.js';
import type { VmRef } from '../ports/sandbox.js';
import { callSdk, GoneError } from './failures.js';
import { createLru } from './lru.js';
import type { SandboxCredentials, SandboxHostOptions } from './settings.js';

type Access = Partial<SandboxCredentials> & { fetch: typeof fetch };

export interface Cloud {
  /** One bounded SDK call. `what` opens the message of its error; `timeoutMs` replaces the usual bound. */
  call<T>(
    what: string,
    signal: AbortSignal,
    run: (access: Access, signal: AbortSignal) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T>;
  /** A call on a vm, by its own id. @throws GoneError when the sandbox has another vm by now, or none. */
  onVm<T>(
    vm: VmRef,
    what: string,
    signal: AbortSignal,
    run: (session: Session, signal: AbortSignal) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T>;
  /** Runs a call and learns the remote's time from the instant of the change that it made; null = it made none. */
  learning<T>(run: () => Promise<T>, changedAt: (answer: T) => number | null): Promise<T>;
  /** The sandbox as it is, never woken; null when there is none. One request. */
  read(name: string, signal: AbortSignal): Promise<Sandbox | null>;
  /** Keeps the session of a sandbox that was read, created or booted. */
  keep(sandbox: Sandbox): void;
}

/** Many more than one process serves at a time. */
const KEPT_SESSIONS = 500;

export function createCloud(options: SandboxHostOptions): Cloud {
  const { clock, remoteClock, callTimeoutMs = 15_000 } = options;
  const accessSetting = options.credentials ? 'VERCEL_TOKEN' : 'VERCEL_OIDC_TOKEN';
  const kept = createLru<Session>(KEPT_SESSIONS);
  const observed: typeof fetch = async (input, init) => {
    const sentAt = clock.now();
    const response = await (options.fetch ?? globalThis.fetch)(input, init);
    remoteClock.learnFromDate(response.headers.get('date'), sentAt, clock.now());
    return response;
  };

  async function sessionOf(vm: VmRef, signal: AbortSignal): Promise<Session> {
    const session = kept.get(vm.vmId) ?? (await cloud.read(vm.name, signal))?.currentSession();
    if (session?.sessionId === vm.vmId) return session;
    throw new GoneError(`vm ${vm.vmId} of ${vm.name} is not the current one`, 'stopped');
  }

  const cloud: Cloud = {
    call: (what, signal, run, timeoutMs = callTimeoutMs) =>
      callSdk({ what, signal, timeoutMs, accessSetting }, async (bounded) =>
        run({ ...(await options.credentials?.()), fetch: observed }, bounded),
      ),
    async onVm(vm, what, signal, run, timeoutMs = callTimeoutMs) {
      const wasKept = kept.get(vm.vmId) !== undefined;
      const session = await sessionOf(vm, signal);
      const context = { what: `${what} in ${vm.name}`, signal, timeoutMs, accessSetting };
      try {
        return await callSdk(context, (bounded) => run(session, bounded));
      } catch (error) {
        if (!(error instanceof RefusedError || error instanceof GoneError)) throw error;
        kept.delete(vm.vmId);
        if (error instanceof GoneError || error.setting !== accessSetting || !wasKept) throw error;
        // A kept session has the credentials of its time.
        return cloud.onVm(vm, what, signal, run, timeoutMs);
      }
    },
    async learning(run, changedAt) {
      const sentAt = clock.now();
      const answer = await run();
      const instant = changedAt(answer);
      if (instant !== null) remoteClock.learn(instant, sentAt, clock.now());
      return answer;
    },
    async read(name, signal) {
      try {
        const sandbox = await cloud.call(`read sandbox ${name}`, signal, (access, bounded) =>
          Sandbox.get({ ...access, name, resume: false, signal: bounded }),
        );
        cloud.keep(sandbox);
        return sandbox;
      } catch (error) {
        if (error instanceof GoneError && error.reason === 'notFound') return null;
        throw error;
      }
    },
    keep(sandbox) {
      const session = sandbox.currentSession();
      kept.set(session.sessionId, session);
    },
  };
  return cloud;
}
