import { describe, expect, it } from 'vitest';
import { dashboard, fleetView, sessionView, TOKEN } from './support.js';

async function page(view: Parameters<typeof fleetView>[0], changes: Parameters<typeof dashboard>[0] = {}) {
  const answer = await dashboard({ view: async () => fleetView(view), ...changes }).get('/');
  expect(answer.status).toBe(200);
  return answer.text();
}
/** Visible text, tags taken away. */
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const currentStep = (html: string) => /<li class="current" aria-current="step"><span>(\w+)</.exec(html)?.[1];

describe('the page', () => {
  it('one session at work -> its state, time in state, episode, sandbox and expiry', async () => {
    const text = textOf(await page({}));
    expect(text).toContain('serving · monitoring for 1 min 05 s');
    expect(text).toContain('devin-1 episode 1');
    expect(text).toContain('Sandbox devin-devin-1-0123456789');
    expect(text).toContain('VM ends in 18 min 55 s');
    expect(text).toContain('1 of 5');
  });

  it.each([
    ['queued', 'queued'],
    ['claiming', 'claiming'],
    ['provisioning.opening', 'provisioning'],
    ['serving.coolingDown', 'serving'],
    ['extending', 'extending'],
    ['snapshotting.waiting', 'snapshotting'],
    ['released.resting', 'released'],
    ['ended', 'released'],
    ['lost', undefined],
    ['a state of tomorrow', undefined],
  ])('a session in %s -> the step that is lit is %s', async (state, step) => {
    const html = await page({ sessions: [sessionView({ state })] });
    expect(currentStep(html)).toBe(step);
    expect(html.match(/<ol class="steps".*?<\/ol>/s)?.[0].match(/<li /g)).toHaveLength(7);
  });

  it('nothing yet, and sessions can be started -> says what to press', async () => {
    const start = async () => ({ ok: true, message: '' });
    const html = await page({ sessions: [] }, { actions: { start } });
    expect(textOf(html)).toContain('Press “Start a session”');
    expect(html).toContain('action="/actions/start"');
  });

  it('an operator who cannot start sessions -> no start button', async () => {
    expect(await page({ sessions: [] })).not.toContain('/actions/start');
  });

  it('problems of the whole -> shown; none -> hidden', async () => {
    expect(textOf(await page({ problems: ['the token was rejected'] }))).toContain('the token was rejected');
    expect(await page({})).toMatch(/role="alert" hidden/);
  });

  it('a session that was set aside -> among those that need the operator, with a retry', async () => {
    const retry = async () => ({ ok: true, message: '' });
    const sessions = [sessionView({ quarantine: 'the row does not parse' })];
    const html = await page({ sessions }, { actions: { retry, stop: retry } });
    expect(textOf(html)).toMatch(/Needs you 1 .*Set aside: the row does not parse/);
    expect(html).toContain('/actions/retry');
    expect(html).not.toContain('/actions/stop');
  });

  it('hostile texts everywhere -> all escaped', async () => {
    const evil = `"'><script>alert(1)</script>`;
    const html = await page(
      {
        problems: [evil],
        sessions: [
          sessionView({
            id: evil,
            state: evil,
            sandboxName: evil,
            vmId: evil,
            waitsFor: evil,
            outcome: evil,
            problem: evil,
            quarantine: evil,
          }),
        ],
      },
      { title: evil, actions: { stop: async () => ({ ok: true, message: '' }) } },
    );
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain(`"'>`);
    expect(textOf(html)).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('thousands at rest -> the newest fifty, and how many more', async () => {
    const resting = Array.from({ length: 2000 }, (_, index) =>
      sessionView({ id: `devin-${index}`, state: 'released.resting', holdsSlot: false, stateSince: index }),
    );
    const html = await page({ sessions: resting });
    expect(html.match(/data-key="session-/g)).toHaveLength(50);
    expect(html).toContain('data-key="session-devin-1999"');
    expect(textOf(html)).toContain('and 1950 older ones');
  });

  it('scripts and styles are files of our own, none in the page', async () => {
    const { get } = dashboard();
    const html = await (await get('/')).text();
    expect(html).not.toMatch(/<style|style="|\son\w+="|<script(?![^>]*src=)/);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
      const answer = await get(path ?? '');
      expect(answer.status, path).toBe(200);
      expect((await answer.text()).length).toBeGreaterThan(50);
    }
  });
});

describe('the api', () => {
  it('GET /api/sessions -> the view as JSON, without the action token', async () => {
    const answer = await dashboard().get('/api/sessions');
    const body = await answer.text();
    expect(JSON.parse(body)).toEqual(fleetView());
    expect(body).not.toContain(TOKEN);
  });

  it('GET /api/health, ready -> 200 with what is known', async () => {
    const health = async () => ({ kind: 'ready', details: { sessions: 3 } }) as const;
    const answer = await dashboard({ health }).get('/api/health');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'ok', sessions: 3 });
  });

  it.each([
    [
      'not ready',
      async () => ({ kind: 'unready', reason: 'the first list of the queue is pending' }) as const,
    ],
    ['failing', () => Promise.reject(new Error('the first list of the queue is pending'))],
  ])('GET /api/health, %s -> 503 with the reason', async (_, health) => {
    const answer = await dashboard({ health }).get('/api/health');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({
      status: 'unready',
      reason: 'the first list of the queue is pending',
    });
  });
});
