/**
 * Whether a deployment serves sessions, and what an operator has to mend.
 *
 * Public: names settings and says how to put them right; never a value, a
 * session or an account.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SESSION_VERSION } from '../../machines/session.js';
import type { Deployment } from '../deployment.js';
import { messageOf, RefusedError } from '../errors.js';
import type { Base } from '../parts.js';
import { LAST_LOOK } from '../pass/pass.js';

export interface DeploymentHealth {
  /** `ok`: sessions are served. `attention`: they are, and something should be mended. `unready`: they are not. */
  readonly status: 'ok' | 'attention' | 'unready';
  /** In words, each with the setting or place to look at. */
  readonly problems: readonly string[];
  /** When the queue was last looked at, ISO 8601; null: never, or not known. */
  readonly lastLook: string | null;
  /** Version of the sessions' chart that this deployment writes. */
  readonly chart: number;
}

/** The cron comes each minute; it has missed two when the last look is older than this. */
const LOOK_STALE_MS = 3 * 60_000;
const DATABASE_MS = 8_000;

/** `now`: milliseconds of the wall. */
export async function deploymentHealth(deployment: Deployment, now: number): Promise<DeploymentHealth> {
  const { config } = deployment;
  const notices = deployment.notices();
  const blocking = config.kind === 'problems' ? config.problems.map(sentence) : [];
  const advice = [...new Set([...notices, ...config.warnings].map(sentence))].filter(
    (text) => !blocking.includes(text),
  );
  const answer = (status: DeploymentHealth['status'], problems: string[], lastLookAt: number | null) => ({
    status,
    problems,
    lastLook: lastLookAt === null ? null : new Date(lastLookAt).toISOString(),
    chart: SESSION_VERSION,
  });
  if (blocking.length > 0) return answer('unready', [...blocking, ...advice], null);
  try {
    const seen = await inTime(deployment.base().then((base) => readState(base)));
    const stale = seen.lastLookAt === null || now - seen.lastLookAt > LOOK_STALE_MS;
    const problems = [
      ...(stale ? [silence(seen.lastLookAt, deployment.onVercel)] : []),
      ...seen.problems,
      ...advice,
    ];
    return answer(stale ? 'unready' : problems.length > 0 ? 'attention' : 'ok', problems, seen.lastLookAt);
  } catch (error) {
    const setting = error instanceof RefusedError ? error.setting : 'DATABASE_URL';
    return answer('unready', [`${messageOf(error)} (see ${setting})`, ...advice], null);
  }
}

async function readState({ store }: Base): Promise<{ lastLookAt: number | null; problems: string[] }> {
  const [lastLook, counts] = await Promise.all([store.setting(LAST_LOOK), store.counts('session')]);
  const problems: string[] = [];
  if (counts.quarantined > 0) problems.push(`${counts.quarantined} sessions are set aside: see the page`);
  return { lastLookAt: lastLook === null ? null : Number(lastLook), problems };
}

function silence(lastLookAt: number | null, onVercel: boolean): string {
  const what =
    lastLookAt === null
      ? 'the queue has not been looked at yet'
      : `the queue was last looked at ${new Date(lastLookAt).toISOString()}`;
  return onVercel
    ? `${what}: cron runs on production deployments only, first within a minute; see the project's Cron Jobs`
    : `${what}: nothing calls /api/cron`;
}

const sentence = ({ variable, problem }: { variable: string; problem: string }) => `${variable} ${problem}`;

async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController();
  try {
    return await Promise.race([
      work,
      pause(DATABASE_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error('the database does not answer');
      }),
    ]);
  } finally {
    late.abort();
  }
}
