/** What the queue's facts mean for a session. Pure readings of context; decisions are in the chart. */
import { acceptorOf, type SessionContext, type SessionFacts } from './context.js';

const OVER: ReadonlySet<SessionFacts['status']> = new Set(['terminated', 'exit', 'error']);
const ENDED: ReadonlySet<SessionFacts['status']> = new Set([...OVER, 'suspended']);

/** The session will not come back by itself; only `terminated` says that it never will. */
export const isOver = (status: SessionFacts['status'] | 'gone'): boolean =>
  status !== 'gone' && OVER.has(status);
/** Over or asleep: a pending row of such a session is a leftover of its release. */
export const isEnded = (status: SessionFacts['status']): boolean => ENDED.has(status);

export const isMissing = ({ facts }: SessionContext): boolean => facts.presence === 'missing';
export const isPresent = ({ facts }: SessionContext): boolean => facts.presence === 'present';

/** A row that may be claimed, by anyone. */
export const isClaimable = ({ facts }: SessionContext): boolean =>
  facts.presence === 'present' && facts.phase === 'pending' && !isEnded(facts.status);

/** The row names our current claim. */
export const isOurs = (context: SessionContext): boolean =>
  isPresent(context) && context.facts.phase === 'claimed' && context.facts.acceptorId === acceptorOf(context);

/** The row says that a machine under our claim is connected. */
export const isConnected = (context: SessionContext): boolean =>
  isOurs(context) && context.facts.status === 'running';

/** Nothing was launched in this episode yet; a vm that is up has its first launch ahead. */
export const isUnlaunched = ({ vm, launches, launchedAt }: SessionContext): boolean =>
  launchedAt === null && launches === (vm === null ? 0 : 1);

/** What a closer look has answered; the allow list is judged by itself. */
export const suspicionKey = ({ facts }: SessionContext): string =>
  [facts.presence, facts.phase, facts.status, facts.acceptorId].join(' ');

/** Whether the present facts were looked into already. */
export const isDismissed = (context: SessionContext): boolean => context.dismissed === suspicionKey(context);
