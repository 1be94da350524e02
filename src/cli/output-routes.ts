/**
 * Where a request to a built output goes, by the output's own config.
 *
 * Knows the few kinds of routes that our config has and refuses any other,
 * rather than serve something that the platform would not. What a queue
 * triggers has no address, as on the platform.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { RefusedError } from '../errors.js';

export type Target =
  | { readonly kind: 'file'; readonly path: string; readonly type: string }
  /** `path` as in the output: `/api/cron`. */
  | { readonly kind: 'function'; readonly path: string }
  | { readonly kind: 'none' };

export interface Routes {
  /** `pathname`: as a URL gives it, still encoded. */
  find(pathname: string): Target;
}

export interface Cron {
  readonly path: string;
  readonly schedule: string;
}

const routeSchema = z.union([
  z.strictObject({ handle: z.string() }),
  z.strictObject({
    src: z.string(),
    dest: z.string().optional(),
    status: z.number().int().optional(),
    check: z.boolean().optional(),
  }),
]);
const configSchema = z.object({
  version: z.literal(3),
  routes: z.array(routeSchema),
  crons: z.array(z.object({ path: z.string(), schedule: z.string() })).default([]),
});
type Route = Exclude<z.infer<typeof routeSchema>, { handle: string }>;

const TYPES: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.json': 'application/json',
  '.html': 'text/html; charset=utf-8',
  '.png': 'image/png',
};

/** `functions`: the paths that may be called. Rejects with RefusedError when the config has what is not known here. */
export async function readRoutes(
  output: string,
  functions: ReadonlySet<string>,
): Promise<{ routes: Routes; crons: readonly Cron[] }> {
  const parsed = configSchema.safeParse(JSON.parse(await readFile(join(output, 'config.json'), 'utf8')));
  if (!parsed.success)
    throw new RefusedError(`the output's config is not one of ours: ${z.prettifyError(parsed.error)}`, {
      setting: 'vercel.json',
    });
  const { before, after } = phases(parsed.data.routes);
  const files = await staticFiles(join(output, 'static'));

  const exists = (path: string): Target | null => {
    const file = files.get(path);
    if (file !== undefined)
      return { kind: 'file', path: file, type: TYPES[extname(file)] ?? 'application/octet-stream' };
    for (const name of [path, `${path === '/' ? '' : path}/index`])
      if (functions.has(name)) return { kind: 'function', path: name };
    return null;
  };
  const follow = (routes: readonly Route[], pathname: string): Target | null => {
    for (const { src, dest, status } of routes) {
      const match = new RegExp(src).exec(pathname);
      if (match === null) continue;
      if (status !== undefined) return { kind: 'none' };
      const to = dest?.replace(/\$(\d)/g, (_, group) => match[Number(group)] ?? '');
      const target = to === undefined ? null : exists(to);
      if (target !== null) return target;
    }
    return null;
  };
  return {
    crons: parsed.data.crons,
    routes: {
      find: (pathname) =>
        follow(before, pathname) ?? exists(pathname) ?? follow(after, pathname) ?? { kind: 'none' },
    },
  };
}

/** Routes before and after the look at the file system; the later phases only make up error pages. */
function phases(routes: readonly z.infer<typeof routeSchema>[]): { before: Route[]; after: Route[] } {
  const found: { before: Route[]; after: Route[] } = { before: [], after: [] };
  let phase: 'before' | 'after' | null = 'before';
  for (const route of routes) {
    if ('handle' in route) phase = route.handle === 'filesystem' ? 'after' : null;
    else if (phase !== null) found[phase].push(route);
  }
  return found;
}

/** By the path under which each is served. */
async function staticFiles(dir: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    paths.map((path) => [`/${relative(dir, path).split(sep).map(encodeURIComponent).join('/')}`, path]),
  );
}
