import { Writable } from 'node:stream';

export const ESC = '\u001b';
const TOKENS = new RegExp(`${ESC}\\[\\??(\\d*)([A-Za-z])|\\n|[^${ESC}\\n]`, 'gu');

/** A terminal of a given size: takes what is written to it and tells what one would see. */
export function createScreen(size: { columns: number; rows: number }) {
  const lines: string[] = [''];
  let row = 0;
  let column = 0;
  let raw = '';

  const put = (character: string) => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + character + line.slice(column + 1);
    column += 1;
  };
  const control = (digits: string, letter: string) => {
    const count = Number(digits || 1);
    if (letter === 'K') lines[row] = digits === '2' ? '' : (lines[row] ?? '').slice(0, column);
    else if (letter === 'A') row = Math.max(0, row - count);
    else if (letter === 'B') row += count;
    else if (letter === 'G') column = 0;
    else if (!'mhl'.includes(letter)) throw new Error(`unknown control: ${letter}`);
  };
  const write = (text: string) => {
    raw += text;
    for (const [token, count, letter] of text.matchAll(TOKENS)) {
      if (letter !== undefined) control(count ?? '', letter);
      else if (token === '\n') {
        row += 1;
        column = 0;
        lines[row] ??= '';
      } else put(token);
    }
  };
  const stream = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string, _, done) {
        write(chunk);
        done();
      },
    }),
    { isTTY: true, ...size },
  );
  return {
    stream,
    /** The lines that are there, without empty ones at the end. */
    seen: () =>
      lines
        .map((line) => line.trimEnd())
        .join('\n')
        .trimEnd()
        .split('\n'),
    raw: () => raw,
  };
}
