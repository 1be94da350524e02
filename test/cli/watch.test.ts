import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sessionRules } from '../../machines/session/rules.js';
import type { Look } from '../../src/cli/look.js';
import { watch } from '../../src/cli/watch.js';
import { parseConfig } from '../../src/config/index.js';
import { readableSessionKind } from '../../src/effects/session-kind.js';
import { TransientError } from '../../src/errors.js';
import type { Store } from '../../src/ports/store.js';
import { openStore } from '../../src/store/open.js';
import { begun, EVIL, liveThrough, MINUTE, temporaryDirectory } from './filled.js';
import { createScreen, ESC } from './screen.js';

let dir: Awaited<ReturnType<typeof temporaryDirectory>>;
let url: string;
let store: Store;
beforeEach(async () => {
  dir = await temporaryDirectory();
  url = `file:${join(dir.path, 'outposts.db')}`;
  store = await openStore(url);
  await arrive('devin-first');
});
afterEach(async () => {
  await store.close();
  await dir.remove();
});

const MINUTES_AGO = 5;
const arrive = (id: string, more: { refusedWith?: string } = {}) =>
  liveThrough(store, { id, from: Date.now() - MINUTES_AGO * MINUTE, until: Date.now(), ...more });

describe('elsewhere than on a terminal', () => {
  it('sessions that move -> a line for each change, in order; Ctrl-C -> ends with 0', async () => {
    const watching = begun(dir.path, { DATABASE_URL: url }, ['watch']);
    await watching.said('devin-first  is in serving.monitoring');
    await arrive('devin-second');
    await arrive(EVIL, { refusedWith: EVIL });
    await watching.said(' ! ');
    watching.process.kill('SIGINT');
    const { code, stdout, stderr } = await watching.ended;
    expect([code, stderr]).toEqual([0, '']);
    const told = stdout
      .split('\n')
      .filter((line) => line.includes('devin-second'))
      .map((line) => line.replace(/^\S+ {2}devin-second {2}/, ''));
    expect(told.slice(0, 3)).toEqual([
      'queued → claiming  (slot granted)',
      'claiming → provisioning.opening  (claim session: claimed)',
      'provisioning.opening → provisioning.launching  (open sandbox: running)',
    ]);
    expect(told).toContain('serving.connecting → serving.monitoring  (queue changed: running)');
    expect(stdout).not.toContain('devin-second  is in');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('with --json -> one object on each line, with the event; SIGTERM -> ends with 0', async () => {
    const watching = begun(dir.path, {}, ['watch', '--json', '--database', url]);
    await watching.said('devin-first');
    await arrive('devin-second');
    await watching.said('"to":"serving.monitoring"');
    watching.process.kill('SIGTERM');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    const objects = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects[0]).toMatchObject({ type: 'seen', session: { id: 'devin-first', holdsSlot: true } });
    expect(objects[1]).toMatchObject({
      type: 'moved',
      id: 'devin-second',
      from: 'queued',
      to: 'claiming',
      cause: 'slot granted',
      event: { type: 'slot.granted' },
    });
  });
});

describe('in this process', () => {
  const look = (): Look => {
    const parsed = parseConfig({ DATABASE_URL: url }, { mode: 'embedded' });
    if (parsed.kind === 'problems') throw new Error('wrong settings');
    return {
      store,
      kind: readableSessionKind(sessionRules()),
      config: parsed.config,
      clock: Date,
      speed: 1,
      nowAfter: (changes) => Math.max(Date.now(), ...changes),
      print: () => undefined,
      printJson: () => undefined,
    };
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('on a terminal -> live lines, and at the end they stay and nothing is left switched on', async () => {
    const screen = createScreen({ columns: 120, rows: 24 });
    const stop = new AbortController();
    const done = watch(look(), { stream: screen.stream, json: false, signal: stop.signal });
    await until(() => screen.seen().join('\n').includes('devin-first'));
    await arrive('devin-second');
    await until(() => screen.seen().join('\n').includes('devin-second'));
    stop.abort();
    await done;
    expect(screen.seen()[0]).toBe("2 of 5 slots · 0 in Devin's queue · 0 at rest");
    expect(screen.seen()).toHaveLength(3);
    const switched = (to: string) => screen.raw().split(`${ESC}[?2026${to}`).length - 1;
    expect(switched('l')).toBe(switched('h'));
    const after = screen.raw();
    await arrive('devin-third');
    expect(screen.raw()).toBe(after);
  });

  it('the database is away for a while -> said once, then that it is back, and nothing is missed', async () => {
    let isAway = false;
    let [tries, said] = [0, ''];
    const journal: Store['journal'] = (filter) => {
      tries += 1;
      return isAway ? Promise.reject(new TransientError('read the journal: away')) : store.journal(filter);
    };
    const stream = new PassThrough().setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const stop = new AbortController();
    const away = { ...look(), store: { ...store, journal } };
    const done = watch(away, { stream, json: false, signal: stop.signal });
    await until(() => said.includes('devin-first'));
    isAway = true;
    await arrive('devin-second');
    await until(() => said.includes('away'));
    const triesThen = tries;
    await until(() => tries > triesThen + 1);
    isAway = false;
    await until(() => said.includes('mended') && said.includes('devin-second'));
    stop.abort();
    await done;
    const lines = said
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(26));
    expect(lines.filter((line) => line.includes('away'))).toEqual([
      '! read the journal: away',
      'mended: read the journal: away',
    ]);
    expect(lines).toContain('devin-second  queued → claiming  (slot granted)');
  });
});
