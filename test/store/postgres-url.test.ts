import { expect, test } from 'vitest';
import { driverUrl } from '../../src/store/postgres-url.js';

const BASE = 'postgres://u%40x:p%3Fa@ep-cool-1-pooler.eu.example:5432/db';

test.each([
  ['', ''],
  ['?sslmode=require', '?sslmode=verify-full'],
  ['?sslmode=require&channel_binding=require', '?sslmode=verify-full&channel_binding=require'],
  ['?pgbouncer=true&sslmode=prefer', '?pgbouncer=true&sslmode=verify-full'],
  ['?sslmode=verify-full&sslrootcert=system', '?sslmode=verify-full'],
  ['?sslmode=verify-ca&sslrootcert=%2Fca.pem', '?sslmode=verify-full&sslrootcert=%2Fca.pem'],
  ['?sslmode=disable', '?sslmode=disable'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
  ['?uselibpqcompat=true&sslmode=require', '?uselibpqcompat=true&sslmode=require'],
])('parameters %j -> %j, the rest letter by letter', (given, expected) => {
  expect(driverUrl(BASE + given)).toBe(BASE + expected);
});
