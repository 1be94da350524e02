import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../src/diagrams/main.ts', import.meta.url));
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'diagrams-'));
  write('README.md', README);
});
afterEach(() => rmSync(project, { recursive: true }));

const read = (path: string) => readFileSync(join(project, path), 'utf8');
const write = (path: string, text: string) => writeFileSync(join(project, path), text);

function diagrams(...options: string[]) {
  const args = ['--import', import.meta.resolve('tsx'), main, ...options];
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  return { status, stderr, stdout };
}

it('nothing drawn yet -> --check names what is missing and writes nothing; then it is written, and all is well', () => {
  const before = diagrams('--check');
  expect(before.status).toBe(1);
  expect(before.stderr).toContain('visualizations/session.svg');
  expect(() => read('visualizations/session.svg')).toThrow();

  expect(diagrams().status).toBe(0);
  expect(read('visualizations/session.svg')).toContain('<svg');
  expect(diagrams('--check')).toEqual({ status: 0, stderr: '', stdout: '' });
});

it('files were changed by hand -> --check names each and the command that mends it, and the command does', () => {
  diagrams();
  const drawn = read('visualizations/session.mmd');
  write('visualizations/session.mmd', drawn.replace('slot granted', 'slot stolen'));
  const forged = README.replace('session-overview.svg', 'elsewhere.svg');
  write('README.md', `${forged}\nWords that are nobody else's.\n`);

  const { status, stderr } = diagrams('--check');
  expect(status).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([
    'visualizations/session.mmd is not what the machine gives; mend it with: npm run diagrams',
    'README.md is not what the machine gives; mend it with: npm run diagrams',
  ]);

  diagrams();
  expect(read('visualizations/session.mmd')).toBe(drawn);
  expect(read('README.md')).toBe(`${README}\nWords that are nobody else's.\n`);
});

it('a picture of what is no state any more -> --check names it, and the command removes it', () => {
  diagrams();
  write('visualizations/session-dreaming.svg', '<svg/>');
  const { status, stderr } = diagrams('--check');
  expect(status).toBe(1);
  expect(stderr).toContain('visualizations/session-dreaming.svg shows nothing of the machines any more');
  expect(diagrams().stdout).toBe('visualizations/session-dreaming.svg removed\n');
  expect(() => read('visualizations/session-dreaming.svg')).toThrow();
});

it('a README without its markers -> fails and says which', () => {
  write('README.md', '# Something else\n');
  const { status, stderr } = diagrams('--check');
  expect(status).toBe(1);
  expect(stderr).toMatch(/README\.md: .*begin -->.* are missing/);
  expect(read('README.md')).toBe('# Something else\n');
});
