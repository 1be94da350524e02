/**
 * Draws the machines, or with `--check` says which drawings they have outgrown.
 *
 *     node --import tsx src/diagrams/main.ts [--check]
 *
 * Runs in the project's directory. Exit codes: 1 when a file differs under
 * `--check`, which writes nothing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { COMMAND, documents, FOLDER } from './documents.js';

const { check } = parseArgs({ options: { check: { type: 'boolean', default: false } } }).values;

const drawn = await documents();
for (const { path, text } of drawn) {
  const current = read(path);
  const wanted = text(current);
  if (current === wanted) continue;
  if (check) {
    console.error(`${path} is not what the machine gives; mend it with: ${COMMAND}`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, wanted);
    console.log(`${path} written`);
  }
}

const known = new Set(drawn.map(({ path }) => path));
for (const path of existing().filter((path) => !known.has(path))) {
  if (check) {
    console.error(`${path} shows nothing of the machines any more; mend it with: ${COMMAND}`);
    process.exitCode = 1;
  } else {
    rmSync(path);
    console.log(`${path} removed`);
  }
}

/** The folder of the diagrams holds nothing else. */
function existing(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`) : [];
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
