/**
 * Sessions that are over while their remote still runs.
 *
 * A remote normally ends by itself. Here it is frozen and cut off first, so that
 * nothing but the row in Devin's queue tells the orchestrator.
 */
import { type Rig, sandboxOf } from './rig.js';

/** From `terminated` in Devin's cloud to the vm being stopped, milliseconds, all sessions at once. */
export async function endToStop(rig: Rig, count: number): Promise<number[]> {
  const ids = Array.from({ length: count }, (_, index) => `devin-end-${index}`);
  for (const id of ids) {
    const served = rig.transition(id, ({ to }) => to === 'serving.monitoring');
    rig.devin.startSession({ id });
    await served;
  }
  const times: number[] = [];
  for (const id of ids) times.push(await end(rig, id));
  return times;
}

async function end(rig: Rig, id: string): Promise<number> {
  const pid = rig.devin.session(id).remotes.list.find(({ connected }) => connected)?.pid;
  if (pid === undefined) throw new Error(`${id} has no remote`);
  process.kill(pid, 'SIGSTOP');
  const over = rig.event(id, ({ kind, text }) => kind === 'status' && text === 'terminated');
  const stopped = rig.transition(
    id,
    ({ from, to }) => from.startsWith('snapshotting') && !to.startsWith('snapshotting'),
  );
  rig.devin.end(id);
  rig.devin.cutRemotes(id);
  const [{ at: overAt }] = await Promise.all([over, stopped]);
  const all = [...rig.vercel.sandboxes(), ...rig.vercel.removed()];
  const stoppedAt = all.find(({ name }) => name === sandboxOf(id))?.vms.at(-1)?.endedAt ?? null;
  if (stoppedAt === null) throw new Error(`${id}: its vm did not stop`);
  return stoppedAt - overAt;
}
