/**
 * Moves connections for the pages and the callbacks: puts secrets into the
 * vault, tells the actor the news, and drives it in the caller's request.
 *
 * Decides nothing: see machines/connection.ts. What a request does not finish,
 * the next look or the cron does.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Project } from '../../machines/connection/context.js';
import type { ConnectionEvent } from '../../machines/connection/events.js';
import { TransientError } from '../errors.js';
import {
  CREDENTIALS,
  type Credentials,
  credentialsSchema,
  type Partner,
  secretsOf,
} from '../ports/connect.js';
import type { Connector } from '../ports/connector.js';
import { type ActorRow, CONNECTION_IDS } from '../ports/store.js';
import type { Vault } from '../ports/vault.js';
import { begin as beginActor, toSaved } from '../runtime/saved.js';
import { type DrivingDeps, driveOne, OWN } from './driving.js';
import { attemptView, isAtWork, ownView, RETRYABLE, type Seen, seenIn, WAITING } from './views.js';

export interface ConnectorDeps extends DrivingDeps {
  readonly vault: Vault;
  readonly partner: Pick<Partner, 'connectUrl'>;
  /** What the environment brings where nothing is connected in the browser. */
  readonly environment: { readonly outpostId: string; readonly apiHost: string } | null;
  /** The machine whose actors hold slots. */
  readonly sessions: string;
}

/** How long a person may take to confirm; Devin's codes live as long. */
const AUTHORIZE_MS = 10 * 60_000;
/** What was granted waits for another try for this long after the attempt's start. */
const RETRY_MS = 60 * 60_000;
/** The attempt's secrets outlive its deadline a little: an exchange may be under way. */
const MARGIN_MS = 5 * 60_000;
/** A project's record that nobody begins, and where its browser goes, are kept for as long as its browser is known. */
const KEEP_MS = RETRY_MS;
/** Another driver is waited for like this, by the wall: it may be about to take the news along. */
const BUSY = { tries: 20, pauseMs: 100 };

const OWN_ATTEMPT = 'own-';
const actorOf = (attemptId: string) =>
  attemptId.startsWith(OWN_ATTEMPT) ? OWN : `${CONNECTION_IDS}${attemptId}`;

export function createConnector(deps: ConnectorDeps): Connector {
  const { store, vault, kind, clock, partner } = deps;
  return {
    async begin() {
      await enroll(OWN, null);
      // Out of quarantine, when it is there: beginning anew is the operator's wish to try it once more.
      await store.readmit(OWN);
      const before = (await moveOn(OWN)) ?? (await enrollAnew());
      if (before === null || isAtWork(before.row.state)) return { kind: 'busy' };
      const attemptId = `${OWN_ATTEMPT}${randomBytes(16).toString('hex')}`;
      const challenge = await keepVerifier(attemptId);
      await tell(OWN, request(attemptId));
      const seen = await read(OWN);
      const isOurs = seen?.context.attemptId === attemptId;
      const superseded = isOurs ? before.context.attemptId : attemptId;
      if (superseded !== null) await vault.dropAll(secretsOf(superseded).all);
      if (!isOurs) return { kind: 'busy' };
      return { kind: 'begun', attemptId, redirectTo: partner.connectUrl(challenge) };
    },

    async beginProject({ code, next, ...project }) {
      const attemptId = `project-${randomBytes(16).toString('hex')}`;
      const names = secretsOf(attemptId);
      await keepVerifier(attemptId);
      await vault.put(names.installation, code, clock.now() + AUTHORIZE_MS + MARGIN_MS);
      // For as long as a browser that goes on at the last moment is known.
      await vault.put(names.next, next, clock.now() + 2 * KEEP_MS);
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
      if ((await readAttempt(attemptId))?.row.state === WAITING)
        await tell(actorOf(attemptId), { type: 'authorization.denied', attemptId, problem });
    },

    async retry(attemptId) {
      if ((await readAttempt(attemptId))?.row.state === RETRYABLE)
        await tell(actorOf(attemptId), { type: 'retry.requested', attemptId });
    },

    async look(attemptId) {
      const seen = await moveOn(actorOf(attemptId));
      const waits = seen?.row.state === WAITING && seen.context.attemptId === attemptId;
      const hasCode = waits && (await vault.open(secretsOf(attemptId).code)) !== null;
      return attemptView(attemptId, seen, hasCode);
    },

    async nextOf(attemptId) {
      const seen = await readAttempt(attemptId);
      return seen?.row.state.startsWith('connected.') ? vault.open(secretsOf(attemptId).next) : null;
    },

    async own() {
      await moveOn(OWN);
      const [row, { slots }, kept] = await Promise.all([
        store.read(OWN),
        store.counts(deps.sessions),
        credentials(),
      ]);
      return ownView(kind, row, slots, kept, deps.environment);
    },

    async disconnect() {
      if ((await read(OWN)) !== null) await tell(OWN, { type: 'disconnect.requested' });
      const after = await read(OWN);
      if (after !== null && isAtWork(after.row.state)) return;
      // Whatever the record says, or whether it reads at all: the token is what connects.
      await vault.drop(CREDENTIALS);
      deps.onChange();
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
    const endsAt = project === null ? null : clock.now() + KEEP_MS;
    const first = toSaved(kind, beginActor(kind, { project, endsAt }));
    await store.enroll(id, first, null, clock.now());
  }

  /** A record that does not read holds nothing that sessions are served with: another may take its place. */
  async function enrollAnew(): Promise<Seen | null> {
    const row = await store.read(OWN);
    if (row !== null) await store.remove(OWN, row.rev);
    await enroll(OWN, null);
    return read(OWN);
  }

  async function credentials(): Promise<Credentials | 'unreadable' | null> {
    try {
      const kept = await vault.open(CREDENTIALS);
      return kept === null ? null : credentialsSchema.parse(JSON.parse(kept));
    } catch (error) {
      if (error instanceof TransientError) throw error;
      return 'unreadable';
    }
  }

  async function tell(id: string, event: ConnectionEvent): Promise<void> {
    await store.post(id, JSON.stringify(event), { once: true });
    for (let tries = 1; tries <= BUSY.tries; tries++) {
      const { kind } = await driveOne(deps, id);
      if (kind !== 'busy' && kind !== 'stale') return;
      await pause(BUSY.pauseMs);
    }
  }

  /** Whatever is due of it, in this request: nobody who looks has to wait for the cron, and what is over is over. */
  async function moveOn(id: string): Promise<Seen | null> {
    const row = await store.read(id);
    if (row === null || !isDue(row)) return seenIn(kind, row);
    await driveOne(deps, id);
    return read(id);
  }

  function isDue({ quarantine, wakeAt }: ActorRow): boolean {
    return quarantine === null && wakeAt !== null && wakeAt <= clock.now();
  }

  async function read(id: string): Promise<Seen | null> {
    return seenIn(kind, await store.read(id));
  }

  /** Null: there is no such attempt, or another has taken its place. */
  async function readAttempt(attemptId: string): Promise<Seen | null> {
    const seen = await moveOn(actorOf(attemptId));
    return seen?.context.attemptId === attemptId ? seen : null;
  }
}

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
