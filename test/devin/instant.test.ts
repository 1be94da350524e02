import { describe, expect, test, vi } from 'vitest';
import { instantOf } from '../../src/devin/instant.js';

const AT = Date.UTC(2026, 7, 4, 12, 30, 15);

// A machine that is not in UTC: nothing without a zone may be taken for local time.
vi.stubEnv('TZ', 'Asia/Tokyo');

describe('instants of the fleet API', () => {
  test.each([
    ['whole seconds', AT / 1_000, AT],
    ['fractional seconds', AT / 1_000 + 0.25, AT + 250],
    ['milliseconds', AT, AT],
    ['seconds in a string', String(AT / 1_000), AT],
    ['fractional seconds in a string', `${AT / 1_000}.250`, AT + 250],
    ['milliseconds in a string', String(AT), AT],
    ['a string with blanks around', ` ${AT / 1_000}\n`, AT],
    ['ISO-8601 in UTC', '2026-08-04T12:30:15Z', AT],
    ['ISO-8601 with microseconds', '2026-08-04T12:30:15.250999Z', AT + 250],
    ['ISO-8601 with an offset', '2026-08-04T14:30:15+02:00', AT],
    ['ISO-8601 with an offset without colon', '2026-08-04T08:00:15-0430', AT],
    ['ISO-8601 with an offset of hours', '2026-08-04T14:30:15+02', AT],
    ['ISO-8601 without a zone, which is UTC', '2026-08-04T12:30:15', AT],
    ['ISO-8601 with a blank instead of T', '2026-08-04 12:30:15+00:00', AT],
    ['ISO-8601 in lower case', '2026-08-04t12:30:15z', AT],
    ['an ISO-8601 date', '2026-08-04', Date.UTC(2026, 7, 4)],
  ])('%s -> milliseconds', (_name, value, expected) => {
    expect(instantOf(value)).toBe(expected);
  });

  test('just below and at the border of seconds and milliseconds -> the two units', () => {
    expect(instantOf(1e11 - 1)).toBe((1e11 - 1) * 1_000);
    expect(instantOf(1e11)).toBe(1e11);
    expect(instantOf(1e14 - 1)).toBe(1e14 - 1);
  });

  test.each([
    null,
    undefined,
    '',
    ' ',
    0,
    -1,
    '-5',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e14,
    AT * 1_000,
    '1e9',
    '0x10',
    'soon',
    'foo 5',
    '2026-13-04T00:00:00Z',
    '2026-08-04T12:30:15+2',
    '2026-08-04T',
    '12:30:15',
    true,
    {},
    [],
    [AT],
    10n,
  ])('%s is no instant -> null', (value) => {
    expect(instantOf(value)).toBeNull();
  });
});
