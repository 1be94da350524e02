import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTerminal, type Terminal } from '../../src/cli/terminal.js';
import { fleetView, sessionView } from '../dashboard/support.js';
import { createScreen, ESC } from './screen.js';

const clock = { now: () => 65_000 };
const COLOURS = new RegExp(`${ESC}\\[\\d+m`);
const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.close();
  vi.unstubAllEnvs();
});

function live(size = { columns: 100, rows: 24 }, colour = false) {
  const screen = createScreen(size);
  const terminal = createTerminal({ stream: screen.stream, clock, colour });
  open.push(terminal);
  return { terminal, ...screen };
}
function lines(options: { json?: boolean } = {}) {
  const stream = new PassThrough();
  const terminal = createTerminal({ stream, clock, ...options });
  return {
    terminal,
    read: () =>
      String(stream.read() ?? '')
        .split('\n')
        .slice(0, -1),
  };
}

describe('on a terminal', () => {
  it('a session that moves on -> its line changes in place', () => {
    const { terminal, seen } = live();
    terminal.show(fleetView({ sessions: [sessionView({ state: 'claiming', vmExpiresAt: null })] }));
    terminal.show(fleetView());
    expect(seen()).toEqual([
      "1 of 5 slots · 0 in Devin's queue · 0 at rest",
      'devin-1  ━━━●───  serving · monitoring        1 min 05 s    vm ends in 18 min 55 s',
    ]);
  });

  it('something logged -> stands above the live lines and stays', () => {
    const { terminal, seen } = live();
    terminal.show(fleetView());
    terminal.log('page: http://127.0.0.1:3000');
    terminal.show(fleetView({ queueDepth: 2 }));
    terminal.log('second');
    expect(seen().map((line) => line.slice(0, 27))).toEqual([
      'page: http://127.0.0.1:3000',
      'second',
      '1 of 5 slots · 2 in Devin’s'.replace('’', "'"),
      'devin-1  ━━━●───  serving ·',
    ]);
  });

  it('the end -> the last lines stay, then the table; closing again adds nothing', () => {
    const { terminal, seen } = live();
    terminal.show(fleetView());
    terminal.summary([
      {
        id: 'devin-1',
        episodes: 2,
        outcome: 'remoteCrashed',
        claimedAfterMs: 42,
        connectedAfterMs: 1530,
        totalMs: 61_000,
        checks: 'passed',
      },
      {
        id: 'devin-22',
        episodes: 0,
        outcome: null,
        claimedAfterMs: null,
        connectedAfterMs: null,
        totalMs: null,
        checks: 'not over',
      },
    ]);
    terminal.close();
    expect(seen().slice(1)).toEqual([
      'devin-1  ━━━●───  serving · monitoring        1 min 05 s    vm ends in 18 min 55 s',
      '',
      'Session   Episodes  Outcome         Claimed after  Connected after  Over after  Checks',
      'devin-1   2         remote crashed  42 ms          1.5 s            1 min 01 s  passed',
      'devin-22  0         -               -              -                -           not over',
    ]);
  });

  it('a narrow terminal -> lines are cut, never wrapped', () => {
    const { terminal, seen } = live({ columns: 40, rows: 24 });
    terminal.show(fleetView({ problems: ['x'.repeat(200)] }));
    expect(seen()).toHaveLength(3);
    for (const line of seen()) expect(line.length).toBeLessThan(40);
    expect(seen()[1]).toMatch(/^! x+…$/);
  });

  it('more sessions than rows -> those that need a person first, the rest counted', () => {
    const { terminal, seen } = live({ columns: 100, rows: 8 });
    const resting = Array.from({ length: 30 }, (_, index) =>
      sessionView({ id: `devin-r${index}`, state: 'released.resting', holdsSlot: false }),
    );
    const waiting = sessionView({ id: 'devin-w', state: 'queued', holdsSlot: false });
    const broken = sessionView({ id: 'devin-b', problem: 'the token was rejected' });
    terminal.show(fleetView({ sessions: [...resting, waiting, sessionView(), broken] }));
    const rows = seen();
    expect(rows.length).toBeLessThan(8);
    expect(rows.filter((line) => /^devin-(w|1|b) /.test(line))).toHaveLength(3);
    expect(rows.find((line) => line.startsWith('devin-b'))).toContain('the token was rejected');
    expect(rows.at(-1)).toBe('and 29 more: 29 released');
  });

  it('hostile ids, states and messages -> no control character reaches the terminal', () => {
    const { terminal, raw } = live();
    const evil = 'a\u001b]0;owned\u0007\u009b2J\r\nb\u202ec\u0000';
    terminal.show(
      fleetView({
        problems: [evil],
        sessions: [
          sessionView({ id: evil, state: evil, quarantine: evil }),
          sessionView({ id: `${evil}2`, waitsFor: evil }),
          sessionView({ id: `${evil}3`, outcome: evil }),
        ],
      }),
    );
    terminal.log(evil);
    terminal.summary([
      {
        id: evil,
        episodes: 1,
        outcome: evil,
        claimedAfterMs: 1,
        connectedAfterMs: 1,
        totalMs: 1,
        checks: evil,
      },
    ]);
    for (const control of [`${ESC}]`, `${ESC}[2J`, '\u0007', '\u009b', '\r', '\u202e', '\u0000'])
      expect(raw()).not.toContain(control);
    expect(raw()).toContain('owned');
  });

  it('colours -> only where they are wanted', () => {
    const plain = live();
    plain.terminal.show(fleetView());
    expect(plain.raw()).not.toMatch(COLOURS);
    const coloured = live(undefined, true);
    coloured.terminal.show(fleetView());
    expect(coloured.raw()).toContain(`${ESC}[34m━━━${ESC}[39m`);
    expect(coloured.seen()).toEqual(plain.seen());
  });

  it('NO_COLOR is set -> no colours', () => {
    vi.stubEnv('NO_COLOR', '1');
    const screen = createScreen({ columns: 100, rows: 24 });
    const terminal = createTerminal({ stream: screen.stream, clock });
    open.push(terminal);
    terminal.show(fleetView());
    expect(screen.raw()).not.toMatch(COLOURS);
  });
});

