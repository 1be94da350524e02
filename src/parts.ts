/**
 * The parts that every driver of sessions shares, wired.
 *
 * A *base* is what a process opens once and keeps: the store, and what was
 * learnt of the clouds' clocks. *Parts* are made from it afresh whenever that
 * is safer than keeping them: a function's credentials last for minutes, what
 * a claim left in memory belongs to one drive, and an operator may connect
 * another account. Drives nothing itself.
 */
import type { Config } from './config/index.js';
import { createAccountReader } from './connect/account.js';
import { createFleet } from './devin/fleet.js';
import { Looker } from './dispatch/look.js';
import { Sweeper } from './dispatch/sweep.js';
import { INSTALLATION_TAG, sessionTags } from './dispatch/tags.js';
import { createDoorbell } from './doorbell.js';
import { createSessionEffects, type SessionEffectDeps } from './effects/session-effects.js';
import { createSessionKind } from './effects/session-kind.js';
import { RefusedError } from './errors.js';
import { type Installation, settleInstallation } from './installation.js';
import type { AccountReader, DevinAccount } from './ports/account.js';
import type { Clock } from './ports/clock.js';
import type { Fleet } from './ports/fleet.js';
import type { SandboxHost } from './ports/sandbox.js';
import type { Store } from './ports/store.js';
import type { Vault } from './ports/vault.js';
import { createRemoteClock, type RemoteClock } from './remote-clock.js';
import { configuredRules } from './rules.js';
import type { ActorKind } from './runtime/actor.js';
import { createSandboxHost, type SandboxHostOptions } from './sandbox/index.js';
import { sandboxName } from './sandbox/name.js';
import { openStore, type StoreOptions } from './store/open.js';
import { createKeyRing, type KeyRing } from './vault/keys.js';
import { createVault } from './vault/vault.js';

export interface BaseOptions {
  readonly config: Config & { readonly accounts: NonNullable<Config['accounts']> };
  readonly clock: Clock;
  /** The `fetch` that the Sandbox SDK is given; the emulated world stands behind it. */
  readonly sandboxFetch?: typeof fetch;
  readonly storeOptions?: StoreOptions;
  log(line: string): void;
}

export interface Base extends Omit<BaseOptions, 'storeOptions'> {
  readonly store: Store;
  /** Null without DEVIN_CONNECTION_SECRET: then nothing is sealed, and nobody signs in. */
  readonly sealing: Sealing | null;
  readonly account: AccountReader;
  readonly devinClock: RemoteClock;
  readonly vercelClock: RemoteClock;
  /** Hears of strange answers, each said once. */
  onOddity(line: string): void;
}

export interface Sealing {
  readonly keys: KeyRing;
  readonly vault: Vault;
}

export interface Parts extends Base {
  readonly installation: Installation;
  readonly fleet: Fleet;
  readonly host: SandboxHost;
  readonly kind: ActorKind;
}

