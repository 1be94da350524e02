/**
 * Moves connections for the pages and the callbacks: puts secrets into the
 * vault, tells the actor the news, and drives it in the caller's request.
 *
 * Decides nothing: see machines/connection.ts. What a request does not finish,
 * the next look or the cron does.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ConnectionContext, Project } from '../../machines/connection/context.js';
import type { ConnectionEvent } from '../../machines/connection/events.js';
import type { Clock } from '../ports/clock.js';
import { type Partner, secretsOf } from '../ports/connect.js';
import type { AttemptView, ConnectionView, Connector } from '../ports/connector.js';
import { type ActorRow, CONNECTION_IDS, type Store } from '../ports/store.js';
import type { Vault } from '../ports/vault.js';
import type { ActorKind } from '../runtime/actor.js';
import { drive } from '../runtime/drive.js';
import { begin as beginActor, restore, toSaved } from '../runtime/saved.js';

export interface ConnectorDeps {
  readonly store: Store;
  readonly vault: Vault;
  readonly kind: ActorKind;
  readonly clock: Clock;
  readonly partner: Pick<Partner, 'connectUrl'>;
  /** What the environment brings where nothing is connected in the browser. */
  readonly environment: { readonly outpostId: string; readonly apiHost: string } | null;
  /** The machine whose actors hold slots. */
  readonly sessions: string;
  /** The account may have changed. */
  onChange(): void;
  log(line: string): void;
}

/** How long a person may take to confirm; Devin's codes live as long. */
const AUTHORIZE_MS = 10 * 60_000;
/** What was granted waits for another try for this long after the attempt's start. */
const RETRY_MS = 60 * 60_000;
/** The attempt's secrets outlive its deadline a little: an exchange may be under way. */
const MARGIN_MS = 5 * 60_000;
const NEXT_MS = 24 * 60 * 60_000;
/** No effect is begun later in a request, by the wall; the last one may take twenty seconds. */
const BUDGET_MS = 5_000;

const OWN = `${CONNECTION_IDS}own`;
const OWN_ATTEMPT = 'own-';
const actorOf = (attemptId: string) =>
  attemptId.startsWith(OWN_ATTEMPT) ? OWN : `${CONNECTION_IDS}${attemptId}`;

export function createConnector(deps: ConnectorDeps): Connector {
  const { store, vault, kind, clock, partner } = deps;
  return {
    async begin() {
      const attemptId = `${OWN_ATTEMPT}${randomBytes(16).toString('hex')}`;
      const challenge = await keepVerifier(attemptId);
      await enroll(OWN, null);
      await tell(OWN, request(attemptId));
      const seen = await read(OWN);
      if (seen?.context.attemptId !== attemptId) {
        await vault.dropAll(secretsOf(attemptId).all);
        return { kind: 'busy' };
      }
      return { kind: 'begun', attemptId, redirectTo: partner.connectUrl(challenge) };
    },

    async beginProject({ code, next, ...project }) {
      const attemptId = `project-${randomBytes(16).toString('hex')}`;
      const names = secretsOf(attemptId);
      await keepVerifier(attemptId);
      await vault.put(names.installation, code, clock.now() + AUTHORIZE_MS + MARGIN_MS);
      await vault.put(names.next, next, clock.now() + NEXT_MS);
      await enroll(actorOf(attemptId), { ...project, name: null, written: [] });
      await tell(actorOf(attemptId), request(attemptId));
      return { attemptId };
    },

    async continueProject(attemptId) {
      const seen = await readAttempt(attemptId);
      if (seen?.row.state !== WAITING || seen.context.project === null) return null;
      const verifier = await vault.open(secretsOf(attemptId).verifier);
      return verifier === null ? null : partner.connectUrl(challengeOf(verifier));
    },

    async returned(attemptId, code) {
      const seen = await readAttempt(attemptId);
      if (seen?.row.state !== WAITING) return;
      // The first code counts: whoever comes later, or again, changes nothing.
      await vault.putOnce(secretsOf(attemptId).code, code, clock.now() + AUTHORIZE_MS);
      await tell(actorOf(attemptId), { type: 'code.returned', attemptId });
    },

    async denied(attemptId, error) {
      const problem =
        error === 'access_denied'
          ? 'the connection was declined at Devin: it takes an administrator who may change enterprise settings and manage service users'
          : 'Devin ended the connection with an error: start again';
      if ((await readAttempt(attemptId)) !== null)
        await tell(actorOf(attemptId), { type: 'authorization.denied', attemptId, problem });
    },

    async retry(attemptId) {
      if ((await readAttempt(attemptId)) !== null)
        await tell(actorOf(attemptId), { type: 'retry.requested', attemptId });
    },

    async look(attemptId) {
      await moveOn(actorOf(attemptId));
      return attemptView(attemptId, await read(actorOf(attemptId)));
    },

    async nextOf(attemptId) {
      const seen = await readAttempt(attemptId);
      return seen?.row.state.startsWith('connected.') ? vault.open(secretsOf(attemptId).next) : null;
    },

    async own() {
      await moveOn(OWN);
      const [seen, { slots }] = await Promise.all([read(OWN), store.counts(deps.sessions)]);
      return ownView(seen, slots, deps.environment);
    },

    async disconnect() {
      if ((await read(OWN)) !== null) await tell(OWN, { type: 'disconnect.requested' });
    },
  };

  /** Answers the challenge; the verifier itself is nobody's business any more. */
  async function keepVerifier(attemptId: string): Promise<string> {
    const verifier = randomBytes(32).toString('base64url');
    await vault.put(secretsOf(attemptId).verifier, verifier, clock.now() + AUTHORIZE_MS + MARGIN_MS);
    return challengeOf(verifier);
  }

  function request(attemptId: string): ConnectionEvent {
    const now = clock.now();
    return {
      type: 'authorization.requested',
      attemptId,
      authorizeBy: now + AUTHORIZE_MS,
      retryBy: now + RETRY_MS,
    };
  }

  async function enroll(id: string, project: Project | null): Promise<void> {
    await store.enroll(id, toSaved(kind, beginActor(kind, { project })), null, clock.now());
  }

  async function tell(id: string, event: ConnectionEvent): Promise<void> {
    await store.post(id, JSON.stringify(event));
    await driveOne(deps, id);
  }

  /** Whatever is due of it, in this request: nobody who looks has to wait for the cron. */
  async function moveOn(id: string): Promise<void> {
    const row = await store.read(id);
    if (row !== null && row.quarantine === null && row.wakeAt !== null && row.wakeAt <= clock.now())
      await driveOne(deps, id);
  }

  async function read(id: string): Promise<Seen | null> {
    const row = await store.read(id);
    const restored = row === null || row.quarantine !== null ? null : restore(kind, row);
    if (row === null || restored?.kind !== 'restored') return null;
    return { row, context: restored.snapshot.context as ConnectionContext };
  }

  /** Null: there is no such attempt, or another has taken its place. */
  async function readAttempt(attemptId: string): Promise<Seen | null> {
    const seen = await read(actorOf(attemptId));
    return seen?.context.attemptId === attemptId ? seen : null;
  }
}

