/**
 * A placed picture as SVG, for light and dark, without a script.
 *
 * Boxes carry their state's path in `data-state`, so that a page that shows the
 * picture can light the current one.
 */
import type { Line } from './boxes.js';
import { PADDING_PX, type Placed, type PlacedArrow, type Rect, SET_IN_PX } from './layout.js';
import { around, head, rounded } from './lines.js';
import { SHEET } from './sheet.js';
import { STYLES, xml } from './text.js';

export function svg({ at, inner, arrows, start }: Placed, title: string): string {
  const body = [...inner.map((each) => boxOf(each, 0)), ...arrows.map(arrowOf), startOf(start)];
  return `<svg xmlns="http://www.w3.org/2000/svg" class="statechart" role="img" width="${at.width}" height="${at.height}" viewBox="0 0 ${at.width} ${at.height}">
<title>${xml(title)}</title>
<style>
${SHEET}</style>
${body.join('')}</svg>
`;
}

function boxOf({ box, at, inner, arrows, start }: Placed, depth: number): string {
  const kind = inner.length > 0 ? 'state around' : depth > 0 ? 'state step' : 'state';
  return `<g class="${kind}" data-state="${xml(box.id)}">
${rectOf(at, 8)}${box.final ? rectOf(inset(at, 4), 5) : ''}${linesOf(box.lines, at)}${arrows.map(arrowOf).join('')}${inner
  .map((each) => boxOf(each, depth + 1))
  .join('')}${startOf(start)}</g>
`;
}

const rectOf = ({ x, y, width, height }: Rect, radius: number) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>\n`;
const inset = ({ x, y, width, height }: Rect, by: number): Rect => ({
  x: x + by,
  y: y + by,
  width: width - 2 * by,
  height: height - 2 * by,
});

function linesOf(lines: Line[], at: Rect): string {
  let bottom = at.y + PADDING_PX;
  return lines
    .map(({ text, style, isSetIn }) => {
      bottom += style.leadingPx;
      return `<text class="${style.class}" x="${at.x + PADDING_PX + (isSetIn ? SET_IN_PX : 0)}" y="${bottom - 4}">${xml(text)}</text>\n`;
    })
    .join('');
}

const startOf = (start: Rect | null): string =>
  start === null
    ? ''
    : `<circle class="start" cx="${start.x + start.width / 2}" cy="${start.y + start.height / 2}" r="${start.width / 2}"/>\n`;

function arrowOf({ arrow, path, label }: PlacedArrow): string {
  const kind = arrow?.failure ? 'arrow failure' : 'arrow';
  const lines = around(path, label);
  const title =
    arrow === null ? '' : `<title>${xml(`${arrow.from} → ${arrow.to}: ${arrow.names.join('; ')}`)}</title>\n`;
  return `<g class="${kind}">
${title}${lines.map((line) => `<path d="${rounded(line)}"/>\n`).join('')}<polygon points="${head(path)}"/>
${arrow === null || label === null ? '' : wordsOf(arrow.words, label)}</g>
`;
}

function wordsOf(words: string[], { x, y, width, height }: Rect): string {
  const { leadingPx } = STYLES.label;
  const top = y + (height - words.length * leadingPx) / 2;
  return words
    .map(
      (word, index) =>
        `<text class="label" x="${x + width / 2}" y="${top + (index + 1) * leadingPx - 4}">${xml(word)}</text>\n`,
    )
    .join('');
}
