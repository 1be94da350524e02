/**
 * How much room text takes, without a browser to ask.
 *
 * The widths are those of a wide sans serif, so that whichever system font
 * shows it needs no more. The same text gives the same numbers everywhere.
 */

export interface TextStyle {
  /** The class that the style sheet knows it by. */
  class: 'title' | 'effect' | 'note' | 'small' | 'code' | 'exit' | 'failed' | 'label';
  sizePx: number;
  /** From one baseline to the next. */
  leadingPx: number;
  bold?: boolean;
  mono?: boolean;
}

export const STYLES = {
  title: { class: 'title', sizePx: 15, leadingPx: 20, bold: true },
  effect: { class: 'effect', sizePx: 12, leadingPx: 17, mono: true },
  note: { class: 'note', sizePx: 12, leadingPx: 16 },
  small: { class: 'small', sizePx: 11, leadingPx: 15 },
  code: { class: 'code', sizePx: 11, leadingPx: 15, mono: true },
  exit: { class: 'exit', sizePx: 11, leadingPx: 15 },
  failed: { class: 'failed', sizePx: 11, leadingPx: 15 },
  label: { class: 'label', sizePx: 12, leadingPx: 15 },
} as const satisfies Record<string, TextStyle>;

/** Shares of the font's size. */
const MONO = 0.62;
const NARROW = 0.36;
const USUAL = 0.62;
const WIDE = 0.95;
const CAPITAL = 0.74;
const BOLD = 1.12;

export function widthOf(text: string, { sizePx, bold, mono }: TextStyle): number {
  const shares = [...text].reduce((sum, letter) => sum + (mono ? MONO : shareOf(letter)), 0);
  return Math.ceil(shares * sizePx * (bold ? BOLD : 1));
}

function shareOf(letter: string): number {
  if (/[ ijlt.,:;'’|!()[\]/f]/.test(letter)) return NARROW;
  if (/[mwMW→←…—]/.test(letter)) return WIDE;
  return /[A-Z]/.test(letter) ? CAPITAL : USUAL;
}

/** Breaks between words; a word that is wider than the room stands alone. */
export function wrap(text: string, roomPx: number, style: TextStyle): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && widthOf(longer, style) <= roomPx) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

export const xml = (text: string): string =>
  text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
