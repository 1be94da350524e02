/**
 * A machine as a table: each state with its meaning, its effect, what leaves it,
 * its deadlines, and what a crash there means.
 */
import { type Cause, type State, statesWithin, type Transition } from './chart.js';

export type Crashes = Readonly<Record<string, string>>;

const HEAD = `| state | meaning | effect | what leads where | deadlines | a crash here |
| --- | --- | --- | --- | --- | --- |`;

export function table(chart: State, crashes: Crashes): string {
  const [, ...states] = statesWithin(chart);
  return [HEAD, ...states.map((state) => row(state, crashes))].join('\n');
}

function row(state: State, crashes: Crashes): string {
  const { path, description, effect, deadlines, tags } = state;
  const cells = [
    `**${path}**${tags.map((tag) => `<br/>\`${tag}\``).join('')}`,
    description,
    effect === null ? '' : code(effect),
    exits(state).join('<br/>'),
    deadlines.map(code).join('<br/>'),
    crashOf(state, crashes),
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

const code = (name: string) => `\`${name}\``;
const cell = (text: string) => text.replace(/\|/g, '\\|').replace(/\n/g, ' ');

/** One line for each target, and one for what is only noted. */
function exits({ path, transitions }: State): string[] {
  const targets = [...new Set(transitions.map(({ to }) => to))];
  return targets.map((to) => {
    const causes = transitions.filter((each) => each.to === to).map((each) => said(each, transitions));
    const where = to === null ? '(noted)' : to === path ? '→ again' : `→ ${to}`;
    return `${[...new Set(causes)].join(', ')} ${where}`;
  });
}

/** By the names that the machine uses. */
function said({ cause, guard, outcome }: Transition, all: Transition[]): string {
  const named = guard === null ? null : code(guard);
  const answers = all.filter((each) => each.cause.kind === 'answer');
  const words: Record<Cause['kind'], string> = {
    event: named === null ? code(cause.name) : `${code(cause.name)} if ${named}`,
    deadline: code(cause.name),
    answer: named ?? (answers.length === 1 ? 'any answer' : 'any other answer'),
    failure: 'the effect failed',
    condition: named ?? 'else',
  };
  return outcome === null ? words[cause.kind] : `${words[cause.kind]} as ${outcome}`;
}

function crashOf({ effect, final, inner, transitions }: State, crashes: Crashes): string {
  if (inner.length > 0) return 'as its steps say';
  if (final) return 'Nothing is left to do.';
  if (effect !== null) return crashes[effect] ?? '';
  const isLeftAtOnce = transitions.some(({ cause, guard }) => cause.kind === 'condition' && guard === null);
  return isLeftAtOnce ? 'It is never saved: the same step leaves it.' : 'Nothing is under way.';
}
