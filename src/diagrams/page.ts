/** The page that says what the machines do: pictures, a table and the invariants for each. */
import type { State } from './chart.js';
import { mermaid } from './mermaid.js';
import { outline } from './outline.js';
import { type Crashes, table } from './table.js';

export interface Subject {
  chart: State;
  /** Its states that have a picture of their own. */
  pictured: State[];
  crashes: Crashes;
  invariants: readonly { id: string; sentence: string }[];
  /** How an episode may end, and whether that counts against the session. */
  outcomes: readonly { name: string; meaning: string; isFailure: boolean }[];
}

export function page(session: Subject, connection: Subject, command: string): string {
  return `# The lifecycles, as the machines have them

Everything on this page and beside it is read from the machines that run, by \`${command}\`; \`npm run check\` fails
when the two differ. So this is the specification.

How to read the pictures: a box is a state, with the effect that it has performed (in the other colour), its deadlines
and its tags (\`#\`). An arrow says what leads on: what was heard, which deadline came, what an effect answered, what
holds; \`…\` that there is more. Dashed arrows are effects that failed after all their tries. Where an arrow for each
would make the picture unreadable, the boxes say in words where they lead (→) and whence they are entered (←).

How to read the tables: names stand as in the machine, so that one search finds them. An effect is what \`src/effects/\`
has under its name, a deadline what the machine's \`deadlines.ts\` has; what else leads on is an event, or else a guard
of \`setup.ts\` or \`guards.ts\`. \`as\` says how the episode ends by it; \`(noted)\`, that the state stays. What a state may
do, the steps within it may do as well.

What a crash means: a driver that dies is missed when its lease ends, half a minute later at most. The next one finds
the saved state, with the effect that is pending and the deadlines as instants; those that have passed meanwhile are
due at once. What has been heard waits in the database until the transition that takes it is saved.

## A session

How one Devin session is served. The machine is [machines/session.ts](../machines/session.ts).

${described(session)}

## A connection

How a deployment comes to its connection with Devin, and how the project of somebody is set up. The machine is
[machines/connection.ts](../machines/connection.ts).

${described(connection)}
`;
}

function described({ chart, pictured, crashes, invariants, outcomes }: Subject): string {
  const { name } = chart;
  return `${picture(`${name}-overview`, `The ${name}’s states and what leads from one to another`)}

${insides(chart, pictured)}
### Every state of a ${name}

${noted(chart)}${table(chart, crashes)}
${ended(outcomes)}
### What always holds of a ${name}

${invariants.map(({ id, sentence }) => `- **${id}**: ${sentence}`).join('\n')}

### A ${name} elsewhere

[${name}.svg](${name}.svg) shows every state in one picture, [${name}.json](${name}.json) is what
[Stately Studio](https://stately.ai/editor) imports, [${name}.mmd](${name}.mmd) is the outline for Mermaid:

<details><summary>the outline, drawn by Mermaid</summary>

\`\`\`mermaid
${mermaid(outline(chart))}\`\`\`

</details>`;
}

const picture = (file: string, title: string) => `![${title}](${file}.svg)`;

const insides = ({ name }: State, pictured: State[]) =>
  pictured
    .map(
      (state) =>
        `### Inside ${state.name}\n\n${picture(`${name}-${state.name}`, `The steps of ${state.name}`)}\n`,
    )
    .join('\n');

function ended(outcomes: Subject['outcomes']): string {
  if (outcomes.length === 0) return '';
  const rows = outcomes.map(
    ({ name, meaning, isFailure }) => `| **${name}** | ${meaning} | ${isFailure ? 'yes' : ''} |`,
  );
  return `
### How an episode ends

A failure makes the next episode wait; too many in a row park the session.

| outcome | meaning | a failure |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function noted({ transitions }: State): string {
  const events = transitions.map(({ cause }) => `\`${cause.name}\``);
  return events.length === 0
    ? ''
    : `In every state, ${events.join(' and ')} are noted, and conditions are judged anew.\n\n`;
}
