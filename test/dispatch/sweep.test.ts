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

  it('a vm without a record that one sweep does not see -> it takes two more to stop it', async () => {
    const stray = rig.sandbox('stray');
    for (const seen of [true, false, true]) {
      rig.sandboxes = seen ? [stray] : [];
      await rig.sweep();
    }
    expect(rig.stopped).toEqual([]);
    await rig.sweep();
    expect(rig.stopped).toEqual(['sbx_stray']);
  });

  it('a sweep that broke off -> counts for nothing', async () => {
    rig.sandboxes = [rig.sandbox('stray')];
    await rig.sweep();
    rig.listFails = true;
    await expect(rig.sweep()).rejects.toThrow('the list breaks off');
    rig.listFails = false;
    expect(rig.stopped).toEqual([]);
    await rig.sweep();
    expect(rig.stopped).toEqual(['sbx_stray']);
  });

  it.each(['nonsense', '{"sweeps":1}', JSON.stringify({ sweeps: 1, strayVms: Array(501).fill('x') })])(
    'its memory is %.30s -> as if it had none, and it is written anew',
    async (text) => {
      await rig.store.writeSetting('sweep-memory', text);
      rig.sandboxes = [rig.sandbox('stray')];
      await rig.sweep();
      expect(rig.stopped).toEqual([]);
      await rig.sweep();
      expect(rig.stopped).toEqual(['sbx_stray']);
    },
  );

  it('thousands of strays -> all are stopped, and the memory stays small', async () => {
    rig.sandboxes = Array.from({ length: 1_200 }, (_, index) => rig.sandbox(`stray-${index}`));
    for (let sweeps = 0; sweeps < 4; sweeps++) {
      await rig.sweep();
      expect((await rig.store.setting('sweep-memory'))?.length).toBeLessThan(20_000);
      rig.sandboxes = rig.sandboxes.filter(({ vmId }) => !rig.stopped.includes(vmId));
    }
    expect(new Set(rig.stopped).size).toBe(1_200);
  });

  describe('the slot of a record that is set aside', () => {
    const holds = async () => (await rig.store.read('a'))?.holdsSlot;
    beforeEach(async () => {
      await rig.look([entry('a')]);
      await rig.setAside('a');
      expect(await holds()).toBe(true);
    });

    it.each(['running', 'pending', 'stopping', 'snapshotting'] as const)(
      'its vm is %s -> held',
      async (status) => {
        rig.sandboxes = [rig.sandbox('a', { status })];
        for (let sweeps = 0; sweeps < 3; sweeps++) await rig.sweep();
        expect(await holds()).toBe(true);
      },
    );

    it.each(['stopped', 'failed', 'aborted'] as const)(
      'its vm is %s -> freed by the second sweep that sees it',
      async (status) => {
        rig.sandboxes = [rig.sandbox('a', { status })];
        await rig.sweep();
        expect(await holds()).toBe(true);
        await rig.sweep();
        expect(await holds()).toBe(false);
        expect(rig.logged).toEqual(['session a is set aside and has no vm: its slot is free']);
      },
    );

    it('it has no sandbox at all -> freed by the second sweep, and granted to the next', async () => {
      await rig.sweep();
      await rig.sweep();
      expect(await holds()).toBe(false);
      expect(await rig.store.counts('session')).toMatchObject({ slots: 0, quarantined: 1 });
    });

    it('the list broke off -> held', async () => {
      rig.listFails = true;
      for (let sweeps = 0; sweeps < 3; sweeps++) await rig.sweep().catch(() => undefined);
      expect(await holds()).toBe(true);
    });

    it('readmitted after that -> holds its slot again, and goes on', async () => {
      await rig.sweep();
      await rig.sweep();
      expect(await rig.store.readmit('a')).toBe(true);
      expect(await holds()).toBe(true);
      await rig.drive('a');
      expect(await rig.store.read('a')).toMatchObject({ state: 'lost', holdsSlot: false, quarantine: null });
    });
  });

  it('a vm of a record that cannot be read -> left alone', async () => {
    await rig.look([entry('a')]);
    await rig.setAside('a');
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
