/**
 * A PostgreSQL URL as providers hand it out, made fit for pg.
 *
 * pg passes over what it does not know (`pgbouncer`, `channel_binding`,
 * `connect_timeout`). What it would warn of or fail on is put into its words;
 * everything before the question mark stays letter by letter.
 */

/** Modes for which pg verifies the server's certificate, as for `verify-full`, but warns that this will change. */
const VERIFIED = ['prefer', 'require', 'verify-ca'];

export function driverUrl(url: string): string {
  const start = url.indexOf('?');
  if (start < 0) return url;
  const parameters = new URLSearchParams(url.slice(start + 1));
  if (parameters.get('uselibpqcompat') !== 'true' && VERIFIED.includes(parameters.get('sslmode') ?? ''))
    parameters.set('sslmode', 'verify-full');
  // libpq's word for the authorities that the system trusts, which pg takes for the name of a file.
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
  return `${url.slice(0, start)}?${parameters}`;
}
