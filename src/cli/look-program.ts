/** The words and options of the commands that only look. */
import { type Command, Option } from 'commander';
import type { LookOptions, SessionsOptions } from './look-options.js';
import { loopback, wholeNumber } from './option-values.js';

export interface LookCommands {
  /** Each resolves with the exit code. */
  sessions(options: SessionsOptions): Promise<number>;
  session(id: string, options: LookOptions): Promise<number>;
  watch(options: LookOptions): Promise<number>;
  diagram(id: string, options: LookOptions): Promise<number>;
}

export function addLookCommands(
  program: Command,
  commands: LookCommands,
  done: (exitCode: number) => void,
): void {
  looking(program.command('sessions'))
    .description('list sessions, latest change first')
    .option('--state <state>', 'only those in it or within it: serving, serving.probing')
    .option('--search <text>', 'only those whose id contains it')
    .addOption(new Option('--limit <n>', 'at most so many').argParser(wholeNumber(1, 10_000)).default(50))
    .addHelpText('after', example('sessions --state serving --limit 10'))
    .action(async (options: SessionsOptions) => done(await commands.sessions(options)));
  looking(program.command('session <id>'))
    .description('show one session: what it waits for, what it has, its episodes and its timeline')
    .addHelpText('after', example('session devin-0123456789abcdef'))
    .action(async (id: string, options: LookOptions) => done(await commands.session(id, options)));
  looking(program.command('watch'))
    .description('show sessions as they move, until Ctrl-C')
    .addHelpText('after', example('watch'))
    .action(async (options: LookOptions) => done(await commands.watch(options)));
  looking(program.command('diagram <id>'))
    .description('draw the lifecycle with where one session is, and the way that it took')
    .addHelpText('after', example('diagram devin-0123456789abcdef'))
    .action(async (id: string, options: LookOptions) => done(await commands.diagram(id, options)));
}

function looking(command: Command): Command {
  return command
    .option('--database <url>', 'file:<path> to read instead of what DATABASE_URL names')
    .addOption(
      new Option(
        '--world <url>',
        "read what serves a running embedded world, by that world's clock",
      ).argParser(loopback),
    )
    .option('--json', 'print JSON', false)
    .hook('preAction', (_, command) => {
      // Not by its parser: what that refuses is repeated in its message.
      const { database } = command.opts<LookOptions>();
      if (database !== undefined && !database.startsWith('file:'))
        command.error(
          'error: --database should be file:<path>; the address of a PostgreSQL database may hold a password and belongs in DATABASE_URL',
        );
    });
}

const example = (line: string): string => `
Reads the database that DATABASE_URL names, in the environment or .env; unset: file:.outposts/local.db, which
npm run start:local serves from. Writes nothing.

Example:
  npm run outposts -- ${line}`;
