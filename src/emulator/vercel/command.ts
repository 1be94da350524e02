/**
 * One command of a vm: a real child process in a session of its own.
 *
 * Keeps name, arguments, output and exit code for as long as the vm is known;
 * never keeps or reports its environment. A command that the end of its vm
 * takes along is `lost`: it gets no exit code.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { Clock } from '../../ports/clock.js';
import { badRequest } from './api-error.js';
import { newId } from './ids.js';

export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  readonly data: string;
}

export interface CommandPlan {
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** SIGKILL after this much of the clock's time; null = never. */
  readonly timeoutMs: number | null;
}

/** Output beyond this many characters is read and dropped. */
const OUTPUT_LIMIT = 8 * 1024 * 1024;
/** How long the pipes of an exited command are read on while its children hold them open. */
const DRAIN_MS = 40;

export class Command {
  readonly id = newId('cmd');
  readonly name: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly startedAt: number;
  exitCode: number | null = null;
  durationMs: number | null = null;
  lost = false;
  private readonly output: OutputLine[] = [];
  private outputSize = 0;
  private readonly news = new EventEmitter().setMaxListeners(0);
  private readonly child: ChildProcess;

  private readonly over = new AbortController();

  /** Spawns at once; whether that worked tells `started`. */
  constructor(
    plan: CommandPlan,
    private readonly clock: Clock,
  ) {
    this.name = plan.name;
    this.args = plan.args;
    this.cwd = plan.cwd;
    this.startedAt = clock.now();
    this.child = spawn(plan.name, [...plan.args], {
      cwd: plan.cwd,
      env: { ...plan.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.collect('stdout', this.child.stdout);
    this.collect('stderr', this.child.stderr);
    this.child.once('exit', (code, signal) => this.finish(code, signal));
    if (plan.timeoutMs !== null) void this.limit(plan.timeoutMs);
  }

  /** @throws ApiError 400 when there is no such program or directory. */
  async started(): Promise<void> {
    try {
      await once(this.child, 'spawn');
    } catch (error) {
      this.over.abort();
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
      throw badRequest(`Cannot run \`${this.name}\` in \`${this.cwd}\`: ${code}.`);
    }
  }

  /** Its process group while it lives. */
  get leader(): number | null {
    const { pid, exitCode, signalCode } = this.child;
    return pid === undefined || exitCode !== null || signalCode !== null ? null : pid;
  }

  get isOver(): boolean {
    return this.exitCode !== null || this.lost;
  }

  /** Signals the process itself, not its children. Nothing happens when it ended. */
  signal(number: number): void {
    if (this.leader !== null) this.child.kill(number);
  }

  /** Resolves when it exited or was lost. */
  async settled(): Promise<void> {
    while (!this.isOver) await once(this.news, 'news');
  }

  /** Its output from the start, as it comes, until it exited or was lost. */
  async *follow(): AsyncGenerator<OutputLine> {
    for (let index = 0; ; index++) {
      while (index >= this.output.length) {
        if (this.isOver) return;
        await once(this.news, 'news');
      }
      const line = this.output[index];
      if (line) yield line;
    }
  }

  /** Its vm ends: whoever waits for it learns that it will never have an exit code. */
  lose(): void {
    this.end(() => {
      this.lost = true;
    });
  }

  private collect(stream: OutputLine['stream'], source: Readable | null): void {
    source?.setEncoding('utf8');
    source?.on('data', (data: string) => {
      if (this.isOver || this.outputSize > OUTPUT_LIMIT) return;
      this.outputSize += data.length;
      this.output.push({ stream, data });
      this.news.emit('news');
    });
  }

  private finish(code: number | null, signal: NodeJS.Signals | null): void {
    const exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
    const durationMs = this.clock.now() - this.startedAt;
    const settle = () => {
      clearTimeout(drained);
      this.end(() => {
        this.exitCode = exitCode;
        this.durationMs = durationMs;
      });
    };
    // A process that was held up meets its timers before its input: what is there is read first.
    const drained = setTimeout(() => setImmediate(settle), DRAIN_MS);
    this.child.once('close', settle);
  }

  private end(how: () => void): void {
    if (this.isOver) return;
    how();
    this.over.abort();
    this.news.emit('news');
  }

  private async limit(timeoutMs: number): Promise<void> {
    try {
      await this.clock.sleep(timeoutMs, this.over.signal);
    } catch {
      return;
    }
    if (this.leader !== null) process.kill(-this.leader, 'SIGKILL');
  }
}
