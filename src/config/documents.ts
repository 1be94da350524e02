/**
 * The settings as people read them, printed from the table of variables:
 * `.env.example` and the README's list. A test keeps both equal to this.
 */
import { PLAN_BOUNDS, PLANS } from './plans.js';
import { defaultOf } from './values.js';
import { type Default, VARIABLES, type Variable } from './variables.js';

const COLUMNS = 100;
const HEAD = [
  'Copy to .env. A blank value counts as unset.',
  'Some defaults depend on where it runs: embedded (`npm start`), local (`npm run start:local`), server (`npm run serve`) or vercel (deployed there); others on the plan. What stands here is for local, on the pro plan.',
  'Printed by `node --import tsx src/config/print-env-example.ts`.',
];

/** The text of `.env.example`: what has a default is commented out. */
export function envExample(): string {
  const groups = [...new Set(VARIABLES.map(({ group }) => group))];
  const parts = groups.map((group) => {
    const variables = VARIABLES.filter((variable) => variable.group === group);
    const entries = variables.map((variable) => `${explanation(variable)}\n${assignment(variable)}`);
    return `### ${group}\n\n${entries.join('\n\n')}\n`;
  });
  return `${HEAD.map(wrap).join('\n')}\n\n${parts.join('\n')}`;
}

/** The README's settings table, as Markdown: a bold row before each group. */
export function settingsTable(): string {
  let group: string | null = null;
  const rows = VARIABLES.flatMap((variable) => {
    const heading = variable.group === group ? [] : [`| **${variable.group}** | | |`];
    group = variable.group;
    return [...heading, row(variable)];
  });
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function row(variable: Variable): string {
  const cells = [`\`${variable.name}\``, defaultText(variable.default), meaningOf(variable)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function explanation(variable: Variable): string {
  const varies = variable.default !== null && typeof variable.default === 'object';
  const text = `${meaningOf(variable)}${varies ? ` Default: ${defaultText(variable.default)}.` : ''}`;
  return wrap(text.replaceAll('`', ''));
}

/** With the most that each plan allows, where the default does not say it. */
function meaningOf({ name, meaning, default: value }: Variable): string {
  const bound = PLAN_BOUNDS.find((bounded) => bounded === name);
  if (bound === undefined || typeof value !== 'string') return meaning;
  const most = Object.entries(PLANS).map(([plan, bounds]) => [plan, String(bounds[bound])]);
  return `${meaning} At most ${defaultText(Object.fromEntries(most))}.`;
}

function assignment(variable: Variable): string {
  const value = defaultOf(variable, { mode: 'local', plan: 'pro', env: {} });
  return value === null ? `${variable.name}=` : `# ${variable.name}=${value}`;
}

/** The value, or each of them with where it holds: `60000` (server, vercel). */
function defaultText(value: Default): string {
  if (value === null) return '';
  if (typeof value === 'string') return `\`${value}\``;
  const places = Object.entries(value);
  return [...new Set(places.map(([, text]) => text))]
    .map((text) => {
      const where = places.filter(([, other]) => other === text).map(([place]) => place);
      return `\`${text}\` (${where.join(', ')})`;
    })
    .join(', ');
}

function wrap(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 3 > COLUMNS) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.map((line) => `# ${line}`).join('\n');
}
