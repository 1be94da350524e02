/**
 * Answers to actions, on their way through a redirect to the page that shows
 * them. Kept here and not in the address, so that no link can put words into
 * the page.
 */
import { randomUUID } from 'node:crypto';
import type { ActionAnswer } from './view.js';

const MOST = 20;

export function createNotes() {
  const kept = new Map<string, ActionAnswer>();
  return {
    /** Answers the key under which `take` gives it, once. */
    keep(answer: ActionAnswer): string {
      const key = randomUUID();
      kept.set(key, answer);
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
      return key;
    },
    take(key: string): ActionAnswer | null {
      const answer = kept.get(key) ?? null;
      kept.delete(key);
      return answer;
    },
  };
}
