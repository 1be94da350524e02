/** What an output folder holds: its functions and how large they are. */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface FunctionSize {
  /** As in the output's config: `/api/cron`. */
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
}

export async function functionSizes(output: string): Promise<readonly FunctionSize[]> {
  const functions = join(output, 'functions');
  const found = new Map<string, { bytes: number; files: number }>();
  for (const entry of await readdir(functions, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const [path, inside] = relative(functions, file).split(`.func${sep}`);
    if (path === undefined || inside === undefined) continue;
    const sum = found.get(path) ?? { bytes: 0, files: 0 };
    found.set(path, { bytes: sum.bytes + (await stat(file)).size, files: sum.files + 1 });
  }
  return [...found].map(([path, sum]) => ({ path: `/${path.split(sep).join('/')}`, ...sum })).sort(byPath);
}

const byPath = (a: FunctionSize, b: FunctionSize) => (a.path < b.path ? -1 : 1);

/** One line for each function. */
export async function describeOutput(output: string): Promise<string> {
  const sizes = await functionSizes(output);
  const lines = sizes.map(
    ({ path, bytes, files }) => `  ${(bytes / 1e6).toFixed(1).padStart(5)} MB in ${files} files  ${path}`,
  );
  return [`built ${output}`, ...lines].join('\n');
}
