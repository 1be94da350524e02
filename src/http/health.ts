/**
 * Whether a deployment serves sessions, and what an operator has to mend.
 *
 * Public: names settings and says how to put them right; never a value, a
 * session or an account.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { SessionContext } from '../../machines/session/context.js';
import { SESSION_VERSION } from '../../machines/session.js';
import type { Problem } from '../config/index.js';
import type { Deployment } from '../deployment.js';
import { messageOf, RefusedError, TransientError } from '../errors.js';
import { assemble, NotConnectedError, type Parts } from '../parts.js';
import { LAST_LOOK, LAST_PROBLEM } from '../pass/pass.js';
import { restore } from '../runtime/saved.js';
import { RESTING } from '../view.js';

export interface DeploymentHealth {
  /** `ok`: sessions are served. `attention`: they are, and something is to be mended. `unready`: they are not. */
  readonly status: 'ok' | 'attention' | 'unready';
  /** In words, each with the setting or place to look at. */
  readonly problems: readonly string[];
  /** How it is here and stays: what the plan limits, what is done without a doorbell. */
  readonly notes: readonly string[];
  /** When the queue was last looked at, ISO 8601; null: never, or not known. */
  readonly lastLook: string | null;
  /** Version of the sessions' chart that this deployment writes. */
  readonly chart: number;
}

/** The cron comes each minute; it has missed two when the last look is older than this. */
const LOOK_STALE_MS = 3 * 60_000;
/** How long the database may take to answer. */
const DATABASE_MS = 8_000;
/** A vm that was launched this long ago has rung, if it can. */
const RUNG_BY_MS = 60_000;
/** Sessions whose doorbell is asked about. */
const SAMPLE = 50;
/** What these say is no trouble: it is chosen, or bought. */
const CHOSEN = ['VERCEL_PLAN', 'PUBLIC_URL', 'OPERATOR_SECRET'];

