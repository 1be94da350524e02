/**
 * Entry of the command line. Exit codes: what the command says, 1 when it
 * failed, 2 when the options or the settings were wrong.
 */
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { z } from 'zod';
import { RefusedError } from '../errors.js';
import { type Commands, createProgram } from './program.js';

const packageFile = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { version } = z.object({ version: z.string() }).parse(JSON.parse(packageFile));

const commands: Commands = {
  // Each is loaded when it is asked for: some are large.
  start: async (options) => (await import('./start.js')).runStart(options),
  serve: async (options) => (await import('./serve.js')).runServe(options),
  preview: async (options) => (await import('./preview.js')).runPreview(options),
  sessions: async (options) => (await import('./sessions.js')).runSessions(options),
  session: async (id, options) => (await import('./session.js')).runSession(id, options),
  watch: async (options) => (await import('./watch.js')).runWatch(options),
  diagram: async (id, options) => (await import('./diagram.js')).runDiagram(id, options),
};
const program = createProgram(version, commands, (exitCode) => {
  process.exitCode = exitCode;
});
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof RefusedError) console.error(`${error.message} (see ${error.setting})`);
  else console.error(error);
  return 1;
}
