/** What the command endpoints do: start in a vm, find again, stream as ndjson lines. */
import { delimiter, dirname } from 'node:path';
import { commandAnswer } from './answers.js';
import { ApiError, notFound } from './api-error.js';
import { Command } from './command.js';
import type { CloudState, Sandbox, Vm } from './model.js';
import { homeOf, resolveInVm, workingDirectory } from './paths.js';
import { DIR_MARK, VM_MARK } from './processes.js';
import type { CommandBody } from './requests.js';

/** Programs of the machine plus the Node that runs the emulator; nothing else of its environment. */
const PATH = [
  dirname(process.execPath),
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin'] : []),
].join(delimiter);

export async function startCommand(
  state: CloudState,
  sandbox: Sandbox,
  vm: Vm,
  body: CommandBody,
): Promise<Command> {
  if (vm.over.signal.aborted) throw stoppedError();
  const disk = state.disks.live(sandbox.name);
  const command = new Command(
    {
      name: body.command,
      args: body.args,
      cwd: body.cwd === undefined ? workingDirectory(disk) : resolveInVm(disk, body.cwd),
      timeoutMs: body.timeout ?? null,
      env: {
        PATH,
        HOME: homeOf(disk, body.sudo),
        USER: body.sudo ? 'root' : 'vercel-sandbox',
        LANG: 'C.UTF-8',
        TMPDIR: `${disk}/tmp`,
        ...sandbox.env,
        ...body.env,
        [VM_MARK]: vm.id,
        [DIR_MARK]: state.disks.dir,
      },
    },
    state.clock,
  );
  vm.commands.set(command.id, command);
  try {
    await command.started();
  } catch (error) {
    vm.commands.delete(command.id);
    throw error;
  }
  return command;
}

export function commandOf(vm: Vm, id: string): Command {
  const command = vm.commands.get(id);
  if (!command) throw notFound(`Command ${id}`);
  return command;
}

/** The vm begins to end: its timers stop, and its commands never get an exit code. */
export function abandonCommands(vm: Vm): void {
  vm.over.abort();
  for (const command of vm.commands.values()) command.lose();
}

/** Resolves when the command has exited. @throws ApiError 410 when its vm ended first. */
export async function waitForExit(command: Command): Promise<void> {
  await command.settled();
  if (command.lost) throw stoppedError();
}

export const stoppedError = () => new ApiError(410, 'sandbox_stopped', 'Sandbox has stopped execution.');

/** The command, then its output (unless `quiet`), then the command with its exit code. */
export async function* streamRun(
  state: CloudState,
  vm: Vm,
  command: Command,
  quiet: boolean,
): AsyncGenerator<object> {
  yield { command: commandAnswer(state, vm, command) };
  if (quiet) await command.settled();
  else yield* command.follow();
  yield command.lost ? lostLine() : { command: commandAnswer(state, vm, command) };
}

/** The output alone, from the start until the command ends. */
export async function* streamLogs(command: Command): AsyncGenerator<object> {
  yield* command.follow();
  if (command.lost) yield lostLine();
}

function lostLine() {
  const { code, message } = stoppedError();
  return { stream: 'error', data: { code, message } };
}
