import { describe, expect, test } from 'vitest';
import { createRemoteClock } from '../../src/remote-clock.js';
import { createHandClock } from './support.js';

const T = Date.UTC(2026, 7, 4, 12);
const MINUTE = 60_000;
const remote = (initial?: number) => {
  const { clock } = createHandClock(T);
  const moves: number[] = [];
  const remoteClock = createRemoteClock(clock, initial);
  remoteClock.onChange = (offset) => moves.push(offset);
  return { remoteClock, moves };
};
const date = (ms: number) => new Date(ms).toUTCString();

describe('the clock of a remote service', () => {
  test('nothing learnt -> instants pass unchanged and the offset is unknown', () => {
    const { remoteClock } = remote();
    expect([remoteClock.toLocal(T), remoteClock.toRemote(T), remoteClock.now()]).toEqual([T, T, T]);
    expect(remoteClock.offsetMs()).toBeNull();
  });

  test.each([-10 * MINUTE, 10 * MINUTE, 137])(
    'a changed object is %i ms off -> instants convert both ways',
    (skew) => {
      const { remoteClock, moves } = remote();
      remoteClock.learn(T + 100 + skew, T, T + 200);
      expect(remoteClock.offsetMs()).toBe(skew);
      expect(remoteClock.toLocal(T + skew + 5)).toBe(T + 5);
      expect(remoteClock.toRemote(T + 5)).toBe(T + skew + 5);
      expect(remoteClock.now()).toBe(T + skew);
      expect(moves).toEqual([skew]);
    },
  );

  test('whole seconds and uneven answers after the first learning -> the offset stands', () => {
    const { remoteClock, moves } = remote();
    remoteClock.learn(T + 5 * MINUTE, T, T);
    for (const wobble of [-1_999, 1_999, 0, 700]) remoteClock.learn(T + 5 * MINUTE + wobble, T, T);
    expect(moves).toEqual([5 * MINUTE]);
  });

  test('an answer that took ten seconds -> its midpoint contradicts nothing', () => {
    const { remoteClock } = remote();
    remoteClock.learn(T, T, T);
    remoteClock.learn(T + 9_500, T, T + 10_000);
    expect(remoteClock.offsetMs()).toBe(0);
  });

  test.each([-10 * MINUTE, 2_000, -2_000])(
    'the remote clock jumps by %i ms -> the offset follows',
    (jump) => {
      const { remoteClock, moves } = remote();
      remoteClock.learn(T, T, T);
      remoteClock.learn(T + jump, T, T);
      expect(moves).toEqual([0, jump]);
    },
  );

  test('only Date headers so far -> the offset is known to about a second', () => {
    const { remoteClock } = remote();
    remoteClock.learnFromDate(date(T - 6 * MINUTE + 400), T, T + 100);
    expect(Math.abs((remoteClock.offsetMs() ?? 0) + 6 * MINUTE)).toBeLessThanOrEqual(1_000);
  });

  test('many Date headers of one clock -> the offset moves once', () => {
    const { remoteClock, moves } = remote();
    for (let ms = 0; ms < 5_000; ms += 130) {
      remoteClock.learnFromDate(date(T + ms + MINUTE), T + ms, T + ms + 50);
    }
    expect(moves).toHaveLength(1);
  });

  test('a changed object after Date headers -> it decides, and headers count no more', () => {
    const { remoteClock } = remote();
    remoteClock.learnFromDate(date(T), T, T);
    remoteClock.learn(T + 900, T, T);
    expect(remoteClock.offsetMs()).toBe(900);
    remoteClock.learnFromDate(date(T + 8 * MINUTE), T, T);
    expect(remoteClock.offsetMs()).toBe(900);
  });

  test('an offset learnt by another process -> used at once, and kept while Date headers agree', () => {
    const { remoteClock, moves } = remote(4 * MINUTE + 321);
    expect(remoteClock.toLocal(T + 4 * MINUTE + 321)).toBe(T);
    remoteClock.learnFromDate(date(T + 4 * MINUTE), T, T);
    expect([remoteClock.offsetMs(), moves]).toEqual([4 * MINUTE + 321, []]);
  });

  test('a clock was set right between two processes -> the first Date header corrects the old offset', () => {
    const { remoteClock } = remote(4 * MINUTE);
    remoteClock.learnFromDate(date(T), T, T);
    expect(Math.abs(remoteClock.offsetMs() ?? Number.NaN)).toBeLessThanOrEqual(1_000);
  });

  test('the stored offset is no number -> nothing is known', () => {
    expect(remote(Number.NaN).remoteClock.offsetMs()).toBeNull();
  });

  test.each([null, '', 'soon', 'Tue, 99 Foo 2026'])(
    'the Date header is %j -> nothing is learnt',
    (header) => {
      const { remoteClock } = remote();
      remoteClock.learnFromDate(header, T, T);
      remoteClock.learn(Number.NaN, T, T);
      expect(remoteClock.offsetMs()).toBeNull();
    },
  );
});
