/**
 * Golden records: one saved row per state in which a session can be found.
 *
 * A file per version is kept for ever, because rows of that version may be in
 * somebody's database; only the file of the present version is ever rewritten.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AnyMachineSnapshot, type AnyStateNode, transition } from 'xstate';
import { z } from 'zod';
import type { SessionContext, SessionInput } from '../../machines/session/context.js';
import { sessionRules } from '../../machines/session/rules.js';
import { createSessionKind } from '../../src/effects/session-kind.js';
import type { ActorRow } from '../../src/ports/store.js';
import type { ActorKind } from '../../src/runtime/actor.js';
import { doneEvent, errorEvent, pendingEffect, timers } from '../../src/runtime/level.js';
import { begin, stateOf, toSaved } from '../../src/runtime/saved.js';
import {
  connectionEvents,
  connectionInputs,
  connectionKind,
  connectionSignature,
} from '../machines/connection-happenings.js';
import { answers, failure, outsideEvents } from '../machines/happenings.js';
import { pending } from '../support/pending.js';

/** One machine whose saved rows are kept. */
export interface Subject {
  readonly kind: ActorKind;
  /** Where actors of it begin. */
  readonly inputs: readonly unknown[];
  eventsIn(snapshot: AnyMachineSnapshot): { type: string }[];
  /** What tells situations apart. */
  signature(snapshot: AnyMachineSnapshot): string;
}

/** Nothing is performed here. */
export const sessions: Subject = {
  kind: createSessionKind(sessionRules(), {} as never),
  inputs: [
    {
      sessionId: 'devin-1',
      outpostId: 'outpost_env-1',
      sandboxName: 'devin-1-abc',
      acceptorPrefix: 'vercel-1-1',
      facts: pending,
    } satisfies SessionInput,
  ],
  eventsIn: sessionEvents,
  signature: ({ value, context }) => {
    const { facts, vm, stopFor, outcome, connected, restarts } = context as SessionContext;
    return JSON.stringify([value, facts, vm === null, stopFor, outcome, connected, restarts > 0]);
  },
};
export const connections: Subject = {
  kind: connectionKind,
  inputs: connectionInputs,
  eventsIn: connectionEvents,
  signature: connectionSignature,
};

const rowSchema = z.strictObject({
  machine: z.string(),
  version: z.int(),
  episode: z.int(),
  holdsSlot: z.boolean(),
  snapshot: z.unknown(),
  /** What the actor waits for. */
  effect: z.unknown(),
  timers: z.array(z.unknown()),
});
const fileSchema = z.strictObject({
  chart: z.string(),
  context: z.string(),
  rows: z.record(z.string(), rowSchema),
});
export type Golden = z.infer<typeof fileSchema>;

const directory = new URL('./golden/', import.meta.url);
const fileOf = ({ name }: ActorKind, version: number) => new URL(`${name}.v${version}.json`, directory);

/** The records of each version that was ever kept. */
export function readGoldens({ kind }: Subject): ReadonlyMap<number, Golden> {
  const versions = new RegExp(`^${kind.name}\\.v(\\d+)\\.json$`);
  const names = readdirSync(directory).flatMap((name) => versions.exec(name)?.[1] ?? []);
  return new Map(
    names.map((version) => {
      const text = readFileSync(fileOf(kind, Number(version)), 'utf8');
      return [Number(version), fileSchema.parse(JSON.parse(text))] as const;
    }),
  );
}

export function writeGolden({ kind }: Subject, golden: Golden): void {
  writeFileSync(fileOf(kind, kind.version), `${JSON.stringify(golden, null, 2)}\n`);
}

/** The records that the present machine makes. */
export function presentGolden(subject: Subject): Golden {
  const { kind } = subject;
  const rows = [...situations(subject)].map(([state, snapshot]) => {
    const { snapshot: saved, ...columns } = toSaved(kind, snapshot);
    const { state: _, ...rest } = columns;
    return [state, { ...rest, snapshot: JSON.parse(saved) as unknown, ...waitsFor(kind, snapshot) }] as const;
  });
  return { ...shapes(subject), rows: Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** As it would be compared after a way through JSON. */
export const waitsFor = (kind: ActorKind, snapshot: AnyMachineSnapshot) =>
  JSON.parse(JSON.stringify({ effect: pendingEffect(kind, snapshot), timers: timers(kind, snapshot) })) as {
    effect: unknown;
    timers: unknown[];
  };

/** The row as the store would give it. */
export function rowOf(state: string, { effect, timers, snapshot, ...columns }: Golden['rows'][string]) {
  return { ...columns, id: 'devin-1', state, snapshot: JSON.stringify(snapshot) } as unknown as ActorRow;
}

/** Digests of what a saved row's meaning hangs on. Prose and code that only the chart's names stand for are left out. */
export function shapes({ kind }: Subject): { chart: string; context: string } {
  const chart = JSON.stringify(kind.machine.config, (key, value: unknown) =>
    key === 'description' ? undefined : value,
  );
  return { chart: digest(chart), context: digest(JSON.stringify(z.toJSONSchema(kind.contextSchema))) };
}
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The states in which an actor can be saved: leaves that are not left at once. */
export function restingStates({ kind }: Subject): string[] {
  const leaves = (node: AnyStateNode): AnyStateNode[] => {
    const inner = Object.values(node.states);
    return inner.length === 0 ? [node] : inner.flatMap(leaves);
  };
  return leaves(kind.machine.root)
    .filter(({ always }) => always?.every(({ guard }) => guard !== undefined) ?? true)
    .map(({ path }) => path.join('.'))
    .sort();
}

/** For each state, the first situation in it that a walk over everything that can happen comes upon. */
function situations(subject: Subject): Map<string, AnyMachineSnapshot> {
  const { kind, inputs, eventsIn, signature } = subject;
  const queue = inputs.map((input) => begin(kind, input));
  const found = new Map(queue.map((first) => [stateOf(first), first]));
  const seen = new Set<string>();
  const wanted = restingStates(subject).length;
  for (let at = 0; at < queue.length && found.size < wanted; at++) {
    const snapshot = queue[at] as AnyMachineSnapshot;
    if (snapshot.status !== 'active') continue;
    for (const event of eventsIn(snapshot)) {
      const [next] = transition(kind.machine, snapshot, event as never);
      const sign = signature(next);
      if (seen.has(sign)) continue;
      seen.add(sign);
      queue.push(next);
      if (!found.has(stateOf(next))) found.set(stateOf(next), next);
    }
  }
  return found;
}

function sessionEvents(snapshot: AnyMachineSnapshot): { type: string }[] {
  const { kind } = sessions;
  const effect = pendingEffect(kind, snapshot);
  const outputs: readonly unknown[] = effect === null ? [] : answers[effect.name as keyof typeof answers];
  return [
    ...(effect === null
      ? []
      : [...outputs.map((output) => doneEvent(effect, output)), errorEvent(effect, failure)]),
    ...timers(kind, snapshot).map(({ event }) => event),
    ...outsideEvents(snapshot.context as SessionContext),
  ];
}
