/**
 * The parts that every driver of sessions shares, wired.
 *
 * A *base* is what a process opens once and keeps: the store, and what was
 * learnt of the clouds' clocks. *Parts* are made from it afresh whenever that
 * is safer than keeping them: a function's credentials last for minutes, and
 * what a claim left in memory belongs to one drive. Drives nothing itself.
 */
import { sessionRules } from '../machines/session/rules.js';
import type { Config } from './config/index.js';
import { createFleet } from './devin/fleet.js';
import { Looker } from './dispatch/look.js';
import { Sweeper } from './dispatch/sweep.js';
import { INSTALLATION_TAG, sessionTags } from './dispatch/tags.js';
import { createDoorbell } from './doorbell.js';
import { createSessionEffects, type SessionEffectDeps } from './effects/session-effects.js';
import { createSessionKind } from './effects/session-kind.js';
import { RefusedError } from './errors.js';
import { type Installation, settleInstallation } from './installation.js';
import type { Clock } from './ports/clock.js';
import type { Fleet } from './ports/fleet.js';
import type { SandboxHost } from './ports/sandbox.js';
import type { Store } from './ports/store.js';
import { createRemoteClock, type RemoteClock } from './remote-clock.js';
import type { ActorKind } from './runtime/actor.js';
import { createSandboxHost, type SandboxHostOptions } from './sandbox/index.js';
import { sandboxName } from './sandbox/name.js';
import { openStore, type StoreOptions } from './store/open.js';

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
  readonly installation: Installation;
  readonly devinClock: RemoteClock;
  readonly vercelClock: RemoteClock;
  /** Hears of strange answers, each said once. */
  onOddity(line: string): void;
}

export interface Parts extends Base {
  readonly fleet: Fleet;
  readonly host: SandboxHost;
  readonly kind: ActorKind;
}

/** Opens the database and learns whose it is. Rejects with RefusedError or TransientError. */
export async function openBase({ storeOptions, ...options }: BaseOptions): Promise<Base> {
  const { config, clock } = options;
  const { devin, vercel } = config.accounts;
  if (devin.credentials === null)
    throw new RefusedError('nothing is connected', { setting: 'DEVIN_OUTPOSTS_TOKEN' });
  const { outpostId } = devin.credentials;
  const store = await openStore(config.databaseUrl.reveal(), storeOptions);
  try {
    const installation = await settleInstallation(store, config.acceptorId, {
      apiHost: new URL(devin.apiUrl).host,
      outpostId,
      vercelProject: vercel.projectId,
    });
    return {
      ...options,
      onOddity: distinct(options.log),
      store,
      installation,
      devinClock: await rememberedClock(store, clock, 'devin'),
      vercelClock: await rememberedClock(store, clock, 'vercel'),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export function assemble(base: Base): Parts {
  const { config, clock, installation, onOddity } = base;
  const { devin } = config.accounts;
  const fleet = createFleet({
    apiUrl: devin.apiUrl,
    token: () => devin.credentials?.token.reveal() ?? '',
    outpostId: devin.credentials?.outpostId ?? '',
    clock,
    remoteClock: base.devinClock,
    onOddity,
  });
  const host = createSandboxHost({
    credentials: credentialsOf(config.accounts.vercel),
    fetch: base.sandboxFetch,
    clock,
    remoteClock: base.vercelClock,
    settings: sandboxSettings(base),
    onOddity,
  });
  const { sandbox } = config;
  const rules = sessionRules({
    sandboxTimeoutMs: sandbox.timeoutMs,
    maxLifetimeMs: sandbox.maxLifetimeMs,
    probeEveryMs: config.probeIntervalMs,
    unheardProbeEveryMs: config.unheardProbeIntervalMs,
    renewMarginMs: config.claimRenewMarginMs,
    keepMs: sandbox.snapshotExpirationMs === 0 ? null : sandbox.snapshotExpirationMs,
  });
  const tagsOf = (sessionId: string) => sessionTags(installation.id, sessionId);
  const effects = createSessionEffects({
    fleet,
    host,
    tagsOf,
    ...doorbellsOf(config),
    bellForRestricted: config.doorbellForRestricted,
  });
  const kind = createSessionKind(rules, effects);
  return { ...base, fleet, host, kind };
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

function sandboxSettings({ config, installation }: Base): SandboxHostOptions['settings'] {
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
