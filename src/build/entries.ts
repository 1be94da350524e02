/**
 * What the workflow compiler is given: our one file, and nothing that it would
 * find by following imports. Left to search, it takes the Sandbox SDK's own
 * steps and all of zod into the code that is run again at every wake-up.
 */
import { join } from 'node:path';

export function ourEntries(workingDir: string) {
  const file = join(workingDir, 'src/workflows/session.ts');
  return {
    discoveredSteps: new Set([file]),
    discoveredWorkflows: new Set([file]),
    discoveredSerdeFiles: new Set<string>(),
  };
}

/** Packages that a bundle leaves to the surroundings: SQLite is for servers and brings native code. */
export const LEFT_OUT = ['@libsql/client', 'libsql', 'pg-native'] as const;
