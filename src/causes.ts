/** What moved a session, in words, from the event that its journal keeps. */
import { inWords } from './dashboard/lifecycle.js';

/** `renew claim: claimed`, `probe due`, `queue changed: running`. Parts of it may come from outside. */
export function causeInWords(event: unknown): string {
  if (!isObject(event) || typeof event.type !== 'string') return 'went on';
  const [source, kind, third = '', effect = ''] = event.type.split('.');
  if (source === 'xstate') {
    if (kind === 'after') return inWords(third);
    return kind === 'error'
      ? said(`${inWords(effect)} failed`, event.error)
      : said(inWords(effect), event.output);
  }
  return said(event.type.replaceAll('.', ' '), event.facts);
}

/** With the one thing that an answer, a failure or a row says above all. */
function said(what: string, news: unknown): string {
  if (!isObject(news)) return what;
  const word = news.message ?? news.kind ?? news.status;
  if (typeof word !== 'string') return what;
  return `${what}: ${news.message === undefined ? inWords(word) : word}${news.code === undefined ? '' : ` ${news.code}`}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
