import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { expect, it } from 'vitest';
import { envExample, settingsTable } from '../../src/config/documents.js';
import { parseConfig } from '../../src/config/index.js';
import { VARIABLES } from '../../src/config/variables.js';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

it('.env.example is what the table of variables prints', () => {
  expect(read('.env.example')).toBe(envExample());
});

it('the README contains the settings table', () => {
  expect(read('README.md')).toContain(settingsTable());
});

it('.env.example, used as it is -> changes nothing', () => {
  expect(parseConfig(parse(envExample()), { mode: 'embedded' })).toEqual(
    parseConfig({}, { mode: 'embedded' }),
  );
});

it('.env.example with every default uncommented -> valid, and complete', () => {
  const env = parse(envExample().replaceAll(/^# (?=[A-Z_]+=)/gm, ''));
  expect(Object.keys(env).sort()).toEqual(VARIABLES.map(({ name }) => name).sort());
  expect(parseConfig(env, { mode: 'embedded' }).kind).toBe('ok');
});
