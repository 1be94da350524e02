/**
 * Instants as the fleet API writes them: Unix seconds (whole or fractional),
 * milliseconds, either as a numeric string, or ISO-8601.
 *
 * The one place that knows these spellings. Answers milliseconds of the
 * remote's clock; converting to ours is the remote clock's business.
 */

/** Milliseconds since the epoch, or null for anything that is no instant (absent, zero, negative, nonsense). */
export function instantOf(value: unknown): number | null {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return NUMERIC.test(text) ? fromNumber(Number(text)) : fromIso(text);
}

/** Numbers below are seconds (until the year 5138), above milliseconds (from 1973). */
const FIRST_MILLISECONDS = 1e11;
/** The year 5138 in milliseconds: beyond it stand other units, not instants. */
const PAST_ANY_INSTANT = 1e14;

const NUMERIC = /^\d+(\.\d+)?$/;
const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

function fromNumber(value: number): number | null {
  if (!(value > 0 && value < PAST_ANY_INSTANT)) return null;
  return Math.round(value < FIRST_MILLISECONDS ? value * 1_000 : value);
}

/** Without a zone it is UTC, as servers mean it; `Date.parse` would take it for this machine's. */
function fromIso(text: string): number | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const [, date, time = '00:00', zone = 'Z'] = match;
  const parsed = Date.parse(`${date}T${time}${zoneWithColon(zone)}`);
  return Number.isNaN(parsed) ? null : parsed;
}

function zoneWithColon(zone: string): string {
  const match = /^([+-]\d{2}):?(\d{2})?$/.exec(zone);
  return match ? `${match[1]}:${match[2] ?? '00'}` : 'Z';
}
