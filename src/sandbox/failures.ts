/**
 * Every SDK call goes through here: bounded in time, and its failure named.
 *
 * The SDK retries network errors, 429 and 5xx three times by itself, on every
 * method; what arrives here is what stayed. Messages name the operation, the
 * sandbox and the status, never what the server wrote.
 */
import { APIError, StreamError } from '@vercel/sandbox';
import { ContractError, type RefusalScope, RefusedError, TransientError } from '../errors.js';

export interface CallContext {
  /** `create sandbox devin-abc`: opens every message. */
  readonly what: string;
  readonly signal: AbortSignal;
  /** Wall time, milliseconds: the answers that are awaited come from a server, not from our clock. */
  readonly timeoutMs: number;
  /** What to mend when access is refused. */
  readonly accessSetting: string;
}

/**
 * Runs one SDK call.
 *
 * @throws the caller's abort reason when `signal` aborted, `GoneError` for 404, 410 and 422 that say so,
 *   otherwise TransientError, ContractError or RefusedError.
 */
export async function callSdk<T>(
  context: CallContext,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  context.signal.throwIfAborted();
  const timeout = AbortSignal.timeout(context.timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  try {
    return await untilAborted(call(signal), signal);
  } catch (error) {
    context.signal.throwIfAborted();
    if (timeout.aborted) throw new TimedOutError(`${context.what}: no answer in time`);
    throw translate(context, error);
  }
}

/** No whole answer came; whether the server acted is unknown. */
export class NoAnswerError extends TransientError {}

/** It did not come before our own deadline. */
export class TimedOutError extends NoAnswerError {}

/** The object of the call is not there, or not in a state to act on. Transient where nobody expects it. */
export class GoneError extends TransientError {
  readonly reason: 'notFound' | 'stopped' | 'settling' | 'snapshotGone';
  constructor(message: string, reason: GoneError['reason']) {
    super(message);
    this.reason = reason;
  }
}

/** 400 with this code: the vm would live longer than the plan allows. */
export class PlanLimitError extends RefusedError {}

/** 400 or 422: the request is wrong, or (on create) the name is taken. */
export class BadRequestError extends RefusedError {}

/** What a refused allow list is shown as; it comes with its session, so no setting mends it. */
export const POLICY_REFUSED = { setting: "the session's network policy", scope: 'session' } as const;

function translate({ what, accessSetting }: CallContext, error: unknown): unknown {
  if (error instanceof TransientError || error instanceof RefusedError) return error;
  if (error instanceof StreamError) {
    if (error.code.startsWith('sandbox_stop')) return new GoneError(`${what}: the vm stopped`, 'stopped');
    return new NoAnswerError(`${what}: the command's stream broke off`);
  }
  if (!(error instanceof APIError)) return withoutAnswer(what, accessSetting, error);
  const { status } = error.response;
  const code = codeOf(error.json);
  const message = `${what}: ${status}${code && ` ${code}`} from the Sandbox API`;
  if (error.response.ok)
    return new ContractError(`${what}: an answer that its schema rejects${pathIn(error.message)}`);
  switch (status) {
    case 400:
      if (code === 'sandbox_timeout_invalid') {
        return new PlanLimitError(message, { setting: 'SANDBOX_TIMEOUT_MS' });
      }
      return new BadRequestError(message, subjectOf(serverMessage(error.json)));
    case 401:
    case 403:
      return new RefusedError(message, { setting: accessSetting });
    case 402:
      return new RefusedError(message, { setting: 'the billing of the Vercel team' });
    case 404:
      return new GoneError(message, 'notFound');
    case 410:
      return new GoneError(message, code === 'snapshot_not_found' ? 'snapshotGone' : 'stopped');
    case 422:
      if (code === 'sandbox_stopping' || code === 'sandbox_snapshotting')
        return new GoneError(message, 'settling');
      return new BadRequestError(message, subjectOf(serverMessage(error.json)));
    case 408:
    case 409:
    case 425:
      return new TransientError(message);
    case 429:
      return new TransientError(message, { retryAfterMs: retryAfterMs(error.response) });
    default:
      if (status >= 500) return new TransientError(message, { retryAfterMs: retryAfterMs(error.response) });
      return new RefusedError(message, { setting: 'Vercel Sandbox' });
  }
}

/** Errors of the SDK's own: no token to be had, no connection, an answer that is no answer. */
function withoutAnswer(what: string, accessSetting: string, error: unknown): Error {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (name.endsWith('OidcContextError') || /OIDC token|credentials/i.test(message)) {
    return new RefusedError(`${what}: no credentials for Vercel`, { setting: accessSetting });
  }
  if (name === 'ZodError' || name === 'SyntaxError' || name === 'Error') {
    return new ContractError(`${what}: an answer that its schema rejects${pathIn(message)}`);
  }
  return new NoAnswerError(`${what}: no answer from the Sandbox API (${causeOf(error)})`);
}

/** The system's code for a failed connection; never a message, which may hold an address with a query. */
function causeOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z_0-9]+$/.test(code)) return code;
  }
  return error instanceof Error ? error.name : 'unknown';
}

function codeOf(json: unknown): string {
  const code = (json as { error?: { code?: unknown } } | undefined)?.error?.code;
  return typeof code === 'string' && /^[a-z_]{1,60}$/.test(code) ? code : '';
}

function serverMessage(json: unknown): string {
  const message = (json as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === 'string' ? message.slice(0, 1_000) : '';
}

const SETTINGS: readonly (readonly [RegExp, string])[] = [
  [/snapshotExpiration|keepLast/i, 'SANDBOX_SNAPSHOT_EXPIRATION_MS'],
  [/runtime/i, 'SANDBOX_RUNTIME'],
  [/image/i, 'SANDBOX_IMAGE'],
  [/vcpu|memory|resource/i, 'SANDBOX_VCPUS'],
  [/timeout|duration/i, 'SANDBOX_TIMEOUT_MS'],
  [/region/i, 'SANDBOX_REGION'],
];

/** What a complaint is about; the complaint itself is not shown. */
function subjectOf(message: string): { setting: string; scope?: RefusalScope } {
  // Before the settings: a complaint may quote a host, whatever its name.
  if (/polic|domain|subnet|cidr/i.test(message)) return POLICY_REFUSED;
  const named = SETTINGS.find(([pattern]) => pattern.test(message));
  return { setting: named?.[1] ?? 'the sandbox settings (SANDBOX_*)' };
}

/** Where in the answer the schema failed, read from zod's report, which the SDK only gives as text. */
function pathIn(report: string): string {
  const [, list] = /"path":\s*\[([^\]]{0,200})\]/.exec(report) ?? [];
  const path = list?.replace(/[\s"]/g, '').replaceAll(',', '.') ?? '';
  return /^[\w.]+$/.test(path) ? ` at ${path}` : '';
}

function retryAfterMs(response: Response): number | null {
  const header = response.headers.get('retry-after');
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  // A date, compared with the server's own clock.
  const wait = Date.parse(header) - Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

/** Some of the SDK's steps (fetching credentials) take no signal: they are left behind. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
