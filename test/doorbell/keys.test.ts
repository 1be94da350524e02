import { describe, expect, it } from 'vitest';
import { createDoorbell } from '../../src/doorbell.js';

const baseUrl = 'https://outposts.example.com';
const doorbell = createDoorbell({ secret: 'of this deployment', baseUrl });

describe('the key of a doorbell', () => {
  it('the same session and episode -> the same key, in every process', () => {
    const other = createDoorbell({ secret: 'of this deployment', baseUrl: 'https://elsewhere.example.com' });
    expect(other.keyOf('devin-1', 1)).toBe(doorbell.keyOf('devin-1', 1));
    expect(doorbell.keyOf('devin-1', 1)).toMatch(/^1\.[\w-]{43}$/);
  });

  it('another session, episode or secret -> another key, also where the parts run together', () => {
    const keys = [
      doorbell.keyOf('devin-1', 1),
      doorbell.keyOf('devin-1', 11),
      doorbell.keyOf('devin-11', 1),
      doorbell.keyOf('devin-1,1', 1),
      doorbell.keyOf('devin-1"', 1),
      createDoorbell({ secret: 'of another', baseUrl }).keyOf('devin-1', 1),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('only the key itself is taken for it', () => {
    const key = doorbell.keyOf('devin-1', 1);
    expect(doorbell.episodeOf('devin-1', key)).toBe(1);
    expect(doorbell.episodeOf('devin-1', doorbell.keyOf('devin-1', 2))).toBe(2);
    const others = [
      '',
      key.slice(1),
      `${key}=`,
      ` ${key}`,
      key.toLowerCase(),
      'ü'.repeat(key.length),
      'x'.repeat(100_000),
      key.replace('1.', '2.'),
      key.replace('1.', '01.'),
      key.replace('1.', '9999999999.'),
      key.slice(2),
      doorbell.keyOf('devin-2', 1),
    ];
    expect(others.filter((other) => doorbell.episodeOf('devin-1', other) !== null)).toEqual([]);
  });

  it('no secret -> refused: anybody could make the keys', () => {
    expect(() => createDoorbell({ secret: '', baseUrl })).toThrow('secret');
  });
});

describe('the address of a doorbell', () => {
  it('is below the deployment’s, however that was written', () => {
    const expected = `${baseUrl}/api/sessions/devin-1/doorbell`;
    expect(doorbell.urlOf('devin-1')).toBe(expected);
    expect(createDoorbell({ secret: 's', baseUrl: `${baseUrl}/` }).urlOf('devin-1')).toBe(expected);
  });

  it('an id with characters of its own -> one segment of the path', () => {
    const { pathname, search, hash } = new URL(doorbell.urlOf('a/b?c#d e%ü'));
    expect([search, hash]).toEqual(['', '']);
    expect(decodeURIComponent(pathname.split('/')[3] ?? '')).toBe('a/b?c#d e%ü');
  });

  it('a vm is given both', () => {
    expect(doorbell.doorbellOf('devin-1', 3)).toEqual({
      url: doorbell.urlOf('devin-1'),
      key: doorbell.keyOf('devin-1', 3),
    });
  });
});
