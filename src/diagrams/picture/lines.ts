/** Lines of upright and level pieces: broken by their label, with round corners and a head. */
import type { Point, Rect } from './layout.js';

/** The line without the part that its label stands on. A label stands on an upright piece. */
export function around(path: Point[], label: Rect | null): Point[][] {
  if (label === null) return [path];
  const end = path.findIndex((point, index) => index > 0 && crosses(path[index - 1] as Point, point, label));
  const [before, after] = [path[end - 1], path[end]];
  if (before === undefined || after === undefined) return [path];
  const [over, under] = [label.y, label.y + label.height].map((y) => ({ x: before.x, y })) as [Point, Point];
  const [enter, leave] = after.y > before.y ? [over, under] : [under, over];
  return [
    [...path.slice(0, end), enter],
    [leave, ...path.slice(end)],
  ];
}

function crosses(a: Point, b: Point, { x, y, width, height }: Rect): boolean {
  const middle = y + height / 2;
  return (
    a.x === b.x && a.x > x && a.x < x + width && Math.min(a.y, b.y) < middle && Math.max(a.y, b.y) > middle
  );
}

const RADIUS_PX = 6;

/** As the data of an SVG path. */
export function rounded(points: Point[]): string {
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

/** The corners of an arrow's head. */
export function head(path: Point[]): string {
  const [before, tip] = path.slice(-2);
  if (before === undefined || tip === undefined) return '';
  const [dx, dy] = [Math.sign(tip.x - before.x), Math.sign(tip.y - before.y)];
  const foot = { x: tip.x - dx * HEAD_PX.long, y: tip.y - dy * HEAD_PX.long };
  const [sx, sy] = [dy * HEAD_PX.wide, dx * HEAD_PX.wide];
  return `${tip.x},${tip.y} ${foot.x + sx},${foot.y + sy} ${foot.x - sx},${foot.y - sy}`;
}
