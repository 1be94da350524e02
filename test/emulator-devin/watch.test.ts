import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import type { DevinCloud } from '../../src/emulator/devin/index.js';
import { type Row, startCloud } from './rig.js';

interface Event {
  type: string;
  object: Row;
  cursor: string;
}

/** Opens a watch; `next` waits for an event, `text` is all that came. */
async function openWatch(cloud: DevinCloud, query = '') {
  const abort = new AbortController();
  const answer = await fetch(`${cloud.url}/opbeta/outposts/devins?watch=true&${query}`, {
    headers: { authorization: `Bearer ${cloud.token}` },
    signal: abort.signal,
  });
  const events: Event[] = [];
  let text = '';
  let woken = () => {};
  const parser = createParser({ onEvent: (event) => events.push(JSON.parse(event.data)) });
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      const part = decoder.decode(chunk, { stream: true });
      text += part;
      parser.feed(part);
      woken();
    }
  })();
  ended.catch(() => {});
  return {
    answer,
    ended,
    events,
    text: () => text,
    close: () => abort.abort(),
    async next(): Promise<Event> {
      while (events.length === 0) {
        await new Promise<void>((resolve) => {
          woken = resolve;
        });
      }
      return events.shift() as Event;
    },
  };
}

const gist = ({ type, object }: Event) => [type, object.metadata.session_id, object.status.phase];

describe('watch', () => {
  test('changes while it is open -> one event each, without event names or ids', async () => {
    const { cloud, clock, fleet } = await startCloud({ leftoverMs: 5_000 });
    const watch = await openWatch(cloud);
    expect(watch.answer.headers.get('content-type')).toBe('text/event-stream');
    cloud.startSession({ id: 'a' });
    expect(gist(await watch.next())).toEqual(['MODIFIED', 'a', 'pending']);
    await fleet.claim('a');
    const claimed = await watch.next();
    expect(gist(claimed)).toEqual(['MODIFIED', 'a', 'claimed']);
    expect(claimed.object.status).not.toHaveProperty('connect_token');
    cloud.end('a');
    await clock.advance(2_000);
    expect((await watch.next()).object.status.session_status).toBe('terminated');
    await fleet.release('a');
    expect(gist(await watch.next())).toEqual(['MODIFIED', 'a', 'pending']);
    await clock.advance(5_000);
    expect(gist(await watch.next())).toEqual(['DELETED', 'a', 'pending']);
    expect(watch.text()).not.toMatch(/^(event|id):/m);
    watch.close();
  });

  test("from a list's cursor -> what happened since is replayed, and nothing older", async () => {
    const { cloud, fleet } = await startCloud();
    cloud.startSession({ id: 'old' });
    const { cursor } = await fleet.list();
    cloud.startSession({ id: 'b' });
    cloud.startSession({ id: 'a' });
    const watch = await openWatch(cloud, `cursor=${cursor}`);
    expect([gist(await watch.next()), gist(await watch.next())]).toEqual([
      ['MODIFIED', 'b', 'pending'],
      ['MODIFIED', 'a', 'pending'],
    ]);
    watch.close();
  });

  test("from an event's cursor -> goes on after that event", async () => {
    const { cloud, fleet } = await startCloud();
    const first = await openWatch(cloud);
    cloud.startSession({ id: 'a' });
    const { cursor } = await first.next();
    first.close();
    await fleet.claim('a');
    const second = await openWatch(cloud, `cursor=${cursor}`);
    expect(gist(await second.next())).toEqual(['MODIFIED', 'a', 'claimed']);
    second.close();
  });

  test('phase and acceptor are ignored, the outpost is not', async () => {
    const { cloud } = await startCloud();
    const watch = await openWatch(cloud, `phase=claimed&acceptor_id=them&outpost=${cloud.outpostId}`);
    cloud.startSession({ id: 'elsewhere', outpostId: 'outpost_env-other' });
    cloud.startSession({ id: 'ours' });
    expect(gist(await watch.next())).toEqual(['MODIFIED', 'ours', 'pending']);
    watch.close();
  });

  test('nothing happens -> keepalive comments, and the end after five minutes', async () => {
    const { cloud, clock } = await startCloud();
    const watch = await openWatch(cloud);
    await clock.advance(300_000);
    await watch.ended;
    expect(watch.text()).toMatch(/^(: keepalive\n\n){20,22}$/);
  });

  test('a stalled watch -> open, but silent about what happens', async () => {
    const { cloud, clock } = await startCloud();
    cloud.faults.add({ on: 'watch', kind: 'stall' });
    const stalled = await openWatch(cloud);
    cloud.startSession({ id: 'a' });
    await clock.advance(300_000);
    await stalled.ended;
    expect(stalled.events).toEqual([]);
    expect(stalled.text()).toContain(': keepalive');
  });

  test('a cursor that is none -> 400', async () => {
    const { cloud } = await startCloud();
    const watch = await openWatch(cloud, 'cursor=%00');
    expect(watch.answer.status).toBe(400);
  });
});
