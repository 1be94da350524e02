/**
 * The files that show the session machine, each with the text it should have.
 *
 * Nothing of them is written by hand but what surrounds the markers in the
 * project's README.
 */
import { createConnectionMachine } from '../../machines/connection.js';
import { createSessionMachine } from '../../machines/session.js';
import { BugError } from '../errors.js';
import { mermaid } from './mermaid.js';
import { type Outline, outline } from './outline.js';

/** The command that brings the files up to date. */
export const COMMAND = 'npm run diagrams';

export interface Document {
  /** Relative to the project. */
  path: string;
  /** What the file should hold, given what it holds now. */
  text: (current: string) => string;
}

const BEGIN = `<!-- The lifecycle, drawn by \`${COMMAND}\`: begin -->`;
const END = '<!-- The lifecycle: end -->';

export function documents(): Document[] {
  const session = outline(createSessionMachine());
  const connection = outline(createConnectionMachine());
  const diagram = mermaid(session);
  return [
    { path: 'visualizations/session.mmd', text: () => diagram },
    { path: 'visualizations/connection.mmd', text: () => mermaid(connection) },
    { path: 'visualizations/README.md', text: () => page(session, connection) },
    { path: 'README.md', text: (current) => withDiagram(current, diagram) },
  ];
}

function page(session: Outline, connection: Outline): string {
  return `# The lifecycles, as the machines have them

## A session

This is how one Devin session moves from state to state, read from the machine that runs
([machines/session.ts](../machines/session.ts)) by \`${COMMAND}\`; \`npm run check\` fails when the two differ.
Arrows say in a few words what leads from one state to another, \`…\` that there is more; what leads from several
states to the same one for the same reason stands in their boxes. The steps inside a state are left out. The
diagram alone is in [session.mmd](session.mmd).

${fenced(mermaid(session))}

${described(session)}

## A connection

This is how a deployment comes to its connection with Devin, and how the project of somebody is set up, from
[machines/connection.ts](../machines/connection.ts) in the same way; the diagram alone is in
[connection.mmd](connection.mmd).

${fenced(mermaid(connection))}

${described(connection)}
`;
}

const described = ({ states }: Outline) =>
  states.map(({ name, description }) => `- **${name}**: ${description}`).join('\n');

function withDiagram(readme: string, diagram: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new BugError(`README.md: the lines ${BEGIN} and ${END} are missing`);
  return `${readme.slice(0, begin)}${BEGIN}\n${fenced(diagram)}\n${readme.slice(end)}`;
}

const fenced = (diagram: string) => `\`\`\`mermaid\n${diagram}\`\`\``;
