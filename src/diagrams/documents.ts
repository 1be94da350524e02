/**
 * The files that show the machines, each with the text it should have.
 *
 * Nothing of them is written by hand but what surrounds the markers in the
 * project's README.
 */
import type { AnyStateMachine } from 'xstate';
import { connectionCrashes } from '../../machines/connection/crashes.js';
import { connectionInvariants } from '../../machines/connection/invariants.js';
import { createConnectionMachine } from '../../machines/connection.js';
import { OUTCOMES } from '../../machines/session/context.js';
import { sessionCrashes } from '../../machines/session/crashes.js';
import { FAILURES } from '../../machines/session/guards.js';
import { sessionInvariants } from '../../machines/session/invariants.js';
import { outcomeMeanings } from '../../machines/session/outcomes.js';
import { createSessionMachine } from '../../machines/session.js';
import { BugError } from '../errors.js';
import { chart } from './chart.js';
import { configOf } from './config.js';
import { mermaid } from './mermaid.js';
import { outline } from './outline.js';
import { page, type Subject } from './page.js';
import { type Box, inside, overview, whole } from './picture/boxes.js';
import { layout } from './picture/layout.js';
import { svg } from './picture/svg.js';

/** The command that brings the files up to date. */
export const COMMAND = 'npm run diagrams';

/** Relative to the project. */
export const FOLDER = 'visualizations';

export interface Document {
  /** Relative to the project. */
  path: string;
  /** What the file should hold, given what it holds now. */
  text: (current: string) => string;
}

const BEGIN = `<!-- The lifecycle, drawn by \`${COMMAND}\`: begin -->`;
const END = '<!-- The lifecycle: end -->';

/** An inside of so many steps has a picture of its own; a smaller one is seen well enough among the others. */
const STEPS_PICTURED = 4;

export async function documents(): Promise<Document[]> {
  const session = createSessionMachine();
  const connection = createConnectionMachine();
  const subjects = {
    session: {
      ...chartOf(session),
      crashes: sessionCrashes,
      invariants: sessionInvariants,
      outcomes: OUTCOMES.map((name) => ({
        name,
        meaning: outcomeMeanings[name],
        isFailure: FAILURES.has(name),
      })),
    },
    connection: {
      ...chartOf(connection),
      crashes: connectionCrashes,
      invariants: connectionInvariants,
      outcomes: [],
    },
  };
  return [
    ...(await drawn(session, subjects.session)),
    ...(await drawn(connection, subjects.connection)),
    fixed('README.md', page(subjects.session, subjects.connection, COMMAND)),
    { path: 'README.md', text: withPicture },
  ];
}

function chartOf(machine: AnyStateMachine): Pick<Subject, 'chart' | 'pictured'> {
  const whole = chart(machine);
  return { chart: whole, pictured: whole.inner.filter(({ inner }) => inner.length >= STEPS_PICTURED) };
}

async function drawn(machine: AnyStateMachine, { chart, pictured }: Subject): Promise<Document[]> {
  const { name } = chart;
  const pictures = await Promise.all([
    picture(name, whole(chart), `Every state of a ${name}`),
    picture(`${name}-overview`, overview(chart), `The states of a ${name}`),
    ...pictured.map((state) =>
      picture(`${name}-${state.name}`, inside(state, chart), `The steps of ${state.name}`),
    ),
  ]);
  return [
    ...pictures,
    fixed(`${name}.mmd`, mermaid(outline(chart))),
    fixed(`${name}.json`, configOf(machine)),
  ];
}

const fixed = (name: string, text: string): Document => ({
  path: `${FOLDER}/${name}`,
  text: () => text,
});

const picture = async (name: string, box: Box, title: string): Promise<Document> =>
  fixed(`${name}.svg`, svg(await layout(box), title));

function withPicture(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END, begin);
  if (begin < 0 || end < 0) throw new BugError(`README.md: the lines ${BEGIN} and ${END} are missing`);
  return `${readme.slice(0, begin)}${BEGIN}\n${PICTURE}\n${readme.slice(end)}`;
}

const PICTURE = `[![The states of a session and what leads from one to another](${FOLDER}/session-overview.svg)](${FOLDER}/README.md)`;
