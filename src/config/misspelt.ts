/**
 * Finds variables that look like ours with a slip of the pen, because a
 * setting that silently does nothing is worse than one that is refused.
 */
import type { Problem } from './parse.js';
import type { Environment } from './values.js';
import { VARIABLES } from './variables.js';

const NAMES: readonly string[] = VARIABLES.map(({ name }) => name);
/** Shorter names (PORT) resemble too much that is not ours. */
const SHORTEST = 8;

/** A warning for each set variable that is not ours but nearly has the name of one. */
export function misspelt(env: Environment): Problem[] {
  return Object.keys(env).flatMap((variable) => {
    if (NAMES.includes(variable) || !env[variable]?.trim()) return [];
    const nearest = nearestName(variable.toUpperCase());
    return nearest ? [{ variable, problem: `is not a setting: did you mean ${nearest}?` }] : [];
  });
}

function nearestName(name: string): string | null {
  const candidates = NAMES.filter((known) => Math.min(known.length, name.length) >= SHORTEST)
    .map((known) => ({ known, distance: isCutOff(name, known) ? 1 : editDistance(name, known) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance);
  return candidates[0]?.known ?? null;
}

/**
 * SANDBOX_TIMEOUT for SANDBOX_TIMEOUT_MS, or SANDBOX_VCPUS_COUNT for SANDBOX_VCPUS. Vercel and the
 * databases of its Marketplace have longer names of their own, such as DATABASE_URL_UNPOOLED.
 */
function isCutOff(a: string, b: string): boolean {
  return !/^(VERCEL|DATABASE_URL)_/.test(a) && (a.startsWith(`${b}_`) || b.startsWith(`${a}_`));
}

/** Insertions, deletions and replacements between two short texts. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