/** Opens the database. Rejects with RefusedError or TransientError. */
export async function openBase({ storeOptions, ...options }: BaseOptions): Promise<Base> {
  const { config, clock } = options;
  const store = await openStore(config.databaseUrl.reveal(), storeOptions);
  try {
    const sealing = sealingOf(config, store, clock);
    return {
      ...options,
      onOddity: distinct(options.log),
      store,
      sealing,
      account: createAccountReader({
        vault: sealing?.vault ?? null,
        trustedHosts: config.connect.trustedHosts,
        environment: environmentAccount(config),
      }),
      devinClock: await rememberedClock(store, clock, 'devin'),
      vercelClock: await rememberedClock(store, clock, 'vercel'),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The parts for the account that is connected now. Rejects with RefusedError when none is, or when the database
 * belongs to another, and with TransientError.
 */
export async function assemble(base: Base): Promise<Parts> {
  const { config, clock, store, account, onOddity } = base;
  const devin = await account.current();
  if (devin === null) throw new NotConnectedError();
  const installation = await settleInstallation(store, config.acceptorId, {
    apiHost: new URL(devin.apiUrl).host,
    outpostId: devin.outpostId,
    vercelProject: config.accounts.vercel.projectId,
  });
  const fleet = createFleet({
    apiUrl: devin.apiUrl,
    token: async () => tokenFor(devin, await account.current()),
    outpostId: devin.outpostId,
    clock,
    remoteClock: base.devinClock,
    onOddity,
  });
  const host = createSandboxHost({
    credentials: credentialsOf(config.accounts.vercel),
    fetch: base.sandboxFetch,
    clock,
    remoteClock: base.vercelClock,
    settings: sandboxSettings(base, installation),
    onOddity,
  });
  const tagsOf = (sessionId: string) => sessionTags(installation.id, sessionId);
  const effects = createSessionEffects({
    fleet,
    host,
    tagsOf,
    ...doorbellsOf(config),
    bellForRestricted: config.doorbellForRestricted,
  });
  const kind = createSessionKind(configuredRules(config), effects);
  return { ...base, installation, fleet, host, kind };
}

/** Nobody has connected Devin yet, or somebody has disconnected it. */
export class NotConnectedError extends RefusedError {
  constructor() {
    super('Devin is not connected: an operator does that on the page /connect', {
      setting: 'DEVIN_OUTPOST_ID',
    });
  }
}

/** A token may have been changed since; one of another outpost is not for what was assembled. */
function tokenFor(assembled: DevinAccount, now: DevinAccount | null): string {
  if (now === null) throw new NotConnectedError();
  if (now.outpostId === assembled.outpostId && now.apiUrl === assembled.apiUrl) return now.token;
  throw new RefusedError('another outpost has been connected meanwhile', { setting: 'DEVIN_OUTPOST_ID' });
}

function sealingOf({ connect }: Config, store: Store, clock: Clock): Sealing | null {
  if (connect.secret === null) return null;
  const keys = createKeyRing(connect.secret.reveal(), connect.previousSecret?.reveal() ?? null);
  return { keys, vault: createVault({ store, keys, clock }) };
}

function environmentAccount({ accounts }: BaseOptions['config']) {
  const { apiUrl, credentials } = accounts.devin;
  if (credentials === null) return null;
  return { apiUrl, outpostId: credentials.outpostId, token: credentials.token.reveal() };
}

/** What looks at the queue; `settle` and `kick` as `LookDeps` says. */
export function createLooker(
  parts: Parts,
  { settle, kick }: { settle(id: string): Promise<unknown>; kick(id: string): void },
): Looker {
  const { fleet, store, kind, clock, log, config, installation } = parts;
  return new Looker({
    fleet,
    store,
    kind,
    clock,
    log,
    maxConcurrent: config.maxConcurrent,
    inputOf: ({ sessionId, outpostId }, facts) => ({
      sessionId,
      outpostId,
      facts,
      sandboxName: sandboxName('devin', sessionId),
      acceptorPrefix: installation.acceptorPrefixOf(sessionId),
    }),
    settle,
    kick,
  });
}

export function createSweeper(parts: Parts, looker: Looker, kick: (id: string) => void): Sweeper {
  const { fleet, host, store, kind, clock, log, config, installation } = parts;
  return new Sweeper({
    fleet,
    host,
    store,
    kind,
    clock,
    log,
    maxLifetimeMs: config.sandbox.maxLifetimeMs,
    owns: installation.owns,
    entries: () => looker.entries,
    kick,
  });
}

/** Vms ring only where there is an address to ring at, and a secret to make their keys of. */
function doorbellsOf({ publicUrl, cronSecret }: Config): Pick<SessionEffectDeps, 'doorbellOf'> {
  if (publicUrl === null || cronSecret === null) return {};
  const { doorbellOf } = createDoorbell({ secret: cronSecret.reveal(), baseUrl: publicUrl });
  return { doorbellOf };
}

function credentialsOf(vercel: Base['config']['accounts']['vercel']): SandboxHostOptions['credentials'] {
  if (vercel.source === 'deployment') return undefined;
  const { token, teamId, projectId } = vercel;
  return async () => ({ token: token.reveal(), teamId, projectId });
}

function sandboxSettings({ config }: Base, installation: Installation): SandboxHostOptions['settings'] {
  const { sandbox, accounts } = config;
  return {
    runtime: sandbox.runtime ?? 'node24',
    ...(sandbox.image === null ? {} : { image: sandbox.image }),
    ...(sandbox.region === null ? {} : { region: sandbox.region }),
    vcpus: sandbox.vcpus,
    timeoutMs: sandbox.timeoutMs,
    maxLifetimeMs: sandbox.maxLifetimeMs,
    snapshotExpirationMs: sandbox.snapshotExpirationMs,
    tags: { [INSTALLATION_TAG]: installation.id },
    staticBaseUrl: accounts.devin.staticBaseUrl,
  };
}

/** A remote's clock that starts from the offset that an earlier process learnt. */
async function rememberedClock(store: Store, clock: Clock, name: string): Promise<RemoteClock> {
  const saved = await store.setting(`clock-${name}`);
  const remote = createRemoteClock(clock, saved === null ? null : Number(saved));
  remote.onChange = (offsetMs) => {
    store.writeSetting(`clock-${name}`, String(offsetMs)).catch(() => undefined);
  };
  return remote;
}

/** Passes each line on once. */
function distinct(log: (line: string) => void): (line: string) => void {
  const seen = new Set<string>();
  return (line) => {
    if (seen.has(line)) return;
    if (seen.size > 1_000) seen.clear();
    seen.add(line);
    log(line);
  };
}