interface Seen {
  readonly lastLookAt: number | null;
  /** What keeps passes from their work; one of `problems` then. */
  readonly passProblem: string | null;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Anybody may ask; an instance reads its database for that this often at most. */
const FRESH_MS = 2_000;

/** Answers of one instance: those who ask at the same moment share one. `now`: milliseconds of the wall. */
export function createHealth(deployment: Deployment): (now: number) => Promise<DeploymentHealth> {
  let latest: { readonly at: number; readonly health: Promise<DeploymentHealth> } | null = null;
  return (now) => {
    if (latest === null || now - latest.at >= FRESH_MS || now < latest.at)
      latest = { at: now, health: deploymentHealth(deployment, now) };
    return latest.health;
  };
}

async function deploymentHealth(deployment: Deployment, now: number): Promise<DeploymentHealth> {
  const { config, onVercel } = deployment;
  const said = [...deployment.notices(), ...config.warnings];
  const notes = unique(said.filter(isChosen).map(sentence));
  const advice = unique(said.filter((one) => !isChosen(one)).map(sentence));
  const answer = (status: DeploymentHealth['status'], seen: Seen): DeploymentHealth => ({
    status,
    problems: unique([...seen.problems, ...advice]),
    notes: [...notes, ...seen.notes],
    lastLook: seen.lastLookAt === null ? null : new Date(seen.lastLookAt).toISOString(),
    chart: SESSION_VERSION,
  });
  const nothing = { lastLookAt: null, passProblem: null, notes: [] };
  if (config.kind === 'problems')
    return answer('unready', { ...nothing, problems: config.problems.map(sentence) });
  try {
    const seen = await inTime(deployment.base().then(async (base) => look(await assemble(base))));
    const stale = seen.lastLookAt === null || now - seen.lastLookAt > LOOK_STALE_MS;
    if (stale) {
      // A pass that says what is wrong was called: then the cron is not missing.
      const why = seen.passProblem === null ? [silence(seen.lastLookAt, onVercel)] : [];
      return answer('unready', { ...seen, problems: [...why, ...seen.problems] });
    }
    return answer(seen.problems.length + advice.length > 0 ? 'attention' : 'ok', seen);
  } catch (error) {
    if (error instanceof NotConnectedError && config.config.connect.integration !== null)
      return answer('ok', { ...nothing, problems: [], notes: [SETS_UP] });
    deployment.log(`health: ${messageOf(error)}`);
    return answer('unready', { ...nothing, problems: [reasonOf(error)] });
  }
}

async function look(parts: Parts): Promise<Seen> {
  const { store, kind } = parts;
  const [lastLook, saidByPass, refused, counts, newer, deaf] = await Promise.all([
    store.setting(LAST_LOOK),
    store.setting(LAST_PROBLEM),
    refusedSettings(parts),
    store.counts(kind.name),
    store.newerThan(kind.name, kind.version),
    isDeaf(parts),
  ]);
  const passProblem = saidByPass || null;
  const problems: string[] = passProblem === null ? [] : [passProblem];
  if (refused.length > 0)
    problems.push(`sessions wait for what is refused to be mended: ${refused.join(', ')}`);
  if (newer.rows > 0)
    problems.push(
      `${newer.rows} sessions were saved by a newer version of this program (chart ${newer.needs}, this one is ${kind.version}) and are left alone: deploy the newer version again`,
    );
  if (counts.quarantined > 0)
    problems.push(
      `${counts.quarantined} sessions are set aside and keep what they hold: the log says why. The page shows them and has Retry (sign in with OPERATOR_SECRET)`,
    );
  const notes = deaf
    ? [
        'no doorbell is heard from the sandboxes, so each is looked at more often: if Deployment Protection is on, let /api/sessions through, or set PUBLIC_URL to an address that is open. Sessions with a restricted network ring only if DOORBELL_FOR_RESTRICTED or their allow list says so',
      ]
    : [];
  return { lastLookAt: lastLook === null ? null : Number(lastLook), passProblem, problems, notes };
}

/** Settings that sessions at work found refused, by name. */
async function refusedSettings({ store, kind }: Parts): Promise<string[]> {
  const rows = await store.foremost(kind.name, RESTING, SAMPLE);
  const named = rows.flatMap(({ problem }) => /\(([A-Z][^()]*)\)$/.exec(problem ?? '')?.[1] ?? []);
  return unique(named).sort();
}

/** Whether there is a doorbell to ring, and none of the vms that had time to has rung it. */
async function isDeaf({ store, kind, clock, config }: Parts): Promise<boolean> {
  if (config.publicUrl === null || config.cronSecret === null) return false;
  const rows = await store.list({ machine: kind.name, state: 'serving', limit: SAMPLE });
  const contexts = rows.flatMap((row) => {
    const restored = row.quarantine === null ? restore(kind, row) : null;
    return restored?.kind === 'restored' ? [restored.snapshot.context as SessionContext] : [];
  });
  const settled = contexts.filter(
    ({ launchedAt }) => launchedAt !== null && clock.now() - launchedAt > RUNG_BY_MS,
  );
  return settled.length > 0 && settled.every(({ bellHeard }) => !bellHeard);
}

function silence(lastLookAt: number | null, onVercel: boolean): string {
  const what =
    lastLookAt === null
      ? 'the queue has not been looked at yet'
      : `the queue was last looked at ${new Date(lastLookAt).toISOString()}`;
  return onVercel
    ? `${what}: Vercel Cron calls production deployments only, for the first time within a minute; see Cron Jobs in the project's settings`
    : `${what}: no server is running, or nothing calls /api/cron`;
}

function reasonOf(error: unknown): string {
  // Anybody may read this: which setting, and no word of what it is set to.
  if (error instanceof NotConnectedError)
    return 'Devin is not connected: sign in with OPERATOR_SECRET and press Connect on the page /connect';
  if (error instanceof RefusedError) return `${error.setting} is refused: the log says why`;
  if (error instanceof TransientError)
    return 'DATABASE_URL: the database cannot be reached. Sessions go on by themselves once it answers';
  return 'something is wrong here: the log says what';
}

const SETS_UP =
  'projects of others are set up from here; no sessions are served, because Devin is not connected';

const isChosen = ({ variable }: Problem) => CHOSEN.includes(variable);
const sentence = ({ variable, problem }: Problem) => `${variable} ${problem}`;
const unique = (texts: readonly string[]) => [...new Set(texts)];

async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = pause(DATABASE_MS, undefined, { signal: late.signal }).then(() => {
    throw new TransientError('the database does not answer in time');
  });
  timeout.catch(() => undefined);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    late.abort();
  }
}
