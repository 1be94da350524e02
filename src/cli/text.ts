/**
 * Text for a terminal: cleaned of whatever could steer it, cut to its width,
 * coloured last so that neither is confused by escape codes.
 */
import type { Writable } from 'node:stream';
import { durationInWords } from '../dashboard/assets/format.js';

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'blue';
/** A piece of a line; the text must be clean. */
export type Span = readonly [text: string, style: Style];

const CODES: Record<Style, readonly [number, number] | null> = {
  plain: null,
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  blue: [34, 39],
};

/** Without control, format and line-breaking characters: what came from outside can neither steer nor forge. */
export function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** JSON in which nothing can steer a terminal either: the same characters, escaped. */
export function json(value: unknown, indent = 0): string {
  // What `indent` brings is the only line break that is there raw.
  return JSON.stringify(value, null, indent).replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Prints lines; a reader that goes away (`| head`) ends the printing, not the program. */
export function printTo(stream: Writable): (text: string) => void {
  let open = true;
  stream.on('error', () => (open = false));
  return (text) => {
    if (open) stream.write(`${text}\n`);
  };
}

/** Joins spans into one line of at most `columns` columns. */
export function line(spans: readonly Span[], columns: number, colour: boolean): string {
  let left = columns;
  let out = '';
  for (const [text, style] of spans) {
    const piece = cut(text, left);
    left -= widthOf(piece);
    out += paint(piece, colour ? style : 'plain');
    if (piece !== text) break;
  }
  return out;
}

/** At most `columns` columns, with an ellipsis where something was cut. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let out = '';
  let width = 1;
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    out += character;
  }
  return columns > 0 ? `${out}…` : '';
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Rows of clean cells as lines, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Columns that a terminal needs: two for wide characters, none for combining marks. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    const isWide =
      /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/u;
    width += /\p{M}/u.test(character) ? 0 : isWide.test(character) ? 2 : 1;
  }
  return width;
}

/** `-`, `85 ms`, `3.4 s`, then in words. */
export function timeTaken(ms: number | null): string {
  if (ms === null) return '-';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : durationInWords(ms);
}

function paint(text: string, style: Style): string {
  const codes = CODES[style];
  return codes && text !== '' ? `\u001b[${codes[0]}m${text}\u001b[${codes[1]}m` : text;
}
