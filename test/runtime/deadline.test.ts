import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { withDeadline } from '../../src/ports/clock.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heard = (signal: AbortSignal) =>
  new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve((signal.reason as Error).name), { once: true }),
  );

test('garbage is collected meanwhile -> the deadline passes all the same', async () => {
  const { signal } = withDeadline(50, new AbortController().signal);
  const end = heard(signal);
  collectGarbage();
  expect(await end).toBe('TimeoutError');
});

test('the outer signal aborts first, or had before -> with its reason', async () => {
  const outer = new AbortController();
  const { signal, clear } = withDeadline(60_000, outer.signal);
  const end = heard(signal);
  outer.abort(new RangeError('enough'));
  expect(await end).toBe('RangeError');
  clear();
  const late = withDeadline(60_000, outer.signal);
  late.clear();
  expect(late.signal.reason).toBe(outer.signal.reason);
});
