import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../src/errors.js';
import { allowsHost, networkPolicy, policyDigest } from '../../src/sandbox/policy.js';

const GATEWAY = 'https://gateway.devin.ai/connect?x=1';
const STATIC = 'https://static.devin.ai/devin-rs/remote';
const ALWAYS = ['gateway.devin.ai', 'static.devin.ai'];

function map(hosts: string[], subnets: string[] = []) {
  const dropped: string[] = [];
  const policy = networkPolicy({ enabled: true, hosts, subnets }, [GATEWAY, STATIC], (message) =>
    dropped.push(message),
  );
  return { policy, dropped };
}

test('no restriction -> everything is allowed', () => {
  expect(networkPolicy({ enabled: false }, [GATEWAY], () => {})).toBe('allow-all');
});

test('an empty list -> only what the session cannot do without', () => {
  expect(map([]).policy).toEqual({ allow: ALWAYS });
});

test('hosts, globs, addresses and networks -> domains and CIDRs in one spelling', () => {
  const { policy, dropped } = map(
    ['GitHub.com', '*.npmjs.ORG', 'bücher.de', 'pypi.org.', '10.0.0.7', '[::1]'],
    ['10.1.2.3/8', '192.168.0.1', '2001:DB8:0::1', '2001:db8::ffff/32', '::ffff:1.2.3.4'],
  );
  expect(dropped).toEqual([]);
  expect(policy).toEqual({
    allow: ['*.npmjs.org', ...ALWAYS, 'github.com', 'pypi.org', 'xn--bcher-kva.de'].sort(),
    subnets: {
      allow: [
        '10.0.0.0/8',
        '10.0.0.7/32',
        '192.168.0.1/32',
        '2001:db8::/32',
        '2001:db8::1/128',
        '::1/128',
        '::ffff:102:304/128',
      ].sort(),
    },
  });
});

test.each([
  '*',
  '*.',
  '*.*',
  '**.x.com',
  '*x.com',
  'x.*.com',
  'x.com/*',
  'https://x.com',
  'x.com:443',
  'user@x.com',
  'x..com',
  '.x.com',
  '-x.com',
  'x.com ',
  'x\ny.com',
  '0',
  '0x7f.1',
  '1.2.3',
  '010.0.0.1',
  '10.0.0.0/8',
  '',
  '..',
  `${'a'.repeat(64)}.com`,
  `${'a.'.repeat(130)}com`,
  '\u0000',
  '*.１２７.0.0.1',
])('the host %j opens nothing and is reported', (host) => {
  const { policy, dropped } = map([host]);
  expect(policy).toEqual({ allow: ALWAYS });
  expect(dropped).toHaveLength(1);
});

test.each([
  '0.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '010.0.0.1',
  'fe80::1%eth0',
  '::/129',
  '::/ 8',
  ' ::1',
  'example.com',
  '*',
  '',
])('the network %j opens nothing and is reported', (subnet) => {
  const { policy, dropped } = map([], [subnet]);
  expect(policy).toEqual({ allow: ALWAYS });
  expect(dropped).toHaveLength(1);
});

test('an entry of thousands of characters is reported short and on one line', () => {
  const { dropped } = map([`a\n${'b'.repeat(9_000)}`]);
  expect(dropped[0]?.length).toBeLessThan(200);
  expect(dropped[0]).not.toContain('\n');
});

test('a gateway on this machine -> its address, not a domain', () => {
  const policy = networkPolicy(
    { enabled: true, hosts: [], subnets: [] },
    ['http://127.0.0.1:4000/x'],
    () => {},
  );
  expect(policy).toEqual({ allow: [], subnets: { allow: ['127.0.0.1/32'] } });
});

test('a gateway without a usable host -> refused, without repeating it', () => {
  const map = () => networkPolicy({ enabled: true, hosts: [], subnets: [] }, ['nonsense?secret'], () => {});
  expect(map).toThrow(RefusedError);
  expect(map).not.toThrow(/secret/);
});

describe('whether a list covers a host', () => {
  const covers = (url: string, hosts: string[], subnets: string[] = []) =>
    allowsHost({ enabled: true, hosts, subnets }, url);

  test('no restriction -> any', () => {
    expect(allowsHost({ enabled: false }, 'https://a.example.com')).toBe(true);
  });

  test.each([
    ['https://a.example.com/x?y', ['A.Example.com.']],
    ['https://a.example.com:8443', ['other.com', '*.example.com']],
    ['https://b.a.example.com', ['*.example.com']],
    ['https://xn--bcher-kva.de', ['bücher.de']],
    ['http://127.0.0.1:3000', ['127.0.0.1']],
    ['http://[::1]:3000', ['[::1]']],
  ])('%s is covered by %j', (url, hosts) => {
    expect(covers(url, hosts)).toBe(true);
  });

  test.each([
    ['https://a.example.com', []],
    ['https://example.com', ['*.example.com']],
    ['https://a.example.com', ['example.com', 'ample.com', '*.ample.com', '*.b.a.example.com']],
    ['https://a.example.com', ['*', '*.', 'https://a.example.com', 'a.example.com:443', ' a.example.com']],
    ['http://127.0.0.1:3000', ['127.0.0.2', '*.0.0.1']],
    ['nonsense', ['nonsense', '']],
    ['file:///etc/passwd', ['']],
  ])('%s is not covered by %j', (url, hosts) => {
    expect(covers(url, hosts)).toBe(false);
  });

  test('an address -> covered where it is listed by itself, not by a network around it', () => {
    expect(covers('http://10.0.0.7', [], ['10.0.0.7'])).toBe(true);
    expect(covers('http://10.0.0.7', [], ['10.0.0.0/8'])).toBe(false);
  });
});

describe('the digest', () => {
  test('does not depend on order, repetition or spelling', () => {
    expect(policyDigest({ allow: ['B.com', 'a.com', 'a.com'], subnets: { allow: ['10.0.0.1'] } })).toBe(
      policyDigest({ allow: ['a.com', 'b.com'], subnets: { allow: ['10.0.0.1/32'] } }),
    );
  });

  test('is the same for a list and for a map without rules, absent and empty', () => {
    expect(policyDigest({ allow: ['a.com'] })).toBe(policyDigest({ allow: { 'a.com': [] }, subnets: {} }));
  });

  test('tells different policies apart', () => {
    const policies = [
      'allow-all',
      'deny-all',
      {},
      { allow: ['a.com'] },
      { allow: ['*.a.com'] },
      { subnets: { allow: ['10.0.0.0/8'] } },
      { subnets: { deny: ['10.0.0.0/8'] } },
      { allow: { 'a.com': [{ forwardURL: 'https://evil.example' }] } },
    ] as const;
    const digests = policies.map((policy) => policyDigest(policy as Parameters<typeof policyDigest>[0]));
    expect(new Set(digests).size).toBe(policies.length);
  });
});
