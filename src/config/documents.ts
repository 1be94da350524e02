/**
 * The settings as people read them, printed from the table of variables:
 * `.env.example` and the README's list. A test keeps both equal to this.
 */
import { VARIABLES, type Variable } from './variables.js';

const COLUMNS = 100;

/** The text of `.env.example`: what has a default is commented out. */
export function envExample(): string {
  const groups = [...new Set(VARIABLES.map(({ group }) => group))];
  const parts = groups.map((group) => {
    const variables = VARIABLES.filter((variable) => variable.group === group);
    const entries = variables.map(
      (variable) => `${wrap(variable.meaning.replaceAll('`', ''))}\n${assignment(variable)}`,
    );
    return `### ${group}\n\n${entries.join('\n\n')}\n`;
  });
  const head =
    '# Copy to .env for `npm run start:local`. A blank value counts as unset.\n# Printed by `node --import tsx src/config/print-env-example.ts`.\n';
  return `${head}\n${parts.join('\n')}`;
}

/** The README's settings table, as Markdown. */
export function settingsTable(): string {
  const rows = VARIABLES.map(({ name, default: value, meaning }) => {
    return `| \`${name}\` | ${value === null ? '' : `\`${value}\``} | ${meaning.replaceAll('|', '\\|')} |`;
  });
  return ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

function assignment({ name, default: value }: Variable): string {
  return value === null ? `${name}=` : `# ${name}=${value.replace('<mode>', 'local')}`;
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
