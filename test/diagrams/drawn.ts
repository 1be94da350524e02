/** Reads a diagram back, as somebody does who looks at it: its boxes, its arrows, and what boxes say of others. */
export interface Drawn {
  boxes: string[];
  /** As `from -> to`. */
  arrows: string[];
  said: string[];
  beginning: string[];
  ends: string[];
  /** What an arrow or a box says, by `from -> to`. */
  labels: Map<string, string[]>;
}

const LINES = {
  title: /^(\w+) : \1$/,
  said: /^(\w+) : ([^:;#]+) → (\w+)$/,
  beginning: /^\[\*\] --> (\w+)$/,
  end: /^(\w+) --> \[\*\]$/,
  arrow: /^(\w+) --> (\w+) : ([^:;#]+)$/,
};

/** Throws at a line that is none of a diagram's. */
export function readDiagram(text: string): Drawn {
  const [head, ...lines] = text.trimEnd().split('\n');
  if (head !== 'stateDiagram-v2') throw new Error(`no head of a diagram: ${head}`);
  const drawn: Drawn = { boxes: [], arrows: [], said: [], beginning: [], ends: [], labels: new Map() };
  for (const line of lines) readLine(line.trim(), drawn);
  return drawn;
}

function readLine(line: string, drawn: Drawn): void {
  const [kind, [first = '', second = '', third = '']] = matchOf(line);
  if (kind === 'title') drawn.boxes.push(first);
  else if (kind === 'beginning') drawn.beginning.push(first);
  else if (kind === 'end') drawn.ends.push(first);
  else if (kind === 'arrow') {
    drawn.arrows.push(`${first} -> ${second}`);
    drawn.labels.set(`${first} -> ${second}`, third.split('<br/>'));
  } else {
    drawn.said.push(`${first} -> ${third}`);
    drawn.labels.set(`${first} -> ${third}`, second.split(' or<br/>'));
  }
}

function matchOf(line: string): [keyof typeof LINES, string[]] {
  for (const kind of Object.keys(LINES) as (keyof typeof LINES)[]) {
    const match = LINES[kind].exec(line);
    if (match) return [kind, match.slice(1)];
  }
  throw new Error(`no line of a diagram: ${line}`);
}
