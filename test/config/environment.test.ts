import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/index.js';
import { RefusedError } from '../../src/errors.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'environment-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('no .env -> the environment as it is', () => {
  expect(readEnvironment({ env: { A: '1' }, directory })).toEqual({ A: '1' });
});

it('a .env -> adds what is not set, overrides nothing, not even a blank', () => {
  writeFileSync(join(directory, '.env'), 'A=file\nB="from file"\nC=file\n');
  expect(readEnvironment({ env: { A: 'real', C: '' }, directory })).toEqual({
    A: 'real',
    B: 'from file',
    C: '',
  });
});

it("a .env -> the process's own environment does not change", () => {
  writeFileSync(join(directory, '.env'), 'OUTPOSTS_TEST_ONLY=x\n');
  readEnvironment({ env: process.env, directory });
  expect(process.env.OUTPOSTS_TEST_ONLY).toBeUndefined();
});

it('a .env that cannot be read -> an error that names it', () => {
  mkdirSync(join(directory, '.env'));
  expect(() => readEnvironment({ env: {}, directory })).toThrow(RefusedError);
  expect(() => readEnvironment({ env: {}, directory })).toThrow(/\.env: EISDIR/);
});
