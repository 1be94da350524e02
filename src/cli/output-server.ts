/** A built output as a web server: its files, its functions by their addresses, its crons. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../errors.js';
import type { OutputFunction } from './output-functions.js';
import { type Cron, type Routes, readRoutes } from './output-routes.js';

export interface OutputServerOptions {
  readonly output: string;
  readonly functions: readonly OutputFunction[];
  /** Where this is reached. */
  readonly url: string;
  readonly cronSecret: string;
  log(line: string): void;
}

const MINUTE_MS = 60_000;

export async function createOutputServer(options: OutputServerOptions): Promise<OutputServer> {
  // What a queue triggers is called by the queue alone.
  const addressed = options.functions.filter(({ topics }) => topics.length === 0);
  const byPath = new Map(addressed.map((each) => [each.path, each]));
  const { routes, crons } = await readRoutes(options.output, new Set(byPath.keys()));
  return new OutputServer(options, routes, crons, byPath);
}

export class OutputServer {
  readonly #options: OutputServerOptions;
  readonly #routes: Routes;
  readonly #crons: readonly Cron[];
  readonly #functions: ReadonlyMap<string, OutputFunction>;
  readonly #running = new Set<Promise<Response>>();
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(
    options: OutputServerOptions,
    routes: Routes,
    crons: readonly Cron[],
    functions: ReadonlyMap<string, OutputFunction>,
  ) {
    this.#options = options;
    this.#routes = routes;
    this.#crons = crons;
    this.#functions = functions;
  }

  /** Those that queues trigger. Stopping waits for their calls; later ones are left to the next process. */
  get queueFunctions(): readonly OutputFunction[] {
    const call = (each: OutputFunction, request: Request) =>
      this.#stopped ? new Promise<Response>(() => undefined) : this.#run(each, request);
    return this.#options.functions
      .filter(({ topics }) => topics.length > 0)
      .map((each) => ({ ...each, call: (request) => call(each, request) }));
  }

  async answer(request: Request): Promise<Response> {
    if (this.#stopped) return new Response('Stopping.\n', { status: 503 });
    const target = this.#routes.find(new URL(request.url).pathname);
    switch (target.kind) {
      case 'none':
        return new Response('There is nothing here.\n', { status: 404 });
      case 'file':
        if (request.method !== 'GET' && request.method !== 'HEAD')
          return new Response(null, { status: 405, headers: { Allow: 'GET, HEAD' } });
        return new Response(await readFile(target.path), { headers: { 'Content-Type': target.type } });
      case 'function': {
        const found = this.#functions.get(target.path);
        if (found === undefined) return new Response('There is nothing here.\n', { status: 404 });
        return this.#run(found, request);
      }
    }
  }

  /** Calls every cron now and each minute, whether or not the last call has ended, as the platform does. */
  callCrons(speed: number): void {
    const call = () => {
      for (const { path } of this.#crons) this.#callCron(path);
    };
    this.#timer = setInterval(call, MINUTE_MS / speed);
    call();
  }

  /** Takes nothing more, and resolves when what is running has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.allSettled(this.#running);
  }

  #run(each: OutputFunction, request: Request): Promise<Response> {
    const running = each.call(request).catch((error) => {
      this.#options.log(`${each.path} failed: ${messageOf(error)}`);
      return new Response('The function failed.\n', { status: 500 });
    });
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #callCron(path: string): Promise<void> {
    const { url, cronSecret, log } = this.#options;
    const headers = { authorization: `Bearer ${cronSecret}`, 'user-agent': 'vercel-cron/1.0' };
    const response = await this.answer(new Request(`${url}${path}`, { headers }));
    if (!response.ok) log(`the cron ${path} was answered ${response.status}`);
    await response.body?.cancel();
  }
}
