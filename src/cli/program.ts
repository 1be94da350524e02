/**
 * The command line: its words, its help, and what each option may be.
 *
 * Only reads arguments; the commands do the work.
 */
import { Command, Option } from 'commander';
import { addLookCommands, type LookCommands } from './look-program.js';
import { loopback, speed, wholeNumber } from './option-values.js';
import type { PreviewOptions } from './preview-options.js';
import { ENGINES, type ServeOptions } from './serve-options.js';
import { DRAIN_MODES, type StartOptions } from './start-options.js';

export interface Commands extends LookCommands {
  /** Each resolves with the exit code. */
  start(options: StartOptions): Promise<number>;
  serve(options: ServeOptions): Promise<number>;
  preview(options: PreviewOptions): Promise<number>;
}

/** `done` hears the exit code of the command that ran. Wrong options throw a CommanderError. */
export function createProgram(
  version: string,
  commands: Commands,
  done: (exitCode: number) => void,
): Command {
  const program = new Command('devin-outposts')
    .description('Serves Devin Outposts sessions in Vercel Sandbox microVMs.')
    .version(version)
    .exitOverride();
  program
    .command('start')
    .description('serve sessions: without accounts in an embedded world, or --local with real ones')
    .addOption(new Option('--local', 'real Devin and Vercel, from the environment or .env').default(false))
    .addOption(
      new Option('--sessions <n>', 'start with so many scripted sessions')
        .argParser(wholeNumber(0, 1000))
        .conflicts('local'),
    )
    .option('--exit-when-idle', 'end with a summary once nothing is left to do', false)
    .addOption(
      new Option('--speed <factor>', 'run the embedded world so many times as fast')
        .argParser(speed)
        .default(30)
        .conflicts('local'),
    )
    .addOption(
      new Option('--port <n>', 'port of the page; 0 = any free one').argParser(wholeNumber(0, 65_535)),
    )
    .option('--json', 'print JSON lines', false)
    .addOption(
      new Option('--drain <how>', 'what the first Ctrl-C does with running sessions')
        .choices(DRAIN_MODES)
        .default('leave'),
    )
    .addOption(
      new Option('--world <url>', 'use an embedded world that runs already')
        .argParser(loopback)
        .conflicts('local'),
    )
    .action(async (options: StartOptions, command: Command) => {
      if (options.exitWhenIdle && !options.sessions)
        command.error('error: --exit-when-idle needs --sessions <n>: without any it would wait for ever');
      done(await commands.start(options));
    });
  program
    .command('serve')
    .description('serve sessions from servers of your own, any number of processes on one database')
    .addOption(
      new Option(
        '--engine <which>',
        'workflow: durable runs, needs PostgreSQL; poller: each process by itself',
      )
        .choices(ENGINES)
        .default('workflow'),
    )
    .addOption(
      new Option(
        '--port <n>',
        'port of health and doorbell, and of the page unless PUBLIC_URL is set; 0 = any free one',
      ).argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option(
        '--page-port <n>',
        'port of the page where PUBLIC_URL is set; any free one unless given',
      ).argParser(wholeNumber(0, 65_535)),
    )
    .option('--json', 'print JSON lines', false)
    .addOption(new Option('--world <url>', 'serve an embedded world that runs already').argParser(loopback))
    .action(async (options: ServeOptions) => done(await commands.serve(options)));
  program
    .command('preview')
    .description('serve what npm run build:vercel has built, as it would be deployed')
    .option('--output <directory>', "the built output; default: the project's .vercel/output")
    .option('--cron', 'call the crons each minute, as Vercel would', false)
    .addOption(
      new Option('--port <n>', 'port to serve on; 0 = any free one').argParser(wholeNumber(0, 65_535)),
    )
    .option('--json', 'print JSON lines', false)
    .addOption(new Option('--world <url>', 'serve an embedded world that runs already').argParser(loopback))
    .action(async (options: PreviewOptions) => done(await commands.preview(options)));
  addLookCommands(program, commands, done);
  return program;
}