interface Seen {
  readonly row: ActorRow;
  readonly context: ConnectionContext;
}

const WAITING = 'authorizing.waiting';

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

type DriveConnectionsDeps = Pick<ConnectorDeps, 'store' | 'kind' | 'clock' | 'log' | 'onChange'>;

async function driveOne({ store, kind, clock, log, onChange }: DriveConnectionsDeps, id: string) {
  // A name of its own: the lease lets the same owner in twice.
  const owner = `connect-${randomUUID()}`;
  await drive({ store, kind, clock, log, owner, random: Math.random, onTransition: onChange }, id, {
    budgetMs: BUDGET_MS,
  });
}

/** Rows of one call; the next one takes the others. */
const MOST = 50;

/** For the cron: drives what is due, and forgets what is over. */
export async function driveConnections(
  deps: DriveConnectionsDeps & { readonly vault: Vault },
): Promise<void> {
  const { store, vault, kind, clock } = deps;
  for (const id of await store.due(kind.name, clock.now(), MOST)) await driveOne(deps, id);
  for (const { id, rev } of await store.list({ machine: kind.name, state: 'ended', limit: MOST }))
    await store.remove(id, rev);
  await vault.dropExpired();
}

function attemptView(attemptId: string, seen: Seen | null): AttemptView {
  const nothing = { problem: null, retryable: false, expiresAt: null, project: null, outpost: null };
  if (seen === null || seen.row.state === 'ended')
    return { attemptId, kind: 'gone', state: 'gone', ...nothing };
  const { row, context } = seen;
  const { project, granted, current, problem } = context;
  if (context.attemptId !== attemptId) return { attemptId, kind: 'superseded', state: row.state, ...nothing };
  const outpost = granted ?? current;
  const kind = kindOf(row.state);
  return {
    attemptId,
    kind,
    state: row.state,
    problem,
    retryable: row.state === 'failed.open' && granted !== null,
    expiresAt: kind === 'waiting' ? context.authorizeBy : null,
    project: project && {
      projectId: project.projectId,
      teamId: project.teamId,
      name: project.name,
      written: project.written,
    },
    outpost: kind === 'connected' && outpost ? { id: outpost.outpostId, name: outpost.outpostName } : null,
  };
}

function kindOf(state: string): AttemptView['kind'] {
  if (state === 'authorizing.installing') return 'preparing';
  if (state === WAITING) return 'waiting';
  const [top = ''] = state.split('.');
  return ENDS.find((end) => end === top) ?? 'working';
}

const ENDS = ['connected', 'expired', 'refused', 'failed'] as const;

function ownView(
  seen: Seen | null,
  sessions: number,
  environment: ConnectorDeps['environment'],
): ConnectionView {
  const current = seen?.context.current ?? null;
  const state = seen?.row.state ?? 'idle';
  return {
    state,
    source: current !== null ? 'browser' : environment !== null ? 'environment' : 'none',
    outpostId: current?.outpostId ?? environment?.outpostId ?? null,
    apiHost: current?.apiHost ?? environment?.apiHost ?? null,
    since: current?.since ?? null,
    problem: seen?.context.problem ?? null,
    working: ['exchanging', 'configuring', 'disconnecting'].includes(state.split('.')[0] ?? ''),
    sessions,
  };
}
