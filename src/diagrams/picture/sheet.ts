/**
 * The style sheet of the pictures. The background stays the reader's own.
 *
 * No custom properties: not every program that shows SVG knows them.
 */
import { STYLES } from './text.js';

interface Colours {
  text: string;
  quiet: string;
  line: string;
  fill: string;
  around: string;
  effect: string;
  warning: string;
}

const LIGHT: Colours = {
  text: '#1f2328',
  quiet: '#59636e',
  line: '#59636e',
  fill: '#f6f8fa',
  around: '#ffffff',
  effect: '#0550ae',
  warning: '#bc4c00',
};
const DARK: Colours = {
  text: '#e6edf3',
  quiet: '#9198a1',
  line: '#9198a1',
  fill: '#1c232c',
  around: '#12181f',
  effect: '#79c0ff',
  warning: '#f0883e',
};

const SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Helvetica,Arial,sans-serif';
const MONO = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace';

const fonts = Object.values(STYLES).map((style) => {
  const { bold, mono } = { bold: false, mono: false, ...style };
  return `.statechart .${style.class}{font:${bold ? '600 ' : ''}${style.sizePx}px ${mono ? MONO : SANS}}`;
});

const rules = (colours: Colours): string[] => [
  `.statechart text{fill:${colours.text}}`,
  `.statechart .small,.statechart .code,.statechart .exit{fill:${colours.quiet}}`,
  `.statechart .effect{fill:${colours.effect}}`,
  `.statechart .failed,.statechart .failure .label{fill:${colours.warning}}`,
  `.statechart rect{fill:${colours.fill};stroke:${colours.line}}`,
  `.statechart .around>rect{fill:${colours.around}}`,
  `.statechart path{fill:none;stroke:${colours.line};stroke-width:1.4}`,
  `.statechart polygon,.statechart .start{fill:${colours.line}}`,
  `.statechart .failure path{stroke:${colours.warning}}`,
  `.statechart .failure polygon{fill:${colours.warning}}`,
];

export const SHEET = `${[
  ...fonts,
  '.statechart .label{text-anchor:middle}',
  '.statechart .failure path{stroke-dasharray:5 4}',
  ...rules(LIGHT),
  `@media (prefers-color-scheme:dark){\n${rules(DARK).join('\n')}\n}`,
].join('\n')}\n`;
