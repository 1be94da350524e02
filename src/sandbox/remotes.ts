/**
 * The remote in a vm: launched, looked at, waited for.
 *
 * Everything goes to the vm's own id and fails there when it is over; nothing
 * here boots one. The supervisor's command id is remembered to wait on it with
 * one request; who does not know it waits for the lock instead.
 */
import type { Command } from '@vercel/sandbox';
import { ContractError, TransientError } from '../errors.js';
import type { LaunchSpec, RemoteSight, SandboxHost, VmRef } from '../ports/sandbox.js';
import type { Cloud } from './cloud.js';
import { GoneError, NoAnswerError, TimedOutError } from './failures.js';
import { createLru } from './lru.js';
import { lookCommand, readLook, WAIT_SECONDS, waitCommand } from './sight.js';
import { launchCommand, NOT_FIRST } from './supervisor.js';

/** More than one process serves at a time. */
const KNOWN_COMMANDS = 500;

export function createRemotes(
  cloud: Cloud,
  staticBaseUrl: string,
): Pick<SandboxHost, 'launch' | 'look' | 'awaitExit'> {
  const supervisors = createLru<Command>(KNOWN_COMMANDS);
  const keyOf = (vm: VmRef, launchId: string) => `${vm.vmId} ${launchId}`;

  /** Null when the supervisor's command is not known, or is not the one that runs the remote. */
  async function awaitCommand(vm: VmRef, launchId: string, signal: AbortSignal): Promise<'ended' | null> {
    const key = keyOf(vm, launchId);
    const supervisor = supervisors.get(key);
    if (!supervisor) return null;
    const wait = (_: unknown, bounded: AbortSignal) => supervisor.wait({ signal: bounded });
    try {
      const { exitCode } = await cloud.onVm(vm, 'wait for the remote', signal, wait, WAIT_SECONDS * 1_000);
      supervisors.delete(key);
      return exitCode === NOT_FIRST ? null : 'ended';
    } catch (error) {
      // Whatever is wrong with this command, the lock can be waited for without it.
      if (!(error instanceof TimedOutError) && !signal.aborted) supervisors.delete(key);
      throw error;
    }
  }

  return {
    async launch(vm, spec, signal) {
      const command = launchCommand(checked(spec), staticBaseUrl);
      try {
        const supervisor = await cloud.onVm(vm, 'launch the remote', signal, (session, bounded) =>
          session.runCommand({ ...command, cwd: session.cwd, detached: true, signal: bounded }),
        );
        supervisors.set(keyOf(vm, spec.launchId), supervisor);
        return { kind: 'launched' };
      } catch (error) {
        if (error instanceof GoneError) return { kind: 'vmGone' };
        throw error;
      }
    },

    async look(vm, launchId, signal) {
      try {
        const sight = await lookOnce(cloud, vm, launchId, signal);
        const supervisor = supervisors.get(keyOf(vm, launchId));
        if (sight.kind !== 'absent' || !supervisor) return sight;
        // The command was taken, but its process may not have got as far as the lock.
        const { exitCode } = await cloud.onVm(vm, 'look at the launch', signal, (session, bounded) =>
          session.getCommand(supervisor.cmdId, { signal: bounded }),
        );
        if (exitCode === null) return { kind: 'starting' };
        supervisors.delete(keyOf(vm, launchId));
        return await lookOnce(cloud, vm, launchId, signal);
      } catch (error) {
        if (error instanceof GoneError) return { kind: 'vmGone' };
        throw error;
      }
    },

    async awaitExit(vm, launchId, signal) {
      try {
        return (await awaitCommand(vm, launchId, signal)) ?? (await awaitLock(cloud, vm, signal));
      } catch (error) {
        if (error instanceof GoneError) return 'ended';
        if (error instanceof NoAnswerError) return 'dropped';
        throw error;
      }
    },
  };
}

async function awaitLock(cloud: Cloud, vm: VmRef, signal: AbortSignal): Promise<'ended' | 'dropped'> {
  // The command ends by itself after WAIT_SECONDS.
  const timeoutMs = (WAIT_SECONDS + 10) * 1_000;
  const { exitCode } = await cloud.onVm(
    vm,
    'wait for the remote',
    signal,
    (session, bounded) => session.runCommand({ ...waitCommand, cwd: session.cwd, signal: bounded }),
    timeoutMs,
  );
  return exitCode === NOT_FIRST ? 'dropped' : 'ended';
}

async function lookOnce(
  cloud: Cloud,
  vm: VmRef,
  launchId: string,
  signal: AbortSignal,
): Promise<RemoteSight> {
  const { exitCode, stdout } = await cloud.onVm(
    vm,
    'look at the remote',
    signal,
    async (session, bounded) => {
      const look = { ...lookCommand, cwd: session.cwd, signal: bounded };
      const finished = await session.runCommand(look);
      return { exitCode: finished.exitCode, stdout: await finished.stdout() };
    },
  );
  if (exitCode !== 0) throw new TransientError(`look at the remote in ${vm.name}: exit code ${exitCode}`);
  return readLook(stdout, launchId);
}

/** What no environment can carry. */
function checked(spec: LaunchSpec): LaunchSpec {
  const { sessionId, remoteSha, grant, doorbell } = spec;
  const values = [sessionId, remoteSha, grant.gatewayUrl, grant.connectToken, doorbell?.url, doorbell?.key];
  if (values.some((value) => value?.includes('\0'))) {
    throw new ContractError(
      `launch the remote of ${JSON.stringify(sessionId)}: a value with a NUL character`,
    );
  }
  return spec;
}
