/** `diagram <id>`: the lifecycle as a statechart, with where the session is and the way that it took. */
import { durationInWords } from '../dashboard/assets/format.js';
import { stateInWords } from '../dashboard/lifecycle.js';
import { type SessionDetails, sessionDetails } from '../details.js';
import { chart, topOf } from '../diagrams/chart.js';
import { outline, shortWords } from '../diagrams/outline.js';
import type { ReadableKind } from '../runtime/actor.js';
import { runLook } from './look.js';
import type { LookOptions } from './look-options.js';
import { type Leg, legsInLines, legsOf } from './path.js';
import { type Chart, LEGEND, statechart } from './statechart.js';
import { wantsColour } from './terminal.js';
import { clean, cut, line } from './text.js';
import { timeOf } from './times.js';
import { sayUnknown } from './unknown.js';

/** Where the output is no terminal. */
const COLUMNS = 110;

export function runDiagram(id: string, options: LookOptions): Promise<number> {
  return runLook(options, async (look) => {
    const details = await sessionDetails(look, id, timeOf);
    if (details === null) return sayUnknown(look, id);
    const { at, session } = details;
    const path = legsOf(details.timeline);
    const drawn = chartOf(look.kind, details, path);
    if (options.json) {
      look.printJson({ at, session, ...drawn, path });
      return 0;
    }
    const { isTTY, columns } = process.stdout;
    const width = (isTTY && columns) || COLUMNS;
    const since = durationInWords(at - session.stateSince);
    const head = [session.id, `${stateInWords(session.state)} for ${since}, episode ${session.episode}`];
    const waits = details.waiting === null ? [] : [details.waiting.clauses.join('; ')];
    for (const text of [...head, ...waits])
      look.print(cut(clean(text), isTTY ? width : Number.POSITIVE_INFINITY));
    look.print('');
    for (const spans of statechart(drawn)) look.print(line(spans, width, isTTY && wantsColour()).trimEnd());
    look.print(`\n${LEGEND}\n\nPath`);
    for (const text of legsInLines(path, width - 2)) look.print(`  ${text}`);
    return 0;
  });
}

function chartOf(kind: ReadableKind, { session }: SessionDetails, path: readonly Leg[]): Chart {
  const { states, drawn, said } = outline(chart(kind.machine));
  const order = states.map(({ name }) => name);
  const edges = [...drawn, ...said].sort((a, b) => order.indexOf(a.to) - order.indexOf(b.to));
  return {
    states: states.map(({ name, description }) => {
      const legs = path.filter(({ state }) => state === name);
      return {
        name,
        description,
        current: topOf(session.state) === name ? session.state.slice(name.length + 1) : null,
        visits: legs.length,
        ms: legs.reduce((sum, { ms }) => sum + ms, 0),
      };
    }),
    edges: edges.map(({ from, to, causes }) => ({
      from,
      to,
      causes: shortWords(causes),
      taken: path.filter(({ state }, index) => state === to && path[index - 1]?.state === from).length,
    })),
  };
}
