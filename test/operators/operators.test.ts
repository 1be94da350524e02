import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { createAttemptCookies } from '../../src/operators/attempts.js';
import { createOperators, SIGNED_IN_FOR_S } from '../../src/operators/operators.js';
import { createKeyRing } from '../../src/vault/keys.js';

const ROOT = 'r'.repeat(32);
const OTHER = 'o'.repeat(32);
const SECRETS = { operator: 'operator-secret-1', viewer: 'viewer-secret-123' };

function at(seconds: number, changes: { root?: string; previous?: string; secrets?: object } = {}) {
  const keys = createKeyRing(changes.root ?? ROOT, changes.previous ?? null);
  const now = () => seconds * 1_000;
  const secrets = { ...SECRETS, ...changes.secrets };
  return {
    operators: createOperators({ keys, secrets, now }),
    attempts: createAttemptCookies(keys, now),
    keys,
  };
}
const T = 1_800_000_000;

test.each([
  ['operator-secret-1', 'operator'],
  ['viewer-secret-123', 'viewer'],
  ['operator-secret-2', null],
  ['', null],
  ['operator-secret-1 ', null],
  ['OPERATOR-SECRET-1', null],
])('%j -> %s', (secret, role) => {
  expect(at(T).operators.roleOf(secret)).toBe(role);
});

test('a role without a secret -> nobody has it, least of all who sends nothing', () => {
  const { operators } = at(T, { secrets: { operator: null, viewer: null } });
  expect([operators.open, operators.roleOf(''), operators.roleOf('operator-secret-1')]).toEqual([
    false,
    null,
    null,
  ]);
});

test('signed in -> recognized with the role, for twelve hours and no longer', async () => {
  const cookie = await at(T).operators.admit('viewer');
  expect(await at(T).operators.recognize(cookie)).toMatchObject({ role: 'viewer', signedInAt: T });
  expect(await at(T + SIGNED_IN_FOR_S - 1).operators.recognize(cookie)).not.toBeNull();
  expect(await at(T + SIGNED_IN_FOR_S).operators.recognize(cookie)).toBeNull();
});

test('an hour later -> a fresh cookie of the same sign-in, which ends when the first would have', async () => {
  const person = await at(T).operators.recognize(await at(T).operators.admit('operator'));
  if (person === null) throw new Error('nobody');
  expect(await at(T + 3_599).operators.renew(person)).toBeNull();
  const later = at(T + 3_600).operators;
  const fresh = (await later.renew(person)) ?? '';
  const renewed = await later.recognize(fresh);
  expect(renewed).toMatchObject({ role: 'operator', id: person.id, signedInAt: T, issuedAt: T + 3_600 });
  expect(await at(T + SIGNED_IN_FOR_S).operators.recognize(fresh)).toBeNull();
  if (renewed !== null) expect(later.formToken(renewed)).toBe(at(T).operators.formToken(person));
});

test.each([
  ['the role’s secret was changed', { secrets: { viewer: 'another-secret-12' } }],
  ['the role has no secret any more', { secrets: { viewer: null } }],
  ['the root was changed without the previous one', { root: OTHER }],
])('%s -> signed out', async (_, changes) => {
  const cookie = await at(T).operators.admit('viewer');
  expect(await at(T, changes).operators.recognize(cookie)).toBeNull();
});

test('the root was changed, with the previous one -> still signed in, and forms still count', async () => {
  const before = at(T).operators;
  const person = await before.recognize(await before.admit('operator'));
  if (person === null) throw new Error('nobody');
  const after = at(T, { root: OTHER, previous: ROOT }).operators;
  expect(await after.recognize(await before.admit('operator'))).toMatchObject({ role: 'operator' });
  expect(after.isFormToken(person, before.formToken(person))).toBe(true);
  expect(at(T, { root: OTHER }).operators.isFormToken(person, before.formToken(person))).toBe(false);
});

test("another role's secret was changed -> the others stay", async () => {
  const cookie = await at(T).operators.admit('operator');
  expect(
    await at(T, { secrets: { viewer: 'another-secret-12' } }).operators.recognize(cookie),
  ).not.toBeNull();
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const forged: readonly (readonly [string, (cookie: string) => string | Promise<string>])[] = [
  ['nothing', () => ''],
  ['no token', () => 'hunter2'],
  ['two parts', (cookie) => cookie.split('.').slice(0, 2).join('.')],
  [
    'a changed role',
    (cookie) => {
      const [head = '', body = '', mac = ''] = cookie.split('.');
      const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
      return [head, encode({ ...claims, role: 'operator' }), mac].join('.');
    },
  ],
  [
    'no signature, and an algorithm that wants none',
    (cookie) => {
      const [head = '', body = ''] = cookie.split('.');
      const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
      return [encode({ alg: 'none', kid }), body, ''].join('.');
    },
  ],
  ['a signature cut short', (cookie) => cookie.slice(0, -2)],
  [
    'an unknown key',
    (cookie) => {
      const [, body = '', mac = ''] = cookie.split('.');
      return [encode({ alg: 'HS256', kid: 'x' }), body, mac].join('.');
    },
  ],
  [
    'a viewer’s key with an operator’s claims',
    () => {
      const key = at(T).keys.keysFor('session', `viewer ${SECRETS.viewer}`).current;
      return new SignJWT({ role: 'operator', sid: 'x', since: T })
        .setProtectedHeader({ alg: 'HS256', kid: key.kid })
        .setAudience('outposts session')
        .setIssuedAt(T)
        .setExpirationTime(T + 100)
        .sign(key.bytes);
    },
  ],
  [
    'claims that are missing',
    () => {
      const key = at(T).keys.keysFor('session', `viewer ${SECRETS.viewer}`).current;
      return new SignJWT({ role: 'viewer' })
        .setProtectedHeader({ alg: 'HS256', kid: key.kid })
        .setAudience('outposts session')
        .sign(key.bytes);
    },
  ],
  ['an attempt’s cookie', () => at(T).attempts.issue('own-1')],
  ['a cookie of 100 kB', (cookie) => cookie + 'x'.repeat(100_000)],
];
test.each(forged)('a cookie that is %s -> nobody', async (_, forge) => {
  const cookie = await at(T).operators.admit('viewer');
  expect(await at(T).operators.recognize(await forge(cookie))).toBeNull();
});

test('the cookie of an attempt -> names it for an hour; a session’s cookie names none', async () => {
  const cookie = await at(T).attempts.issue('own-1');
  expect(await at(T + 3_599).attempts.read(cookie)).toBe('own-1');
  expect(await at(T + 3_600).attempts.read(cookie)).toBeNull();
  expect(await at(T).attempts.read(await at(T).operators.admit('operator'))).toBeNull();
  expect(await at(T, { root: OTHER }).attempts.read(cookie)).toBeNull();
  expect(await at(T, { root: OTHER, previous: ROOT }).attempts.read(cookie)).toBe('own-1');
});

test('form tokens -> of one sign-in, or of one attempt, and of no other', async () => {
  const { operators, attempts } = at(T);
  const [one, two] = [
    await operators.recognize(await operators.admit('operator')),
    await operators.recognize(await operators.admit('operator')),
  ];
  if (one === null || two === null) throw new Error('nobody');
  expect(operators.isFormToken(one, operators.formToken(one))).toBe(true);
  expect(operators.isFormToken(two, operators.formToken(one))).toBe(false);
  expect(attempts.isFormToken('a', attempts.formToken('a'))).toBe(true);
  expect(attempts.isFormToken('b', attempts.formToken('a'))).toBe(false);
  expect(operators.isFormToken(one, attempts.formToken(one.id))).toBe(false);
});
