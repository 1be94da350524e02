/**
 * Which error each refusal of the fleet API is.
 *
 * Sorts by what the program does next (src/errors.ts). Knows nothing of calls
 * for which a status is a normal answer; those are taken out before.
 */
import { type RefusalScope, RefusedError, TransientError } from '../errors.js';
import type { RemoteClock } from '../remote-clock.js';

/**
 * `label` names operation and session; `scope` says whose data the request carried. Every status outside 200–299
 * has its error.
 */
export function failureOf(
  label: string,
  response: Response,
  remoteClock: RemoteClock,
  scope: RefusalScope = 'installation',
): Error {
  const { status } = response;
  const refused = (setting: string, advice: string) =>
    new RefusedError(`${label}: ${status} from the fleet API: ${advice}`, { setting });
  if (status < 400) {
    return refused('DEVIN_API_URL', 'redirects are not followed, DEVIN_API_URL must name the API itself');
  }
  switch (status) {
    case 401:
      return refused(
        'DEVIN_OUTPOSTS_TOKEN',
        'DEVIN_OUTPOSTS_TOKEN was rejected (or, where Devin was connected in the browser, that token: connect again)',
      );
    case 403:
      return refused(
        'DEVIN_OUTPOSTS_TOKEN',
        'DEVIN_API_URL is the wrong host, or DEVIN_OUTPOSTS_TOKEN lacks the scope account.outposts.machine',
      );
    case 402:
      return refused('DEVIN_OUTPOSTS_TOKEN', 'the account of DEVIN_OUTPOSTS_TOKEN has to be paid for');
    case 404:
      return refused(
        'DEVIN_API_URL',
        'DEVIN_API_URL has no such service, or DEVIN_OUTPOST_ID is unknown there',
      );
    case 422:
      return new RefusedError(
        `${label}: 422 from the fleet API: the request was rejected, check DEVIN_OUTPOST_ID and ACCEPTOR_ID`,
        { setting: 'DEVIN_OUTPOST_ID', scope },
      );
    default:
      return new TransientError(`${label}: ${status} from the fleet API`, {
        retryAfterMs: retryAfterMs(response.headers, remoteClock),
      });
  }
}

/** Nothing that a remote says keeps us away for longer than this. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Seconds or an HTTP date; a date counts from the same answer's Date, because it is in the remote's time. */
function retryAfterMs(headers: Headers, remoteClock: RemoteClock): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  const ms = /^\d+(\.\d+)?$/.test(value)
    ? Number(value) * 1_000
    : httpDate(value) - (httpDate(headers.get('date') ?? '') || remoteClock.now());
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, Math.round(ms)), LONGEST_RETRY_AFTER_MS);
}

/** All three forms of RFC 9110; NaN otherwise. The one without a zone is in GMT too. */
function httpDate(text: string): number {
  if (!/ \d{2}:\d{2}:\d{2}/.test(text)) return Number.NaN;
  return Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
}
