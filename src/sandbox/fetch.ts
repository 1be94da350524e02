/**
 * A `fetch` for the Sandbox SDK that reaches an API on this machine.
 *
 * The SDK's base URL is fixed; what it accepts is a `fetch`. Only loopback
 * addresses are taken, because every request carries the access token, and
 * nothing but the SDK's own API may be asked for.
 */
const SDK_BASE = 'https://vercel.com/api/';

/** @throws Error when `baseUrl` is not an http address of this machine, or when a request is not the SDK's. */
export function rewriteFetch(baseUrl: string): typeof fetch {
  const base = new URL(baseUrl);
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(base.hostname);
  if (base.protocol !== 'http:' || !loopback || base.username !== '' || base.password !== '') {
    throw new Error('the Sandbox API can only be redirected to an http address of this machine');
  }
  const root = base.href.replace(/\/*$/, '/');
  const plain = fetch;
  return (input, init) => {
    const target = targetOf(input);
    if (!target.startsWith(SDK_BASE)) {
      return Promise.reject(new Error('a request that is not for the Sandbox API'));
    }
    const redirected = root + target.slice(SDK_BASE.length);
    return typeof input === 'string' || input instanceof URL
      ? plain(redirected, init)
      : plain(new Request(redirected, input), init);
  };
}

/**
 * Redirects the SDK in this whole process, for programs whose parts cannot be handed a `fetch`. Everything else
 * goes where it did. To be done before the SDK is loaded: it keeps the `fetch` that it finds then.
 */
export function redirectProcess(baseUrl: string): void {
  const plain = fetch;
  const redirected = rewriteFetch(baseUrl);
  globalThis.fetch = (input, init) =>
    (targetOf(input).startsWith(SDK_BASE) ? redirected : plain)(input, init);
}

const targetOf = (input: Parameters<typeof fetch>[0]): string =>
  typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
