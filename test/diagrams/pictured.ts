/** Reads a picture back, as somebody does who looks at it: where its boxes, words and lines are. */
import { STYLES, widthOf } from '../../src/diagrams/picture/text.js';

export interface Element {
  name: string;
  attributes: Record<string, string>;
  inner: Element[];
  text: string;
}
export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export interface Pictured {
  root: Element;
  boxes: { state: string; area: Area; lines: string[]; words: Area[] }[];
  arrows: { title: string; isFailure: boolean; words: string[]; areas: Area[]; pieces: Area[] }[];
}

const ENTITY = /&#(\d+);/g;
const plain = (text: string) => text.replace(ENTITY, (_, code) => String.fromCharCode(Number(code)));

/** Throws at what is not well-formed. */
export function readXml(text: string): Element {
  const top: Element = { name: '', attributes: {}, inner: [], text: '' };
  const open = [top];
  for (const [whole, closing, name = '', rest = '', single, content] of text.matchAll(
    /<(\/?)([a-z]+)((?:\s[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<>]+)/g,
  )) {
    const current = open.at(-1) as Element;
    if (content !== undefined) current.text += plain(content);
    else if (closing === '/') {
      if (open.pop()?.name !== name) throw new Error(`not closed before ${whole}`);
    } else {
      const attributes = Object.fromEntries(
        [...rest.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, plain(value)]),
      );
      const element = { name, attributes, inner: [], text: '' };
      current.inner.push(element);
      if (single !== '/') open.push(element);
    }
  }
  const [root] = top.inner;
  if (open.length !== 1 || root === undefined) throw new Error('not closed at the end');
  return root;
}

export const within = (element: Element): Element[] => [element, ...element.inner.flatMap(within)];
const isOf = (kind: string) => (element: Element) =>
  (element.attributes.class ?? '').split(' ').includes(kind);

export function readPicture(text: string): Pictured {
  const root = readXml(text);
  const groups = within(root).filter(({ name }) => name === 'g');
  return {
    root,
    boxes: groups.filter(isOf('state')).map((group) => ({
      state: group.attributes['data-state'] ?? '',
      area: rectangle(childrenOf(group, 'rect')[0] as Element),
      lines: childrenOf(group, 'text').map((line) => line.text),
      words: childrenOf(group, 'text').map(areaOf),
    })),
    arrows: groups.filter(isOf('arrow')).map((group) => ({
      title: childrenOf(group, 'title')[0]?.text ?? '',
      isFailure: isOf('failure')(group),
      words: childrenOf(group, 'text').map((word) => word.text),
      areas: childrenOf(group, 'text').map(areaOf),
      pieces: childrenOf(group, 'path').flatMap(piecesOf),
    })),
  };
}

const childrenOf = ({ inner }: Element, name: string) => inner.filter((each) => each.name === name);
const number = ({ attributes }: Element, key: string) => Number(attributes[key]);

function rectangle(element: Element): Area {
  const [left, top] = [number(element, 'x'), number(element, 'y')];
  return { left, top, right: left + number(element, 'width'), bottom: top + number(element, 'height') };
}

function areaOf(element: Element): Area {
  const style = Object.values(STYLES).find((each) => each.class === element.attributes.class);
  if (style === undefined) throw new Error(`no style of text: ${element.attributes.class}`);
  const width = widthOf(element.text, style);
  const left = number(element, 'x') - (style === STYLES.label ? width / 2 : 0);
  const baseline = number(element, 'y');
  return {
    left,
    right: left + width,
    top: baseline - style.sizePx * 0.75,
    bottom: baseline + style.sizePx * 0.2,
  };
}

function piecesOf({ attributes }: Element): Area[] {
  const corners = [...(attributes.d ?? '').matchAll(/[\d.-]+ [\d.-]+/g)].map(([pair]) =>
    pair.split(' ').map(Number),
  );
  return corners.slice(1).map(([x = 0, y = 0], index) => {
    const [fromX = 0, fromY = 0] = corners[index] ?? [];
    return {
      left: Math.min(x, fromX),
      right: Math.max(x, fromX),
      top: Math.min(y, fromY),
      bottom: Math.max(y, fromY),
    };
  });
}

/** Whether two areas share more than a border. */
export const overlap = (a: Area, b: Area): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
export const isInside = (a: Area, b: Area): boolean =>
  a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
