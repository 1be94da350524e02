/**
 * What a session waits for, in words, for page and terminal alike.
 *
 * Pure: the same situation, the same words. It tells of deadlines and decides
 * none; which are armed is the machine's business.
 */
import type { SessionContext } from '../machines/session/context.js';
import type { sessionDeadlines } from '../machines/session/deadlines.js';
import { isClaimable } from '../machines/session/facts.js';
import { durationInWords } from './dashboard/assets/format.js';

export interface Situation {
  /** The state's dotted path. */
  readonly state: string;
  readonly context: SessionContext;
  /** Those that are armed in this state, soonest first, under the machine's names. */
  readonly deadlines: readonly { readonly name: string; readonly at: number }[];
  /** When what failed is tried again; null when nothing did. */
  readonly retryAt: number | null;
  readonly now: number;
}

export interface Waiting {
  /** Reads on after "waits for"; null: it acts now. */
  readonly waitsFor: string | null;
  /** In a few words, with when, where that is known: `the next probe, in 41 s`. */
  readonly briefly: string;
  /** Everything that is due, a clause for each. */
  readonly clauses: readonly string[];
}

/** `timeOf` answers an instant as the reader's clock shows it: `14:02`. */
export function waiting(situation: Situation, timeOf: (at: number) => string): Waiting {
  const words = wordsOf(situation);
  const { deadlines, retryAt, now } = situation;
  const due = words.due === 'next' ? deadlines[0] : deadlines.find(({ name }) => name === words.due);
  const when = due === undefined ? '' : `, ${until(due.at, now)}`;
  const again = retryAt === null ? [] : [`failed, next try ${until(retryAt, now)}`];
  const head = words.state ?? (words.waits === null ? words.acts : `waits for ${words.waits}`);
  return {
    waitsFor: words.waits,
    briefly: again[0] ?? (words.waits === null ? words.acts : `${words.waits}${when}`),
    clauses: [
      head,
      ...again,
      ...deadlines.flatMap(({ name, at }) => dueInWords(name, until(at, now))),
      ...sandboxInWords(situation, timeOf),
      ...claimInWords(situation, timeOf),
      ...filesInWords(situation, timeOf),
    ],
  };
}

type Deadline = keyof ReturnType<typeof sessionDeadlines>;

interface Words {
  readonly waits: string | null;
  readonly acts: string;
  /** The deadline that ends the wait; `next`: whichever comes first. */
  readonly due?: Deadline | 'next';
  /** What it does meanwhile, where that says more than what it waits for. */
  readonly state?: string;
}
const waits = (what: string, due?: Deadline): Words => ({
  waits: what,
  acts: '',
  ...(due === undefined ? {} : { due }),
});
const acts = (what: string): Words => ({ waits: null, acts: what });

const STATES: Readonly<Record<string, Words>> = {
  queued: waits('a free slot'),
  claiming: acts('claims the session'),
  'provisioning.opening': acts('boots the sandbox'),
  'provisioning.settling': waits('the sandbox to settle', 'lookDue'),
  'provisioning.renewing': acts('renews the claim'),
  'provisioning.launching': acts('launches the remote'),
  'provisioning.confirming': waits('the remote to start', 'lookDue'),
  'provisioning.looking': acts('looks whether the remote has started'),
  'serving.connecting': waits('Devin to report the remote connected'),
  'serving.monitoring': { waits: 'news', acts: '', due: 'next', state: 'serving' },
  'serving.probing': acts('looks at the remote'),
  'serving.renewing': acts('renews the claim'),
  'serving.securing': acts('puts the network policy right'),
  'serving.confirmingEnd': acts('reads whether the session is over'),
  'serving.doubting': waits('the next read of a suspended status', 'lookDue'),
  'serving.coolingDown': waits('a restart of the remote', 'restartDue'),
  extending: acts("extends the vm's time"),
  'snapshotting.stopping': acts('stops the vm, which saves its disk'),
  'snapshotting.waiting': waits('the vm to be seen stopped', 'lookDue'),
  'snapshotting.looking': acts('looks whether the vm has stopped'),
  'snapshotting.renewing': acts('renews the claim'),
  'snapshotting.stopped': acts('goes on now that the vm is down'),
  'released.deciding': acts('gives the claim back'),
  'released.readingEnd': acts("reads Devin's final status"),
  'released.awaitingEnd': waits("Devin's final status", 'lookDue'),
  'released.releasing': acts('gives the claim back'),
  'released.coolingOff': waits('the next try after a failed episode', 'retryDue'),
  'released.resting': waits('the session to be resumed'),
  lost: waits('the other acceptor to let go'),
  parked: waits('an operator to retry'),
  discarding: acts('deletes the sandbox with its snapshots'),
  ended: acts('is over: nothing of it is left'),
};

