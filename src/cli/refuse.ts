/** Why a command does not go on, told on stderr. */
import { describeProblems, type Problem } from '../config/index.js';
import { messageOf, RefusedError } from '../errors.js';

/** Says what is wrong, and in which setting; answers the exit code. */
export function refuse(error: unknown): number {
  if (error instanceof ConfigError) {
    const { problems, warnings } = error;
    process.stderr.write(
      `The configuration has problems:\n${describeProblems([...problems, ...warnings])}\n`,
    );
    return 2;
  }
  const setting = error instanceof RefusedError ? ` (see ${error.setting})` : '';
  process.stderr.write(`${messageOf(error)}${setting}\n`);
  return 1;
}

/** Settings that do not add up; each names its variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];
  /** What looks wrong besides, such as a misspelt name. */
  readonly warnings: readonly Problem[];
  constructor({ problems, warnings }: { problems: readonly Problem[]; warnings: readonly Problem[] }) {
    super('the configuration has problems');
    this.problems = problems;
    this.warnings = warnings;
  }
}
