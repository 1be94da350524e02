/**
 * Where everything of a picture goes: ELK's layered layout, from top to bottom
 * in the machine's order.
 *
 * Deterministic: ELK's seed is fixed, and text is measured by a table.
 */
import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { Arrow, Box } from './boxes.js';
import { STYLES, widthOf } from './text.js';

export interface Placed {
  box: Box;
  at: Rect;
  inner: Placed[];
  /** Where a box with an inside begins. */
  start: Rect | null;
  arrows: PlacedArrow[];
}
export interface PlacedArrow {
  /** Null: from the point where a box begins. */
  arrow: Arrow | null;
  path: Point[];
  label: Rect | null;
}
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Point {
  x: number;
  y: number;
}

/** Between a box's border and its text. */
export const PADDING_PX = 10;
export const SET_IN_PX = 12;
const START_PX = 12;
const GAP_PX = 4;

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.randomSeed': '1',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.layering.strategy': 'COFFMAN_GRAHAM',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'HEAD_LAYER',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.spacing.nodeNode': '20',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '10',
  'elk.spacing.edgeLabel': '2',
  'elk.layered.spacing.nodeNodeBetweenLayers': '20',
  'elk.layered.spacing.edgeNodeBetweenLayers': '12',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
};

export async function layout(root: Box): Promise<Placed> {
  const placed = await new ELK.default().layout(nodeOf(root, true));
  return place(root, placed, { x: 0, y: 0 });
}

/** From one box to the next in the machine's order: the way that should be seen first. */
const isStep = ({ from, to, failure }: Arrow, { inner }: Box) => {
  const order = inner.map(({ id }) => id);
  return !failure && order.indexOf(to) === order.indexOf(from) + 1;
};
const MAIN = {
  'elk.layered.priority.straightness': '10',
  'elk.layered.priority.shortness': '10',
  'elk.layered.priority.direction': '10',
};

const startOf = (box: Box) => `${box.id}/start`;
const heightOf = ({ lines }: Box) =>
  lines.length === 0 ? 0 : lines.reduce((sum, { style }) => sum + style.leadingPx, 2 * PADDING_PX);
const widthOfLines = ({ lines }: Box) =>
  Math.max(0, ...lines.map(({ text, style, isSetIn }) => widthOf(text, style) + (isSetIn ? SET_IN_PX : 0))) +
  2 * PADDING_PX;

function nodeOf(box: Box, isRoot = false): ElkNode {
  const [width, height] = [widthOfLines(box), heightOf(box)];
  const id = box.id || 'root';
  if (box.inner.length === 0) return { id, width, height };
  const start: ElkNode[] =
    box.initial === null ? [] : [{ id: startOf(box), width: START_PX, height: START_PX }];
  return {
    id,
    layoutOptions: {
      ...OPTIONS,
      'elk.padding': `[top=${height + (isRoot ? 8 : 6)},left=${isRoot ? 8 : 14},bottom=${isRoot ? 8 : 14},right=${isRoot ? 8 : 14}]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},${height})`,
    },
    children: [...start, ...box.inner.map((inner) => nodeOf(inner))],
    edges: [
      ...(box.initial === null ? [] : [edge(startOf(box), box.initial, `${id}/begin`)]),
      ...box.arrows.map((arrow, index) => ({
        ...edge(arrow.from, arrow.to, `${id}/${index}`),
        labels: [labelOf(arrow)],
        layoutOptions: isStep(arrow, box) ? MAIN : {},
      })),
    ],
  };
}

const edge = (from: string, to: string, id: string): ElkExtendedEdge => ({
  id,
  sources: [from],
  targets: [to],
});

const labelOf = ({ words }: Arrow) => ({
  text: words.join(),
  width: Math.max(...words.map((word) => widthOf(word, STYLES.label))) + 2 * GAP_PX,
  height: words.length * STYLES.label.leadingPx + 2 * GAP_PX,
  layoutOptions: { 'elk.edgeLabels.inline': 'true' },
});

function place(box: Box, node: ElkNode, origin: Point): Placed {
  const at = rect(node, origin);
  const within = (id: string) => node.children?.find((child) => child.id === id);
  const start = box.initial === null ? undefined : within(startOf(box));
  return {
    box,
    at,
    inner: box.inner.map((inner) => place(inner, within(inner.id) as ElkNode, at)),
    start: start === undefined ? null : rect(start, at),
    arrows: (node.edges ?? []).map((each) => {
      const [section] = each.sections ?? [];
      const [label] = each.labels ?? [];
      const points = section ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint] : [];
      return {
        arrow: each.id.endsWith('/begin') ? null : (box.arrows[Number(each.id.split('/').at(-1))] as Arrow),
        path: points.map(({ x, y }) => ({ x: round(at.x + x), y: round(at.y + y) })),
        label: label === undefined ? null : rect(label, at),
      };
    }),
  };
}

const round = (pixels: number) => Math.round(pixels * 2) / 2;
const rect = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Rect>, origin: Point): Rect => ({
  x: round(origin.x + x),
  y: round(origin.y + y),
  width: round(width),
  height: round(height),
});
