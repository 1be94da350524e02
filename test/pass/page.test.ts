import { expect, test } from 'vitest';
import { begin, toSaved } from '../../src/runtime/saved.js';
import { doorkeeper, willing } from '../runtime/doorkeeper.js';
import { usePollers } from '../runtime/polling.js';
import { until, useRig } from '../runtime/rig.js';

const rig = useRig();
const { running } = usePollers(rig);

test('more rows of a newer program are due than a scan reads -> the others are driven all the same', async () => {
  const kind = doorkeeper(willing(0));
  const newer = { ...kind, version: kind.version + 1 };
  const ids = Array.from({ length: 700 }, (_, index) => `door-${1_000 + index}`);
  await Promise.all(
    ids.map((id) => rig.store.enroll(id, toSaved(newer, begin(newer, { door: id })), null, 0)),
  );
  await rig.enroll('door-last');
  await rig.ring('door-last');
  running(kind);
  await until(async () => (await rig.row('door-last')).state !== 'closed');
  expect((await rig.row('door-1000')).rev).toBe(0);
});
