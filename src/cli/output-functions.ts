/**
 * The functions of a built output, loaded into this process.
 *
 * Each is called as the platform would: with a web request, for no longer than
 * its `maxDuration`. A call that takes longer is answered 504; what it had
 * begun cannot be ended here as it would be there.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { RefusedError } from '../errors.js';

export interface OutputFunction {
  /** As in the output: `/api/cron`. */
  readonly path: string;
  /** The queue topics that trigger it; one with any has no address. */
  readonly topics: readonly string[];
  call(request: Request): Promise<Response>;
}

const configSchema = z.object({
  handler: z.string(),
  maxDuration: z.union([z.number(), z.literal('max')]).optional(),
  experimentalTriggers: z.array(z.object({ topic: z.string() })).default([]),
});

/** Seconds; what "max" means on the largest plan, and what holds without a `maxDuration`. */
const MOST_S = 800;
const DEFAULT_S = 300;

type Handler = (request: Request) => Response | Promise<Response>;

/** Loads every function below `output`. Rejects with what the first that cannot be loaded says. */
export async function loadFunctions(
  output: string,
  log: (line: string) => void,
): Promise<readonly OutputFunction[]> {
  const root = join(output, 'functions');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const dirs = entries
    .filter((entry) => entry.name === '.vc-config.json')
    .map((entry) => entry.parentPath)
    .sort();
  const loaded: OutputFunction[] = [];
  for (const dir of dirs) {
    const path = `/${relative(root, dir)
      .replace(/\.func$/, '')
      .split(sep)
      .join('/')}`;
    loaded.push(await loadFunction(dir, path, log));
  }
  return loaded;
}

async function loadFunction(dir: string, path: string, log: (line: string) => void): Promise<OutputFunction> {
  const config = configSchema.parse(JSON.parse(await readFile(join(dir, '.vc-config.json'), 'utf8')));
  const handle = handlerOf(await import(pathToFileURL(join(dir, config.handler)).href), path);
  const { maxDuration = DEFAULT_S } = config;
  const limitS = maxDuration === 'max' ? MOST_S : maxDuration;
  return {
    path,
    topics: config.experimentalTriggers.map(({ topic }) => topic),
    async call(request) {
      const over = new AbortController();
      const late = new Promise<Response>((resolve) => {
        over.signal.addEventListener('abort', () => {
          log(`${path} took longer than its ${limitS} s`);
          resolve(new Response('The function took too long.\n', { status: 504 }));
        });
      });
      const timer = setTimeout(() => over.abort(), limitS * 1_000);
      const signal = AbortSignal.any([request.signal, over.signal]);
      try {
        return await Promise.race([handle(new Request(request, { signal })), late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** The shapes that our functions export: a Hono app, or `POST`; CommonJS puts either below `default`. */
function handlerOf(module: unknown, path: string): Handler {
  for (const exported of [module, defaultOf(module)]) {
    const app = defaultOf(exported);
    if (isObject(app) && typeof app.fetch === 'function') return app.fetch as Handler;
    if (isObject(exported) && typeof exported.POST === 'function') return exported.POST as Handler;
  }
  throw new RefusedError(`the function ${path} exports nothing to call`, { setting: 'npm run build:vercel' });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const defaultOf = (value: unknown): unknown => (isObject(value) ? value.default : undefined);
