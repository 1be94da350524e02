/**
 * A placed picture as SVG, for light and dark, without a script.
 *
 * Boxes carry their state's path in `data-state`, so that a page that shows the
 * picture can light the current one.
 */
import type { Line } from './boxes.js';
import { PADDING_PX, type Placed, type PlacedArrow, type Point, type Rect, SET_IN_PX } from './layout.js';
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
  const lines = label === null ? [path] : around(path, label);
  const title =
    arrow === null ? '' : `<title>${xml(`${arrow.from} → ${arrow.to}: ${arrow.names.join('; ')}`)}</title>\n`;
  return `<g class="${kind}">
${title}${lines.map((line) => `<path d="${rounded(line)}"/>\n`).join('')}${head(path)}${
  arrow === null || label === null ? '' : wordsOf(arrow.words, label)
}</g>
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

/** The line without the part that its label stands on. */
function around(path: Point[], label: Rect): Point[][] {
  const lines: Point[][] = [[]];
  const isIn = ({ x, y }: Point) =>
    x > label.x && x < label.x + label.width && y > label.y && y < label.y + label.height;
  path.forEach((point, index) => {
    const before = path[index - 1];
    if (before !== undefined) {
      const cuts = crossings(before, point, label);
      for (const cut of cuts) {
        if (isIn(middle(before, cut)) || lines.at(-1)?.length === 0) lines.push([cut]);
        else {
          lines.at(-1)?.push(cut);
          lines.push([]);
        }
      }
    }
    if (!isIn(point)) lines.at(-1)?.push(point);
  });
  return lines.filter(({ length }) => length > 1);
}

/** Where an upright or level segment crosses the border of a box, in its direction. */
function crossings(a: Point, b: Point, { x, y, width, height }: Rect): Point[] {
  const between = (value: number, one: number, other: number) =>
    value > Math.min(one, other) && value < Math.max(one, other);
  const upright = a.x === b.x;
  const found = upright
    ? [y, y + height]
        .filter((at) => between(at, a.y, b.y) && between(a.x, x, x + width))
        .map((at) => ({ x: a.x, y: at }))
    : [x, x + width]
        .filter((at) => between(at, a.x, b.x) && between(a.y, y, y + height))
        .map((at) => ({ x: at, y: a.y }));
  const backwards = upright ? a.y > b.y : a.x > b.x;
  return backwards ? found.reverse() : found;
}

const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });

const RADIUS_PX = 6;

function rounded(points: Point[]): string {
  const [first, ...rest] = points;
  const parts = rest.map((point, index) => {
    const before = points[index] as Point;
    const after = rest[index + 1];
    if (after === undefined) return `L${point.x} ${point.y}`;
    const from = towards(point, before);
    const to = towards(point, after);
    return `L${from.x} ${from.y}Q${point.x} ${point.y} ${to.x} ${to.y}`;
  });
  return `M${first?.x} ${first?.y}${parts.join('')}`;
}

/** A little way from one point to another. */
function towards(from: Point, to: Point): Point {
  const length = Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
  const by = Math.min(RADIUS_PX, length / 2) / (length || 1);
  return { x: from.x + (to.x - from.x) * by, y: from.y + (to.y - from.y) * by };
}

const HEAD_PX = { long: 8, wide: 4 };

function head(path: Point[]): string {
  const [before, tip] = path.slice(-2);
  if (before === undefined || tip === undefined) return '';
  const [dx, dy] = [Math.sign(tip.x - before.x), Math.sign(tip.y - before.y)];
  const foot = { x: tip.x - dx * HEAD_PX.long, y: tip.y - dy * HEAD_PX.long };
  const [sx, sy] = [dy * HEAD_PX.wide, dx * HEAD_PX.wide];
  return `<polygon points="${tip.x},${tip.y} ${foot.x + sx},${foot.y + sy} ${foot.x - sx},${foot.y - sy}"/>\n`;
}
