import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../src/errors.js';
import { entry, Rig } from './rig.js';

let rig: Rig;
beforeEach(async () => {
  rig = await Rig.open({ maxConcurrent: 2 });
});
afterEach(() => rig.close());

describe('a look at the queue', () => {
  it('a claimable row -> an actor with a slot, kicked', async () => {
    await rig.look([entry('a')]);
    expect(await rig.store.read('a')).toMatchObject({ state: 'queued', holdsSlot: true });
    expect(await rig.news('a')).toEqual(['slot.granted']);
    expect(rig.kicked).toContain('a');
  });

  it('more claimable rows than slots -> the first in the queue get them, the rest wait', async () => {
    await rig.look(['a', 'b', 'c', 'd'].map((id) => entry(id)));
    const rows = await rig.store.list({ limit: 10 });
    expect(rows.filter((row) => row.holdsSlot).map((row) => row.id)).toEqual(['a', 'b']);
    expect(rig.looker.ledger.getSnapshot().context).toEqual({ max: 2, held: 2, waiting: ['c', 'd'] });
  });

  it('rows that are ended, claimed by others, or not for linux -> no actor', async () => {
    await rig.look([
      entry('asleep', { status: 'suspended' }),
      entry('over', { status: 'terminated' }),
      entry('exited', { status: 'exit' }),
      entry('failed', { status: 'error' }),
      entry('theirs', { phase: 'claimed', acceptorId: 'other', status: 'running' }),
      entry('mac', { platform: 'darwin' }),
      entry('x'.repeat(200)),
    ]);
    expect(await rig.store.list({ limit: 10 })).toEqual([]);
    expect(rig.logged.filter((line) => line.includes('left alone'))).toHaveLength(2);
  });

  it('unknown status and phase -> an unknown status may be claimed, an unknown phase may not', async () => {
    await rig.look([entry('odd', { status: 'unknown' }), entry('odder', { phase: 'unknown' })]);
    expect((await rig.store.list({ limit: 10 })).map((row) => row.id)).toEqual(['odd']);
  });

  it('draining -> facts are written, nothing new is begun', async () => {
    await rig.look([entry('a')], { grant: false });
    expect(await rig.store.read('a')).toBeNull();
    await rig.look([entry('a')]);
    await rig.look([entry('a', { status: 'running' }), entry('b')], { grant: false });
    expect(await rig.facts('a')).toMatchObject({ status: 'running' });
    expect(await rig.store.read('b')).toBeNull();
  });

  it('missing from one complete walk, or from any number of incomplete ones -> still present', async () => {
    await rig.look([entry('a')]);
    await rig.look([]);
    for (let walks = 0; walks < 5; walks++) await rig.look([], { complete: false });
    expect(await rig.facts('a')).toMatchObject({ presence: 'present' });
  });

  it('missing from two complete walks -> missing; seen again -> present', async () => {
    await rig.look([entry('a')]);
    await rig.look([]);
    await rig.look([]);
    expect(await rig.facts('a')).toMatchObject({ presence: 'missing', status: 'pending' });
    await rig.look([entry('a')]);
    expect(await rig.facts('a')).toMatchObject({ presence: 'present' });
  });

  it('missing, seen, missing -> the count starts anew', async () => {
    await rig.look([entry('a')]);
    await rig.look([]);
    await rig.look([entry('a')]);
    await rig.look([]);
    expect(await rig.facts('a')).toMatchObject({ presence: 'present' });
  });

  it('a session that never had a vm and left the queue -> ended, and begins anew when it returns', async () => {
    await rig.look([entry('b'), entry('c'), entry('a')]);
    await rig.look([entry('b'), entry('c')]);
    await rig.look([entry('b'), entry('c')]);
    await rig.drive('a');
    expect(await rig.state('a')).toBe('ended');
    rig.looker.forget('a');
    await rig.look([entry('b'), entry('c'), entry('a')]);
    expect(await rig.store.read('a')).toMatchObject({ state: 'queued', rev: 0 });
  });

  it('a resumed row -> the actor at rest reaches its slot in the same look', async () => {
    await rig.look([entry('a')]);
    await rig.drive('a');
    expect(await rig.state('a')).toBe('lost');
    await rig.look([entry('a', { phase: 'claimed', acceptorId: 'other', status: 'running' })]);
    await rig.drive('a');
    await rig.look([entry('a', { kind: 'resume', status: 'resuming' })]);
    expect(await rig.store.read('a')).toMatchObject({ state: 'queued', episode: 2, holdsSlot: true });
  });

  it('unchanged rows -> nothing is written', async () => {
    const rows = [entry('a'), entry('b')];
    await rig.look(rows);
    await rig.drive('a');
    const before = await rig.store.list({ limit: 10 });
    await rig.look([...rows].reverse());
    const facts = (list: typeof before) => list.map((row) => [row.id, row.factsRev]);
    expect(facts(await rig.store.list({ limit: 10 }))).toEqual(facts(before));
  });

  it('facts that could not be written -> are written by the next look', async () => {
    await rig.look([entry('a')]);
    const { observe } = rig.store;
    (rig.store as { observe: unknown }).observe = () =>
      Promise.reject(new TransientError('database is locked'));
    await expect(rig.look([entry('a', { status: 'running' })])).rejects.toThrow('locked');
    (rig.store as { observe: unknown }).observe = observe;
    await rig.look([entry('a', { status: 'running' })]);
    expect(await rig.facts('a')).toMatchObject({ status: 'running' });
  });

  it('hints: the same facts -> no news; others, or a row of ours deleted -> news', async () => {
    await rig.look([entry('a')]);
    expect(rig.looker.isNews('a', entry('a'))).toBe(false);
    expect(rig.looker.isNews('a', entry('a', { status: 'running' }))).toBe(true);
    expect(rig.looker.isNews('a', null)).toBe(true);
    expect(rig.looker.isNews('new', entry('new'))).toBe(true);
    expect(rig.looker.isNews('theirs', entry('theirs', { phase: 'claimed' }))).toBe(false);
    expect(rig.looker.isNews('nobody', null)).toBe(false);
  });

  it('after a restart -> actors are learnt from the store, not begun again', async () => {
    await rig.look([entry('a')]);
    await rig.drive('a');
    await rig.looker.learnActors();
    await rig.look([entry('a')]);
    expect(await rig.store.list({ limit: 10 })).toHaveLength(1);
    expect(await rig.state('a')).toBe('lost');
  });
});
