/** What can happen to a connection: answers of effects, and news, once for each kind that decisions can tell apart. */
import type { AnyMachineSnapshot } from 'xstate';
import type { ConnectionContext, ConnectionInput } from '../../machines/connection/context.js';
import { createConnectionKind } from '../../src/effects/connection-kind.js';
import { doneEvent, errorEvent, pendingEffect, timers } from '../../src/runtime/level.js';

/** Nothing is performed here. */
export const connectionKind = createConnectionKind({} as never);

export const connectionInputs: readonly ConnectionInput[] = [
  { project: null, endsAt: null },
  {
    project: { projectId: 'prj_1', teamId: null, configurationId: 'icfg_1', name: null, written: [] },
    endsAt: 86_400_000,
  },
];

const AT = 1_000;
const outpost = { outpostId: 'outpost_env-1', apiHost: 'api.devin.ai', outpostName: 'one' };
const refused = { kind: 'refused', at: AT, problem: 'no' };
const answers: Readonly<Record<string, readonly unknown[]>> = {
  exchangeInstallation: [{ kind: 'installed', at: AT, teamId: 'team_1', name: 'mine' }, refused],
  exchangeCode: [{ kind: 'granted', at: AT, outpost }, refused],
  adoptConnection: [{ kind: 'adopted', at: AT, outpost }, refused],
  configureProject: [
    { kind: 'written', at: AT, written: ['A', 'B'], problem: null },
    { kind: 'partly', at: AT, written: ['A'], problem: 'B could not be written' },
  ],
  forgetAttempt: [{ at: AT }],
  forgetConnection: [{ at: AT }],
};
const failure = { message: 'did not work', at: AT };

export function connectionEvents(snapshot: AnyMachineSnapshot): { type: string }[] {
  const effect = pendingEffect(connectionKind, snapshot);
  const results =
    effect === null
      ? []
      : [
          ...(answers[effect.name] ?? []).map((output) => doneEvent(effect, output)),
          errorEvent(effect, failure),
        ];
  const due = timers(connectionKind, snapshot).map(({ event }) => event);
  return [...results, ...due, ...news(snapshot.context as ConnectionContext)];
}

function news({ attemptId }: ConnectionContext): { type: string }[] {
  const next = attemptId === 'one' ? 'two' : 'one';
  const attempts = [attemptId, 'stranger'].filter((id) => id !== null);
  return [
    { type: 'authorization.requested', attemptId: next, authorizeBy: 2_000, retryBy: 3_000 },
    ...attempts.flatMap((id) => [
      { type: 'code.returned', attemptId: id },
      { type: 'authorization.denied', attemptId: id, problem: 'declined' },
      { type: 'retry.requested', attemptId: id },
    ]),
    { type: 'disconnect.requested' },
  ] as { type: string }[];
}

export const connectionSignature = ({ value, context }: AnyMachineSnapshot) => {
  const { project, attemptId, granted, current, endsAt } = context as ConnectionContext;
  return JSON.stringify([
    value,
    project?.written,
    attemptId,
    granted === null,
    current === null,
    endsAt === null,
  ]);
};
