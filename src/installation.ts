/**
 * Which installation a database belongs to.
 *
 * The first process to open a database names it, for good. A database
 * remembers which queue and which Vercel project it serves and refuses any
 * other: a fresh local database must never judge another one's sandboxes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { RefusedError } from './errors.js';
import type { Store } from './ports/store.js';

export interface Binding {
  readonly apiHost: string;
  readonly outpostId: string;
  readonly vercelProject: string;
}

export interface Installation {
  /** Eight hex digits; part of every acceptor id and of every sandbox's tags. */
  readonly id: string;
  /** Whether an acceptor id is one of this installation's, under whatever ACCEPTOR_ID it was made. */
  owns(acceptorId: string): boolean;
  /** The prefix of one session's acceptor ids; the episode completes it. */
  acceptorPrefixOf(sessionId: string): string;
}

export async function settleInstallation(
  store: Store,
  acceptorId: string,
  binding: Binding,
): Promise<Installation> {
  const id = await store.settleSetting('installation', randomBytes(4).toString('hex'));
  const { key, value: wanted } = bindingSetting(binding);
  const bound = await store.settleSetting(key, wanted);
  if (bound !== wanted) {
    const [apiHost, outpostId, vercelProject] = JSON.parse(bound) as string[];
    throw new RefusedError(
      `this database serves outpost ${outpostId} at ${apiHost} in the Vercel project ${vercelProject}, ` +
        `not outpost ${binding.outpostId} at ${binding.apiHost} in ${binding.vercelProject}; give each its own`,
      { setting: 'DATABASE_URL' },
    );
  }
  const made = new RegExp(`^[\\w-]{1,40}-${id}-[0-9a-f]{10}-\\d+$`);
  return {
    id,
    owns: (acceptor) => made.test(acceptor),
    acceptorPrefixOf: (sessionId) => `${acceptorId}-${id}-${digest(sessionId)}`,
  };
}

/** The setting that says what the database serves. */
export const bindingSetting = ({ apiHost, outpostId, vercelProject }: Binding) => ({
  key: 'bound-to',
  value: JSON.stringify([apiHost, outpostId, vercelProject]),
});

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);
