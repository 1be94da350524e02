/** Disk images: taken when a vm stops, evicted by the sandbox's retention, gone when they expire. */
import { ApiError, notFound } from './api-error.js';
import { newId } from './ids.js';
import type { CloudState, Sandbox, Snapshot, Vm } from './model.js';

export interface ImageWish {
  readonly method: 'auto' | 'manual';
  /** Milliseconds, 0 = never; null = as the sandbox is set. */
  readonly expirationMs: number | null;
}

/** Turns the disk of an ended vm into the sandbox's newest image. */
export async function takeSnapshot(
  state: CloudState,
  sandbox: Sandbox,
  vm: Vm,
  wish: ImageWish,
): Promise<void> {
  const id = newId('snap');
  await state.disks.save(sandbox.name, id);
  const now = state.clock.now();
  state.snapshots.set(id, {
    id,
    sandboxName: sandbox.name,
    sourceVmId: vm.id,
    createdAt: now,
    parentId: vm.sourceSnapshotId,
    method: wish.method,
    lifetimeMs: lifetime(
      wish.expirationMs ??
        sandbox.keepLast?.expiration ??
        sandbox.snapshotExpirationMs ??
        state.defaultSnapshotExpirationMs,
    ),
    lastUsedAt: null,
    updatedAt: now,
    deleted: false,
  });
  sandbox.currentSnapshotId = id;
  vm.snapshotId = id;
  await evict(state, sandbox);
}

/** @throws ApiError 410 when the image is no more. */
export function useSnapshot(state: CloudState, id: string): void {
  const snapshot = state.snapshots.get(id);
  if (!snapshot || !isUsable(state, snapshot)) {
    throw new ApiError(410, 'snapshot_not_found', `Snapshot ${id} not found.`);
  }
  snapshot.lastUsedAt = snapshot.updatedAt = state.clock.now();
}

/** @throws ApiError 404. */
export function snapshotOf(state: CloudState, id: string): Snapshot {
  const snapshot = state.snapshots.get(id);
  if (!snapshot || !isUsable(state, snapshot)) throw notFound(`Snapshot ${id}`);
  return snapshot;
}

/** Existing images, oldest first; of one sandbox when named. */
export function snapshotsOf(state: CloudState, sandboxName?: string): Snapshot[] {
  return [...state.snapshots.values()].filter(
    (each) => isUsable(state, each) && (sandboxName === undefined || each.sandboxName === sandboxName),
  );
}

export async function deleteSnapshot(state: CloudState, snapshot: Snapshot): Promise<void> {
  snapshot.deleted = true;
  snapshot.updatedAt = state.clock.now();
  await state.disks.deleteImage(snapshot.id);
}

/** The clock's instant; null = never. Each use starts the time anew. */
export function expiresAt(snapshot: Snapshot): number | null {
  return snapshot.lifetimeMs === null
    ? null
    : (snapshot.lastUsedAt ?? snapshot.createdAt) + snapshot.lifetimeMs;
}

function isUsable(state: CloudState, snapshot: Snapshot): boolean {
  const end = expiresAt(snapshot);
  return !snapshot.deleted && (end === null || end > state.clock.now());
}

async function evict(state: CloudState, sandbox: Sandbox): Promise<void> {
  if (!sandbox.keepLast) return;
  for (const old of snapshotsOf(state, sandbox.name).slice(0, -sandbox.keepLast.count)) {
    if (sandbox.keepLast.deleteEvicted === false) {
      old.lifetimeMs = lifetime(state.defaultSnapshotExpirationMs);
    } else {
      await deleteSnapshot(state, old);
    }
  }
}

const lifetime = (ms: number) => (ms === 0 ? null : ms);