/** A row of another version may be in a state that this one does not know. */
const UNKNOWN = acts('is in a state that this version has no words for');

/** After "waits for"; null: what is due is told elsewhere, and waited for by nobody. */
const NEXT: Readonly<Record<Deadline, string | null>> = {
  probeDue: 'the next probe',
  renewDue: 'the renewal of the claim',
  extendDue: "the extension of the vm's time",
  rollOverDue: 'the roll-over to a new vm',
  secureDue: 'the network policy to be put right',
  restartDue: 'a restart of the remote',
  lookDue: 'the next look',
  retryDue: 'the next try',
  claimDeadline: null,
  settleBy: null,
  connectBy: null,
  keepDue: null,
};

/** A clause of its own for each; what sandbox, claim and files say of themselves is left to them. */
const DUE: Readonly<Record<Deadline, ((when: string) => string) | null>> = {
  probeDue: (when) => `next probe ${when}`,
  secureDue: (when) => `network policy put right ${when}`,
  restartDue: (when) => `restart ${when}`,
  lookDue: (when) => `next look ${when}`,
  retryDue: (when) => `next try ${when}`,
  settleBy: (when) => `given up ${when} unless it settles`,
  connectBy: (when) => `given up ${when} unless it connects`,
  renewDue: null,
  extendDue: null,
  rollOverDue: null,
  claimDeadline: null,
  keepDue: null,
};

function wordsOf({ state, context, deadlines }: Situation): Words {
  if (state === 'queued' && !isClaimable(context)) return waits('the queue');
  const words = STATES[state] ?? UNKNOWN;
  if (words.due !== 'next') return words;
  const next = NEXT[deadlines[0]?.name as Deadline];
  return next == null ? words : { ...words, waits: next };
}

function dueInWords(name: string, when: string): string[] {
  const words = DUE[name as Deadline];
  return words == null ? [] : [words(when)];
}

function sandboxInWords({ state, context, deadlines, now }: Situation, timeOf: (at: number) => string) {
  const { vm } = context;
  if (vm === null) return [];
  const at = (name: Deadline) => deadlines.find((deadline) => deadline.name === name)?.at;
  const [extendAt, rollOverAt] = [at('extendDue'), at('rollOverDue')];
  const expiry = `sandbox ${vm.expiresAt <= now ? 'expired' : 'expires'} ${timeOf(vm.expiresAt)}`;
  if (extendAt !== undefined && extendAt < (rollOverAt ?? Number.POSITIVE_INFINITY))
    return [`${expiry}, will be extended ${extendAt <= now ? 'now' : `at ${timeOf(extendAt)}`}`];
  if (rollOverAt !== undefined)
    return [`${expiry}, moves to a new vm ${rollOverAt <= now ? 'now' : `at ${timeOf(rollOverAt)}`}`];
  return [isIn(state, 'snapshotting') ? `${expiry}, will not be extended` : expiry];
}

function claimInWords({ state, context, deadlines, now }: Situation, timeOf: (at: number) => string) {
  const { claimDeadlineAt, launchedAt, connected } = context;
  if (claimDeadlineAt === null)
    return ['provisioning', 'serving', 'extending'].some((top) => isIn(state, top))
      ? ['claim has no deadline']
      : [];
  const ends = `claim ${claimDeadlineAt <= now ? 'ended' : 'ends'} ${timeOf(claimDeadlineAt)}`;
  const renewAt = deadlines.find(({ name }) => name === 'renewDue')?.at;
  if (renewAt !== undefined) return [`${ends}, will be renewed ${until(renewAt, now)}`];
  const unconnected = launchedAt !== null && !connected && !isIn(state, 'snapshotting');
  return [unconnected ? `${ends}, will not be renewed before the remote connects` : ends];
}

function filesInWords({ context, deadlines }: Situation, timeOf: (at: number) => string) {
  if (!context.hasDisk) return [];
  const keepDue = deadlines.find(({ name }) => name === 'keepDue');
  return keepDue === undefined ? [] : [`files are kept until ${timeOf(keepDue.at)}`];
}

const isIn = (state: string, top: string): boolean => state === top || state.startsWith(`${top}.`);

/** `in 41 s`, or `now`. */
const until = (at: number, now: number): string =>
  at - now < 1_000 ? 'now' : `in ${durationInWords(at - now)}`;
