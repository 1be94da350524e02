/**
 * The client of Devin's fleet API.
 *
 * Turns the wire into the port's words and instants into ours. Makes one try
 * per call: backoff, and what a lost answer means, are the caller's business.
 * Remembers only the watch's cursor and when rows last changed; every fact of the
 * queue is read anew.
 */
import { ContractError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { ClaimAnswer, Fleet } from '../ports/fleet.js';
import type { RemoteClock } from '../remote-clock.js';
import { grantSchema, parseJson, readAnswer } from './answer.js';
import { createClaimInstants } from './claim-instants.js';
import { type Row, readRow } from './entry.js';
import { printable, sessionPath } from './paths.js';
import { createTransport, type FleetAnswer, type FleetRequest } from './transport.js';
import { narrowedPolicy, walkQueue } from './walk.js';
import { createWatch } from './watch.js';

export interface FleetOptions {
  /** Base address of the API; https, or http on this machine. */
  readonly apiUrl: string;
  /** Asked before every request, so that a renewed token is used at once. */
  readonly token: () => string | Promise<string>;
  readonly outpostId: string;
  readonly clock: Clock;
  readonly remoteClock: RemoteClock;
  readonly fetch?: typeof fetch;
  readonly userAgent?: string;
  /** Bound of one request and its answer, milliseconds of wall time (15 s). */
  readonly timeoutMs?: number;
  /** Rows per page, 1–200 (200). */
  readonly pageSize?: number;
  /** Pages per walk (100). */
  readonly maxPages?: number;
  /** Told what was skipped or mended, in one line without secrets. The same line may come with every pass. */
  readonly onOddity?: (text: string) => void;
}

/** Throws `RefusedError` when the base address is unusable. */
export function createFleet(options: FleetOptions): Fleet {
  const { outpostId, clock, remoteClock, onOddity = () => {} } = options;
  const transport = createTransport({
    apiUrl: options.apiUrl,
    token: options.token,
    clock,
    remoteClock,
    fetch: options.fetch ?? fetch,
    userAgent: options.userAgent ?? 'devin-outposts-vercel',
    timeoutMs: options.timeoutMs ?? 15_000,
  });
  const { pageSize = 200, maxPages = 100 } = options;
  const instants = createClaimInstants(remoteClock);
  const walkOptions = { transport, outpostId, pageSize, maxPages, onOddity, onRow: instants.saw };

  /** The answer's row, of the session that was asked for. */
  const rowOf = (answer: FleetAnswer, label: string, sessionId: string, consequence = ''): Row => {
    const reading = readRow(parseJson(answer.text, label, consequence));
    const fail = (path: string) => new ContractError(`${label}: unreadable answer at ${path}${consequence}`);
    if (reading.kind === 'unreadable') throw fail(reading.path);
    const { row } = reading;
    if (row.entry.sessionId !== sessionId) throw fail('metadata.session_id (another session)');
    if (row.unreadableAllowItems > 0) {
      onOddity(narrowedPolicy(label, row.unreadableAllowItems));
    }
    return row;
  };

  return {
    list: (signal) => walkQueue(walkOptions, signal),
    watch: createWatch({ transport, outpostId, clock, remoteClock, onOddity }),

    async read(sessionId, signal) {
      const request = sessionRequest('read', sessionId);
      const answer = await transport.call(request, [404], signal);
      if (answer.status === 404) return null;
      const row = rowOf(answer, request.label, sessionId);
      instants.saw(row);
      const { entry } = row;
      return entry.outpostId === outpostId ? entry : null;
    },

    async claim(sessionId, acceptorId, signal): Promise<ClaimAnswer> {
      const request = sessionRequest('claim', sessionId, { acceptor_id: acceptorId });
      const updateBefore = instants.lastUpdate(sessionId);
      const answer = await transport.call(request, [404, 409], signal);
      if (answer.status === 404) return { kind: 'gone' };
      if (answer.status === 409) return { kind: 'taken' };
      const { label } = request;
      const row = rowOf(answer, label, sessionId, MAY_BE_HELD);
      const { entry } = row;
      if (entry.outpostId !== outpostId || (entry.acceptorId ?? acceptorId) !== acceptorId) {
        throw new ContractError(`${label}: the answer is of another outpost or acceptor${MAY_BE_HELD}`);
      }
      const { status } = readAnswer(grantSchema, answer.text, label, MAY_BE_HELD);
      const grant = { gatewayUrl: status.gateway_url, connectToken: status.connect_token };
      const { sentAt, receivedAt } = answer;
      const onUnreadable = (text: string) => onOddity(`${label}: ${text}`);
      const claimDeadlineAt = instants.take({ row, updateBefore, sentAt, receivedAt, onUnreadable });
      return { kind: 'claimed', entry, claimDeadlineAt, grant };
    },

    async release(sessionId, acceptorId, signal) {
      const request = sessionRequest('release', sessionId, { acceptor_id: acceptorId });
      // 404 (no such row) and 409 (not ours): nothing is left to give back.
      await transport.call(request, [404, 409], signal);
    },
  };
}

const MAY_BE_HELD = '; the claim may be held';

function sessionRequest(
  operation: 'read' | 'claim' | 'release',
  sessionId: string,
  body?: unknown,
): FleetRequest {
  const label = `${operation} ${printable(sessionId)}`;
  const segment = sessionPath(sessionId);
  if (segment === null) throw new ContractError(`${label}: no URL can carry this session id`);
  const path = `/opbeta/outposts/devins/${segment}`;
  const scope = 'session';
  if (operation === 'read') return { label, method: 'GET', path, scope };
  return { label, method: 'POST', path: `${path}/${operation}`, body, scope };
}