describe('not on a terminal', () => {
  it('each change of state -> one line; what did not change -> none', () => {
    const { terminal, read } = lines();
    const queued = sessionView({ state: 'queued', waitsFor: 'a free slot' });
    terminal.show(fleetView({ sessions: [queued] }));
    terminal.show(fleetView({ sessions: [queued], queueDepth: 3 }));
    terminal.show(fleetView({ at: 66_000, sessions: [sessionView({ state: 'claiming' })] }));
    terminal.show(
      fleetView({ sessions: [sessionView({ state: 'released.resting', outcome: 'claimLost' })] }),
    );
    terminal.show(fleetView({ sessions: [sessionView({ state: 'released.resting', episode: 2 })] }));
    expect(read()).toEqual([
      '1970-01-01T00:01:05.000Z  devin-1  new → queued  (episode 1, waits for a free slot)',
      '1970-01-01T00:01:06.000Z  devin-1  queued → claiming  (episode 1)',
      '1970-01-01T00:01:05.000Z  devin-1  claiming → released.resting  (episode 1, claim lost)',
      '1970-01-01T00:01:05.000Z  devin-1  released.resting → released.resting  (episode 2)',
    ]);
  });

  it('problems -> said when they come up and when they are mended', () => {
    const { terminal, read } = lines();
    terminal.show(fleetView({ sessions: [] }));
    terminal.show(fleetView({ sessions: [], problems: ['the token was rejected'] }));
    terminal.show(fleetView({ sessions: [], problems: ['the token was rejected'] }));
    terminal.show(fleetView({ sessions: [] }));
    terminal.show(fleetView({ sessions: [sessionView({ problem: 'no billing' })] }));
    terminal.show(fleetView({ sessions: [sessionView({ problem: 'no billing' })] }));
    terminal.show(fleetView({ sessions: [sessionView({ quarantine: 'unreadable' })] }));
    expect(read().map((line) => line.slice(26))).toEqual([
      '! the token was rejected',
      'mended: the token was rejected',
      'devin-1  new → serving.monitoring  (episode 1)',
      'devin-1  ! no billing',
      'devin-1  ! set aside: unreadable',
    ]);
  });

  it('a hostile id -> one clean line', () => {
    const { terminal, read } = lines();
    terminal.show(fleetView({ sessions: [sessionView({ id: 'a\nb\u001b[2J' })] }));
    expect(read().map((line) => line.slice(26))).toEqual(['a b [2J  new → serving.monitoring  (episode 1)']);
  });

  it('a reader that goes away -> printing ends, the program does not', async () => {
    const stream = new PassThrough();
    const terminal = createTerminal({ stream, clock });
    stream.destroy(new Error('EPIPE'));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(() => {
      terminal.show(fleetView());
      terminal.log('nobody reads this');
      terminal.summary([]);
      terminal.close();
    }).not.toThrow();
  });
});

describe('as JSON', () => {
  it('changes, logs and the summary -> one JSON object on each line', () => {
    const { terminal, read } = lines({ json: true });
    terminal.show(fleetView({ problems: ['p'] }));
    terminal.log('page: x\ny');
    terminal.summary([
      {
        id: 'devin-1',
        episodes: 1,
        outcome: 'ended',
        claimedAfterMs: 1,
        connectedAfterMs: 2,
        totalMs: 3,
        checks: 'passed',
      },
    ]);
    expect(read().map((line) => JSON.parse(line))).toEqual([
      { at: '1970-01-01T00:01:05.000Z', type: 'problem', problem: 'p' },
      { at: '1970-01-01T00:01:05.000Z', type: 'moved', from: null, session: sessionView() },
      { at: '1970-01-01T00:01:05.000Z', type: 'log', text: 'page: x\ny' },
      {
        at: '1970-01-01T00:01:05.000Z',
        type: 'summary',
        rows: [expect.objectContaining({ id: 'devin-1', totalMs: 3 })],
      },
    ]);
  });
});
