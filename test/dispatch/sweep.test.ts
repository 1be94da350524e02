import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sessionOfTags, sessionTags } from '../../src/dispatch/tags.js';
import { entry, PREFIX, Rig } from './rig.js';

const MINUTE = 60_000;
let rig: Rig;
beforeEach(async () => {
  rig = await Rig.open();
});
afterEach(() => rig.close());

describe('the sweep', () => {
  it('a vm without a record -> stopped by the second sweep that sees it', async () => {
    rig.sandboxes = [rig.sandbox('stray')];
    await rig.sweep();
    expect(rig.stopped).toEqual([]);
    await rig.sweep();
    expect(rig.stopped).toEqual(['sbx_stray']);
  });

  it('a vm without a record that is younger than two minutes -> left alone', async () => {
    rig.sandboxes = [rig.sandbox('fresh', { startedAt: rig.now - MINUTE })];
    await rig.sweep();
    await rig.sweep();
    expect(rig.stopped).toEqual([]);
  });

  it('a vm of a session at rest -> its actor is told, and acts itself', async () => {
    await rig.look([entry('a')]);
    await rig.drive('a');
    rig.sandboxes = [rig.sandbox('a')];
    await rig.sweep();
    await rig.sweep();
    expect(rig.stopped).toEqual([]);
    expect(await rig.news('a')).toContain('sandbox.seen');
  });

  it('a vm of a record that cannot be read -> left alone', async () => {
    await rig.look([entry('a')]);
    const taken = await rig.store.take('a', 'me', 1_000);
    if (taken.kind !== 'taken') throw new Error('busy');
    await rig.store.quarantine({ id: 'a', owner: 'me', rev: taken.row.rev }, 'for the test');
    rig.sandboxes = [rig.sandbox('a')];
    await rig.sweep();
    await rig.sweep();
    expect(rig.stopped).toEqual([]);
  });

  it('stopped sandboxes, and those that changed longer ago than a vm can live -> nothing', async () => {
    rig.sandboxes = [
      rig.sandbox('asleep', { status: 'stopped', expiresAt: null }),
      rig.sandbox('ancient', { changedAt: rig.now - 48 * 60 * MINUTE }),
    ];
    await rig.sweep();
    await rig.sweep();
    expect(rig.stopped).toEqual([]);
  });

  it('a claim of ours that no record holds -> released by the second sweep that sees it', async () => {
    const acceptorId = `${PREFIX}gone-1`;
    await rig.look([entry('gone', { phase: 'claimed', acceptorId, status: 'claimed' })]);
    await rig.sweep();
    expect(rig.released).toEqual([]);
    await rig.sweep();
    expect(rig.released).toEqual([`gone ${acceptorId}`]);
  });

  it("another installation's claim -> left alone", async () => {
    await rig.look([entry('a', { phase: 'claimed', acceptorId: 'vercel-other-a-1', status: 'claimed' })]);
    await rig.sweep();
    await rig.sweep();
    expect(rig.released).toEqual([]);
  });

  it('an actor that ended an hour ago -> its row is deleted', async () => {
    await rig.look([entry('a')]);
    await rig.drive('a');
    for (let walks = 0; walks < 2; walks++) await rig.look([]);
    await rig.drive('a');
    expect(await rig.state('a')).toBe('ended');
    await rig.sweep();
    expect(await rig.state('a')).toBe('ended');
    rig.now += 61 * MINUTE;
    await rig.sweep();
    expect(await rig.state('a')).toBeNull();
  });
});

describe('the tags of a sandbox', () => {
  it.each(['devin-abc_1', 'b64.x', 'with space', 'ünïcode:"\'$(x)', ''])(
    '%j -> comes back from its tag',
    (id) => {
      expect(sessionOfTags(sessionTags('i1', id))).toBe(id);
    },
  );

  it('no tag of ours -> no session', () => {
    expect(sessionOfTags({ other: 'x' })).toBeNull();
  });
});
