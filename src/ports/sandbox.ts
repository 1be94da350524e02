/**
 * Vercel Sandbox, as the orchestrator needs it.
 *
 * A *sandbox* is a durable name with its disk; a *vm* is one boot of it. Work
 * acts on a vm's id, never on the name, so a late effect cannot touch the next
 * boot; only `open` may boot one. Instants are in the orchestrator's own time.
 */
import type { ConnectGrant, SessionPolicy } from './fleet.js';

export interface VmRef {
  readonly name: string;
  readonly vmId: string;
}

export type VmStatus = 'pending' | 'running' | 'stopping' | 'snapshotting' | 'stopped' | 'failed' | 'aborted';

/** A sandbox seen without waking it. */
export interface SandboxSight extends VmRef {
  readonly status: VmStatus;
  readonly startedAt: number;
  /** When the vm stops by itself; null unless it runs. */
  readonly expiresAt: number | null;
  /** When the status last changed. */
  readonly changedAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** The newest disk image, null when none was ever made (or it expired). */
  readonly snapshotId: string | null;
  /** Whether a stopped vm saved its disk, as opposed to an earlier image still being there; null: not told. */
  readonly saved: boolean | null;
  /** Digest of the network policy in force, comparable with `OpenAnswer.policyDigest`; null when unknown. */
  readonly policyDigest: string | null;
}

export interface SandboxSpec {
  readonly name: string;
  /** Ours, and checked when a sandbox of that name exists already. */
  readonly tags: Readonly<Record<string, string>>;
  readonly policy: SessionPolicy;
  /** Needed so that the gateway's host can be let through. */
  readonly gatewayUrl: string;
  /** Further URLs whose hosts are let through whatever the policy says. */
  readonly alsoNeeded: readonly string[];
}

export type OpenAnswer =
  | {
      readonly kind: 'running';
      readonly vmId: string;
      readonly startedAt: number;
      readonly expiresAt: number;
      /** `created`: no such sandbox before; `restored`: booted from its snapshot; `cold`: it existed, but its snapshot had expired; `adopted`: it ran already. */
      readonly origin: 'created' | 'restored' | 'cold' | 'adopted';
      readonly policyDigest: string;
    }
  /** Booting, stopping or snapshotting: ask again shortly. */
  | { readonly kind: 'settling' }
  /** A sandbox of that name runs with other tags: it is not ours to touch. */
  | { readonly kind: 'foreign' };

/** Where the vm's supervisor says "look now", and with which key. It opens nothing and carries no facts. */
export interface Doorbell {
  /** https, or http on loopback; any other is never called. */
  readonly url: string;
  readonly key: string;
}

export interface LaunchSpec {
  readonly sessionId: string;
  readonly remoteSha: string | null;
  /** Distinguishes this launch from any earlier one in the same files: a stale pid file of a restored disk names another. */
  readonly launchId: string;
  readonly grant: ConnectGrant;
  /** Rung when the remote was started, could not be started, or has ended; null: nobody is called. */
  readonly doorbell: Doorbell | null;
}

/** What the supervisor's files, and the lock that dies with its process, say of the remote. */
export type RemoteSight =
  /** Downloading, verifying, or not started yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'running' }
  | { readonly kind: 'exited'; readonly code: number }
  /** The remote could not be started (checksum, missing binary, bad SHA): never worth another try with the same input when `permanent`. */
  | { readonly kind: 'unlaunchable'; readonly reason: string; readonly permanent: boolean }
  /** No trace of this launch: the command was lost, or the files are another launch's. */
  | { readonly kind: 'absent' }
  /** The vm is not running any more. */
  | { readonly kind: 'vmGone' };

export type StopAnswer =
  /** `snapshotId` null: it stopped without a disk image. */
  | { readonly kind: 'stopped'; readonly snapshotId: string | null }
  /** Asked, not there yet: look again with `find`. */
  | { readonly kind: 'stopping' };

export interface SandboxHost {
  /** Whether the policy itself lets a session reach the URL's host; what is let through besides does not count. */
  allows(policy: SessionPolicy, url: string): boolean;
  /** Reads a sandbox without waking it; null when there is none. One call. */
  find(name: string, signal: AbortSignal): Promise<SandboxSight | null>;
  /**
   * Creates, boots from the snapshot, or adopts. Applies policy, tags and timeout in every case
   * (an existing sandbox ignores create's parameters). `fence` is awaited right before anything that boots a vm.
   */
  open(spec: SandboxSpec, fence: () => Promise<void>, signal: AbortSignal): Promise<OpenAnswer>;
  /** One detached command: download, verify, start under the launch lock. Safe to repeat. */
  launch(
    vm: VmRef,
    spec: LaunchSpec,
    signal: AbortSignal,
  ): Promise<{ kind: 'launched' } | { kind: 'vmGone' }>;
  /** One command in the vm; never boots it. */
  look(vm: VmRef, launchId: string, signal: AbortSignal): Promise<RemoteSight>;
  /** Resolves when the supervisor's command of this launch ends; `dropped` when the wait broke off first. */
  awaitExit(vm: VmRef, launchId: string, signal: AbortSignal): Promise<'ended' | 'dropped'>;
  applyPolicy(
    vm: VmRef,
    policy: SessionPolicy,
    gatewayUrl: string,
    alsoNeeded: readonly string[],
    signal: AbortSignal,
  ): Promise<{ kind: 'applied'; policyDigest: string } | { kind: 'vmGone' }>;
  /**
   * Moves the vm's end to `untilAt` unless it is later already. `limited`: the plan allows no more;
   * `expiresAt` is then what stays.
   */
  extendTo(
    vm: VmRef,
    untilAt: number,
    fence: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<{ kind: 'extended' | 'limited'; expiresAt: number } | { kind: 'vmGone' }>;
  /** Stops the vm, which saves its disk. Safe to repeat. */
  stop(vm: VmRef, signal: AbortSignal): Promise<StopAnswer>;
  /** Deletes the sandbox with its snapshots. None there counts as deleted. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Sandboxes of this installation, newest status change first; the caller stops reading when it has seen enough. */
  list(signal: AbortSignal): AsyncIterable<SandboxSight>;
}
