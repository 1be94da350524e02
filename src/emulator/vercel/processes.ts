/**
 * Finds and kills the processes of a vm.
 *
 * A vm has no kernel of its own here, so its processes are recognised in /proc
 * by what they inherit: a variable in their environment, a living command's
 * group or session, an ancestor that is recognised, or (for a daemon that
 * dropped all of these) being an orphan that works on the vm's disk. A process
 * of the developer is never taken for one, wherever its shell stands.
 * Without /proc (macOS) only the groups of living commands are known.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Carries the vm's id in every process of a vm. */
export const VM_MARK = 'VERCEL_EMULATOR_VM';
/** Carries the emulator's directory, by which a later emulator finds leftovers. */
export const DIR_MARK = 'VERCEL_EMULATOR_DIR';

export interface ProcessView {
  readonly pid: number;
  readonly argv: readonly string[];
}

/** What tells whose a process is. */
export interface Owner {
  readonly mark: string;
  readonly disk: string;
  /** Pids of commands that this emulator started and that have not ended. */
  readonly leaders: ReadonlySet<number>;
}

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** /proc as it was at one moment; reading it takes a few milliseconds. */
export class ProcessTable {
  private readonly entries = readEntries();
  private readonly environments = new Map<number, string>();

  /** Pids of the owner's living processes. */
  of(owner: Owner): number[] {
    if (this.entries === null) return [...owner.leaders];
    const owned = new Set<number>();
    for (const entry of this.entries.values()) if (this.isOwned(entry, owner)) owned.add(entry.pid);
    for (let found = owned.size > 0; found; ) {
      found = false;
      for (const { pid, parent } of this.entries.values()) {
        if (owned.has(pid) || !owned.has(parent)) continue;
        owned.add(pid);
        found = true;
      }
    }
    owned.delete(process.pid);
    return [...owned];
  }

  private isOwned(entry: Entry, owner: Owner): boolean {
    if (entry.pid === process.pid) return false;
    if (owner.leaders.has(entry.group) || owner.leaders.has(entry.session)) return true;
    return (
      this.environmentOf(entry.pid).includes(`\0${owner.mark}\0`) ||
      (this.isOrphan(entry) && worksIn(entry.pid, owner.disk))
    );
  }

  /** Each variable between two NULs. */
  private environmentOf(pid: number): string {
    const known = this.environments.get(pid);
    if (known !== undefined) return known;
    const environment = `\0${readText(`/proc/${pid}/environ`)}`;
    this.environments.set(pid, environment);
    return environment;
  }

  /** Adopted by init or by a session manager, because its parent died. */
  private isOrphan({ parent }: Entry): boolean {
    if (parent === 1) return true;
    return this.entries?.has(parent) === true && readText(`/proc/${parent}/comm`).trim() === 'systemd';
  }
}

/** Kills until none is left. @throws Error when processes survive SIGKILL for ten seconds. */
export async function killProcesses(owner: () => Owner): Promise<void> {
  const giveUpAt = Date.now() + 10_000;
  for (;;) {
    const pids = new ProcessTable().of(owner());
    if (pids.length === 0) return;
    if (Date.now() > giveUpAt) throw new Error(`processes survived SIGKILL: ${pids.join(' ')}`);
    signalAll(pids);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** For the moments when nothing can be awaited any more. */
export function killProcessesNow(owner: Owner): void {
  signalAll(new ProcessTable().of(owner));
}

export function describeProcess(pid: number): ProcessView {
  return { pid, argv: readText(`/proc/${pid}/cmdline`).split('\0').slice(0, -1) };
}

function signalAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(process.platform === 'linux' ? pid : -pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

function worksIn(pid: number, disk: string): boolean {
  try {
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return cwd === disk || cwd.startsWith(`${disk}/`);
  } catch {
    return false;
  }
}

/** Null where there is no /proc. */
function readEntries(): Map<number, Entry> | null {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return null;
  }
  const table = new Map<number, Entry>();
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    // pid (comm) state ppid pgrp session …; comm may hold spaces and parentheses.
    const stat = readText(`/proc/${name}/stat`);
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (!parent || state === 'Z' || state === 'X') continue;
    const pid = Number(name);
    table.set(pid, { pid, parent: Number(parent), group: Number(group), session: Number(session) });
  }
  return table;
}

/** Empty when the process is gone or another user's. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
