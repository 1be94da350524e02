/**
 * Keeps the page current: takes in what the server draws, counts the seconds
 * in between, and posts buttons without leaving the page.
 */
import { durationInWords } from './format.js';

const live = document.getElementById('live');
const connection = document.getElementById('connection');
const note = document.getElementById('note');

/** The server's instant, and this browser's when it came: the two clocks need not agree. */
let heard = { at: 0, speed: 1, here: 0 };

listen();
countTime();
setInterval(countTime, 1000);
document.addEventListener('submit', postWithoutLeaving);

function listen() {
  hear(live);
  const source = new EventSource('/events');
  source.addEventListener('open', () => say(connection, ''));
  source.addEventListener('error', () => say(connection, 'Connection lost, trying again…'));
  source.addEventListener('live', (event) => {
    const drawn = document.createElement('template');
    drawn.innerHTML = event.data;
    const next = drawn.content.getElementById('live');
    const focus = document.activeElement?.getAttribute('data-focus');
    hear(next);
    countTime();
    countTime(next);
    takeIn(live, next);
    if (focus && document.activeElement === document.body)
      live.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  });
}

/** Makes the children of `current` those of `next`, leaving alone what does not differ. */
function takeIn(current, next) {
  const known = new Map([...current.children].map((child) => [child.dataset.key, child]));
  const wanted = [...next.children].map((child) => {
    const match = known.get(child.dataset.key);
    return match ? reconcile(match, child) : child;
  });
  const staying = new Set(wanted);
  for (const child of [...current.children]) if (!staying.has(child)) child.remove();
  wanted.forEach((child, index) => {
    const there = current.children[index] ?? null;
    if (there !== child) current.insertBefore(child, there);
  });
}

/** The element to show: the current one where it can be kept. */
function reconcile(current, next) {
  if (current.isEqualNode(next)) return current;
  const list = current.querySelector('ul.sessions');
  const nextList = next.querySelector('ul.sessions');
  if (!list || !nextList) return next;
  current.querySelector('h2').replaceChildren(...next.querySelector('h2').childNodes);
  takeIn(list, nextList);
  return current;
}

function hear(element) {
  heard = { at: Number(element.dataset.at), speed: Number(element.dataset.speed), here: performance.now() };
}

function countTime(root = document) {
  const now = heard.at + (performance.now() - heard.here) * heard.speed;
  for (const time of root.querySelectorAll('time')) {
    const { since, until } = time.dataset;
    const words = durationInWords(since === undefined ? Number(until) - now : now - Number(since));
    if (time.textContent !== words) time.textContent = words;
  }
}

async function postWithoutLeaving(event) {
  const form = event.target;
  if (form.dataset.plain !== undefined) return;
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    });
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    const { ok, message } = isJson ? await answer.json() : { ok: false, message: await answer.text() };
    say(note, message, ok ? 'done' : 'wrong');
  } catch {
    say(note, 'The orchestrator does not answer. Is it still running?', 'wrong');
  } finally {
    button.disabled = false;
    if (document.activeElement === document.body) button.focus({ preventScroll: true });
  }
}

function say(element, text, kind) {
  element.textContent = text;
  if (kind === undefined) return;
  element.className = kind;
  element.hidden = text === '';
}
