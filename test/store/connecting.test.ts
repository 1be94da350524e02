/** What keeps a store from its PostgreSQL server, told by a server that says what the test wants. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { RefusedError, TransientError } from '../../src/errors.js';
import { openStore } from '../../src/store/open.js';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

/** The URL of a server that does this to whoever connects. */
async function serve(greet: (socket: Socket, said: Buffer) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (said) => greet(socket, said));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `postgres://u:hunter2@127.0.0.1:${(server.address() as AddressInfo).port}/d`;
}

/** A server that ends every connection with this error. */
const fatal = (code: string, message: string) =>
  serve((socket) => {
    const body = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
    const head = Buffer.from([0x45, 0, 0, 0, 0]);
    head.writeInt32BE(body.length + 4, 1);
    socket.end(Buffer.concat([head, body]));
  });
const failureOf = (url: string) => openStore(url).catch((error: unknown) => error);

test.each([
  ['57P03', 'the database system is starting up'],
  ['53300', 'sorry, too many clients already'],
  ['XX000', 'Control plane request failed'],
  ['XX000', 'The endpoint has been disabled. Enable it using the API and retry.'],
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['55000', 'database "d" is not currently accepting connections'],
])('it answers %s (%s) -> transient, to be tried again in some seconds', async (code, message) => {
  const failure = await failureOf(await fatal(code, message));
  expect(failure).toBeInstanceOf(TransientError);
  expect(failure).toMatchObject({
    message: `open the database: ${message} (${code})`,
    retryAfterMs: expect.any(Number),
  });
  expect((failure as TransientError).retryAfterMs).toBeGreaterThanOrEqual(1_000);
});

test('it hangs up -> transient, to be tried again in some seconds', async () => {
  const failure = await failureOf(await serve((socket) => socket.destroy()));
  expect(failure).toBeInstanceOf(TransientError);
  expect((failure as TransientError).retryAfterMs).toBeGreaterThanOrEqual(1_000);
});

test('nobody listens -> transient, to be tried again in some seconds', async () => {
  const url = await serve(() => {});
  const [server] = servers.splice(0);
  server?.close();
  const failure = await failureOf(url);
  expect(failure).toBeInstanceOf(TransientError);
  expect(failure).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
  expect((failure as TransientError).retryAfterMs).toBeGreaterThanOrEqual(1_000);
});

test.each([
  ['28P01', 'password authentication failed for user "u"'],
  ['28000', 'no pg_hba.conf entry for host'],
  ['3D000', 'database "d" does not exist'],
])('it answers %s (%s) -> refused, naming DATABASE_URL', async (code, message) => {
  const failure = await failureOf(await fatal(code, message));
  expect(failure).toBeInstanceOf(RefusedError);
  expect(failure).toMatchObject({ setting: 'DATABASE_URL' });
  expect(String(failure)).not.toContain('hunter2');
});

test('sslmode=require, but it has no TLS -> refused without a warning on the console', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  const url = await serve((socket) => socket.end('N'));
  const failure = await failureOf(`${url}?sslmode=require&channel_binding=require`);
  expect(failure).toBeInstanceOf(RefusedError);
  expect(failure).toMatchObject({ setting: 'DATABASE_URL', message: expect.stringContaining('SSL') });
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test('a file that it names is not there -> refused, naming DATABASE_URL', async () => {
  const failure = await failureOf(`${await serve(() => {})}?sslrootcert=/no/such/file.pem`);
  expect(failure).toBeInstanceOf(RefusedError);
  expect(failure).toMatchObject({ setting: 'DATABASE_URL' });
});
