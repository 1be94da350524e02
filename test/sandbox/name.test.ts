import { expect, test } from 'vitest';
import { sandboxName } from '../../src/sandbox/index.js';

test('a session always gets the same, readable name', () => {
  expect(sandboxName('devin', 'devin-abc123')).toMatch(/^devin-abc123-[0-9a-f]{10}$/);
  expect(sandboxName('devin', 'devin-abc123')).toBe(sandboxName('devin', 'devin-abc123'));
});

test('ids that look alike after cleaning or cutting get different names', () => {
  const ids = [
    'a b',
    'a/b',
    'a-b',
    'devin-a-b',
    `${'x'.repeat(60)}1`,
    `${'x'.repeat(60)}2`,
    '',
    '-',
    '../..',
  ];
  expect(new Set(ids.map((id) => sandboxName('devin', id))).size).toBe(ids.length);
});

test.each(['', 'ü😀\n', "'; rm -rf /", 'x'.repeat(500), '--', '%2F', '\u0000'])(
  'the name of %j is one that the API takes',
  (id) => {
    for (const prefix of ['devin', '', 'p'.repeat(300), 'a b/c'])
      expect(sandboxName(prefix, id)).toMatch(/^[a-zA-Z0-9_-]{1,128}$/);
  },
);
