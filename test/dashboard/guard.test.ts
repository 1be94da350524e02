import { describe, expect, it } from 'vitest';
import type { ActionAnswer } from '../../src/dashboard/view.js';
import { dashboard, HOST, TOKEN } from './support.js';

function acting(answer: ActionAnswer = { ok: true, message: 'asked to stop' }) {
  const asked: (string | undefined)[] = [];
  const stop = async (id?: string) => {
    asked.push(id);
    return answer;
  };
  return { asked, ...dashboard({ actions: { stop } }) };
}
const FORM = { token: TOKEN, id: 'devin-1' };

describe('hosts and origins', () => {
  it.each(['evil.example', '127.0.0.1', '127.0.0.1:3001', '127.0.0.1:3000.evil.example', '', 'localhost'])(
    'Host %j (a name pointed at us) -> 421, nothing shown',
    async (host) => {
      for (const path of ['/', '/events', '/api/sessions', '/api/health', '/app.js']) {
        const answer = await dashboard().get(path, { host });
        expect(answer.status).toBe(421);
        expect(await answer.text()).not.toMatch(/devin-1|token/);
      }
    },
  );

  it.each([HOST, 'localhost:3000', 'LOCALHOST:3000'])('Host %s -> served', async (host) => {
    expect((await dashboard().get('/', { host })).status).toBe(200);
  });

  it.each([
    'http://evil.example',
    'null',
    'https://127.0.0.1:3000',
    'http://127.0.0.1:3001',
    'http://localhost:3000',
  ])('an action from Origin %s -> 403 even with the token, nothing done', async (origin) => {
    const { post, asked } = acting();
    expect((await post('/actions/stop', FORM, { origin })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  it.each(['cross-site', 'same-site'])(
    'an action with Sec-Fetch-Site: %s -> 403, nothing done',
    async (site) => {
      const { post, asked } = acting();
      expect((await post('/actions/stop', FORM, { 'sec-fetch-site': site })).status).toBe(403);
      expect(asked).toEqual([]);
    },
  );

  it('every answer, refusals included -> not cached, not framed, not sniffed, no inline script', async () => {
    const { get, post } = acting();
    for (const answer of [
      await get('/'),
      await get('/nowhere'),
      await get('/', { host: 'evil.example' }),
      await post('/actions/stop', {}),
    ]) {
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('content-security-policy')).toMatch(
        /default-src 'none'; script-src 'self'; style-src 'self'.*frame-ancestors 'none'/,
      );
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

describe('actions', () => {
  it('a form with the token -> done, and back to the page, which says the answer once', async () => {
    const { post, get, asked } = acting();
    const answer = await post('/actions/stop', FORM, {
      origin: `http://${HOST}`,
      'sec-fetch-site': 'same-origin',
    });
    expect(asked).toEqual(['devin-1']);
    expect(answer.status).toBe(303);
    const location = answer.headers.get('location') ?? '';
    expect(await (await get(location)).text()).toContain('asked to stop');
    expect(await (await get(location)).text()).not.toContain('asked to stop');
  });

  it('the token in a header -> done too', async () => {
    const { post, asked } = acting();
    await post('/actions/stop', { id: 'devin-1' }, { 'x-action-token': TOKEN });
    expect(asked).toEqual(['devin-1']);
  });

  it.each(['', 'wrong', `${TOKEN}x`, TOKEN.slice(1), 'ä'.repeat(TOKEN.length)])(
    'the token %j -> 403, nothing done',
    async (token) => {
      const { post, asked } = acting();
      expect((await post('/actions/stop', { token, id: 'devin-1' })).status).toBe(403);
      expect(asked).toEqual([]);
    },
  );

  it('a script asks -> the answer as JSON, 409 when it was refused', async () => {
    const { post } = acting({ ok: false, message: 'there is nothing to stop' });
    const answer = await post('/actions/stop', FORM, { accept: 'application/json' });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({ ok: false, message: 'there is nothing to stop' });
  });

  it('an action that throws -> its message as the answer', async () => {
    const stop = () => Promise.reject(new Error('the database is away'));
    const answer = await dashboard({ actions: { stop } }).post('/actions/stop', FORM, {
      accept: 'application/json',
    });
    expect(await answer.json()).toEqual({ ok: false, message: 'the database is away' });
  });

  it.each(['start', 'constructor', '__proto__', 'nonsense'])(
    'the action %s, not offered here -> 404',
    async (name) => {
      const { post, asked } = acting();
      expect((await post(`/actions/${name}`, FORM)).status).toBe(404);
      expect(asked).toEqual([]);
    },
  );

  it.each(['', 'a b', 'a\nb', 'x'.repeat(201)])('the id %j -> 400, nothing done', async (id) => {
    const { post, asked } = acting();
    expect((await post('/actions/stop', { token: TOKEN, id })).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it('a huge body -> 413, nothing done', async () => {
    const { post, asked } = acting();
    expect((await post('/actions/stop', { ...FORM, more: 'x'.repeat(5000) })).status).toBe(413);
    expect(asked).toEqual([]);
  });

  it('GET on an action -> 404, nothing done', async () => {
    const { get, asked } = acting();
    expect((await get(`/actions/stop?token=${TOKEN}&id=devin-1`)).status).toBe(404);
    expect(asked).toEqual([]);
  });

  it('an address with a made-up note -> puts no words into the page', async () => {
    expect(await (await dashboard().get('/?note=pay+me')).text()).not.toContain('pay');
  });
});
