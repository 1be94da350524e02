import { describe, expect, test } from 'vitest';
import { DEFAULT_STATIC_BASE_URL, isSha, latestUrl, remoteFiles } from '../../src/devin/distribution.js';
import { BugError, RefusedError } from '../../src/errors.js';

const SHA = '0123456789abcdef0123456789abcdef01234567';

describe('the distribution of the remote', () => {
  test('the published host -> three addresses below it', () => {
    expect(latestUrl(DEFAULT_STATIC_BASE_URL)).toBe(
      'https://static.devin.ai/devin-rs/remote/latest_linux_x64',
    );
    expect(remoteFiles(DEFAULT_STATIC_BASE_URL, SHA)).toEqual({
      binaryUrl: `https://static.devin.ai/devin-rs/remote/devin-remote_${SHA}_linux_x64`,
      digestUrl: `https://static.devin.ai/devin-rs/remote/devin-remote_${SHA}_linux_x64.sha256`,
    });
  });

  test('a host on this machine with a trailing slash -> plain http is allowed, no double slash', () => {
    expect(latestUrl('http://127.0.0.1:8080/static/')).toBe('http://127.0.0.1:8080/static/latest_linux_x64');
  });

  test.each(['abcdef0', SHA, SHA.toUpperCase(), 'a'.repeat(64)])('%s can name a remote', (text) => {
    expect(isSha(text)).toBe(true);
  });

  test.each(['', 'abcdef', 'a'.repeat(65), `${SHA}\n`, 'latest', '../abcdef0', '$(id)abcdef0', 'g234567'])(
    '%j cannot name a remote -> refused as an address too',
    (text) => {
      expect(isSha(text)).toBe(false);
      expect(() => remoteFiles(DEFAULT_STATIC_BASE_URL, text)).toThrow(BugError);
    },
  );

  test.each([
    'http://static.devin.ai/remote',
    'ftp://static.devin.ai',
    'https://user:hunter2@static.devin.ai',
    'https://static.devin.ai/?a=1',
    'https://static.devin.ai/#a',
    "https://static.devin.ai/a'b",
    'https://static.devin.ai/$(id)',
    'http://127.0.0.1.evil.example/x',
    'static.devin.ai',
    '',
  ])('the base address %j -> refused, naming the setting and not the value', (base) => {
    const attempt = () => latestUrl(base);
    expect(attempt).toThrow(RefusedError);
    expect(attempt).toThrow(/^DEVIN_WORKER_STATIC_BASE_URL: /);
    expect(attempt).not.toThrow(/hunter2/);
  });
});
