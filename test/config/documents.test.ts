import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { expect, it } from 'vitest';
import { envExample, settingsTable } from '../../src/config/documents.js';
import { FIELDS } from '../../src/config/fields.js';
import { parseConfig } from '../../src/config/index.js';
import { VARIABLES } from '../../src/config/variables.js';
import { COMPLETE, configOf } from './support.js';

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

const uncommented = () => parse(envExample().replaceAll(/^# (?=[A-Z_]+=)/gm, ''));

it('.env.example with every default uncommented -> valid, and complete', () => {
  const env = uncommented();
  expect(Object.keys(env).sort()).toEqual(VARIABLES.map(({ name }) => name).sort());
  expect(parseConfig(env, { mode: 'embedded' }).kind).toBe('ok');
});

it('.env.example with every default uncommented -> what local mode does without it', () => {
  const accounts = COMPLETE.local;
  expect(configOf('local', { ...uncommented(), ...accounts })).toEqual(configOf('local', accounts));
});

it.each([
  ['.env.example', envExample(), (name: string) => new RegExp(`^(# )?${name}=`, 'gm')],
  ['the table', settingsTable(), (name: string) => new RegExp(`^\\| \`${name}\` \\|`, 'gm')],
])('%s -> has every variable exactly once, and no other', (_, text, entryOf) => {
  for (const { name } of VARIABLES) expect(text.match(entryOf(name)), name).toHaveLength(1);
  expect(text.match(entryOf('[A-Z_]+'))).toHaveLength(VARIABLES.length);
});

it('every variable -> has a check of what it looks like, and its group stands together', () => {
  expect(Object.keys(FIELDS).sort()).toEqual(VARIABLES.map(({ name }) => name).sort());
  const groups = VARIABLES.map(({ group }) => group);
  const changes = groups.filter((group, index) => group !== groups[index - 1]);
  expect(changes).toEqual(['Devin', 'Vercel', 'Connection and sign-in', 'Sandboxes', 'Orchestrator']);
});

it.each(VARIABLES.map((variable) => [variable.name, variable] as const))(
  '%s -> explained in a few plain words',
  (_, { meaning }) => {
    expect(meaning.length).toBeLessThanOrEqual(180);
    expect(meaning).toMatch(/\.$/);
  },
);

it('a default that differs by mode or plan -> printed with where it holds', () => {
  expect(settingsTable()).toContain('| `120000` (embedded, local), `60000` (server, vercel) |');
  expect(settingsTable()).toContain('| `2700000` (hobby), `86400000` (pro, enterprise) |');
  expect(settingsTable()).toContain('At most `4` (hobby), `8` (pro), `32` (enterprise).');
});
