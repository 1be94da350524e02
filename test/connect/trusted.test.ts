import { expect, test } from 'vitest';
import { trustedApiUrl } from '../../src/connect/trusted.js';

const LISTED = ['127.0.0.1:8080', 'devin.acme.example'];

test.each([
  ['https://api.devin.ai', 'https://api.devin.ai'],
  ['https://api.devin.ai/', 'https://api.devin.ai'],
  ['https://devin.ai/api/', 'https://devin.ai/api'],
  ['https://API.DEVIN.AI', 'https://api.devin.ai'],
  ['https://acme.devinenterprise.com', 'https://acme.devinenterprise.com'],
  ['https://devin.acme.example', 'https://devin.acme.example'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
])('%s -> %s', (text, expected) => {
  expect(trustedApiUrl(text, LISTED)).toBe(expected);
});

test.each([
  'http://api.devin.ai',
  'https://api.devin.ai:8443',
  'https://api.devin.ai.evil.example',
  'https://evildevin.ai',
  'https://devin.ai@evil.example',
  'https://user:pw@api.devin.ai',
  'https://api.devin.ai?x=1',
  'https://api.devin.ai#x',
  'https://api.devin.ai/%0d%0aHost:x',
  'https://api.devin.ai./',
  'https://xn--devn-mza.ai',
  'http://127.0.0.1:8081',
  'http://devin.acme.example',
  'https://127.0.0.1',
  'ftp://api.devin.ai',
  'api.devin.ai',
  '',
  `https://api.devin.ai/${'x'.repeat(600)}`,
])('%s -> no token goes there', (text) => {
  expect(trustedApiUrl(text, LISTED)).toBeNull();
});
