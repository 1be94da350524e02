/** What a session has, a row for each thing that there is: its name, and what is to be said of it. */
import { inWords } from '../dashboard/lifecycle.js';
import type { Remote, Sandbox, SessionDetails } from '../details.js';
import { clean } from './text.js';
import { timeOf } from './times.js';

export function facts({ at, session, sandbox, claim, remote }: SessionDetails): string[][] {
  const time = timeOf(at);
  return [
    ...(session.outcome === null ? [] : [['outcome', inWords(session.outcome)]]),
    ...(sandbox === null ? [] : sandboxFacts(sandbox, time)),
    ...(claim === null ? [] : [['claim', `as ${claim.acceptor}, ${endOf(claim.deadlineAt, time)}`]]),
    ...(remote === null ? [] : [['remote', remoteFacts(remote, time)]]),
    ['slot', session.holdsSlot ? 'held' : 'not held'],
  ].map((row) => row.map(clean));
}

type TimeOf = (at: number) => string;

function sandboxFacts({ name, vm, snapshotKeptUntil }: Sandbox, time: TimeOf): string[][] {
  if (vm === null) {
    const until = snapshotKeptUntil === null ? '' : ` until ${time(snapshotKeptUntil)}`;
    return [
      ['sandbox', name],
      ['snapshot', `the newest is kept${until}`],
    ];
  }
  const most = vm.limited ? ', the most that the plan allows' : '';
  return [
    ['sandbox', name],
    ['vm', `${vm.id}, since ${time(vm.startedAt)}, expires ${time(vm.expiresAt)}${most}`],
  ];
}

function remoteFacts({ launches, launchedAt, connected, restarts, vmLosses }: Remote, time: TimeOf): string {
  const launched = `${launches} ${launches === 1 ? 'launch' : 'launches'}`;
  return [
    launchedAt === null ? launched : `${launched}, the latest ${time(launchedAt)}`,
    connected ? 'connected' : 'not connected',
    ...(restarts === 0 ? [] : [`restarts: ${restarts}`]),
    ...(vmLosses === 0 ? [] : [`vms lost: ${vmLosses}`]),
  ].join(', ');
}

const endOf = (deadlineAt: number | null, time: TimeOf): string =>
  deadlineAt === null ? 'without a deadline' : `ends ${time(deadlineAt)}`;
