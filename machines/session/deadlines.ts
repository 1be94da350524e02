/**
 * Every deadline of a session as an absolute instant, derived from context.
 *
 * One table serves the durable interpreter, which recomputes due times after
 * any crash, and the chart's `delays`. Null: not armed.
 */
import type { SessionContext } from './context.js';
import { isConnected } from './facts.js';
import type { SessionRules } from './rules.js';

export type Deadline = (context: SessionContext) => number | null;

export function sessionDeadlines(rules: SessionRules) {
  const awaitsConnection = (c: SessionContext) => c.launchedAt !== null && !c.connected;
  return {
    /** The claim lapses. Before a launch only: afterwards `connectBy` decides. */
    claimDeadline: (c) => (awaitsConnection(c) ? null : c.claimDeadlineAt),
    /** A sandbox that neither comes up nor goes down is waited for no longer. */
    settleBy: (c) => (c.settlingSince === null ? null : c.settlingSince + rules.settleWithinMs),
    /** Renew now. Not between a launch and the row's `running`: a claim that is kept alive hides a dead remote. */
    renewDue: (c) => (awaitsConnection(c) ? null : c.renewAt),
    /** The remote should have connected by now, and the row does not say that it has. */
    connectBy: (c) =>
      c.launchedAt === null || c.connected || isConnected(c)
        ? null
        : Math.min(c.launchedAt + rules.connectWithinMs, c.claimDeadlineAt ?? Number.POSITIVE_INFINITY),
    probeDue: (c) => c.probeAt,
    restartDue: (c) => c.restartAt,
    lookDue: (c) => c.lookAt,
    secureDue: (c) => c.secureAgainAt,
    /** Less than the headroom is left of a vm that may still be extended. */
    extendDue: (c) =>
      c.vm === null || c.vm.limited || c.vm.expiresAt >= endOf(c.vm, rules)
        ? null
        : Math.max(c.vm.expiresAt - rules.headroomMs, c.extendAgainAt ?? 0),
    /** The plan ends this vm soon. */
    rollOverDue: (c) => {
      if (c.vm === null) return null;
      const endAt = endOf(c.vm, rules);
      return Math.max(endAt - rules.rollOverMarginMs, c.vm.startedAt + (endAt - c.vm.startedAt) / 2);
    },
    retryDue: (c) => c.retryAt,
    keepDue: (c) => c.keepUntil,
  } satisfies Record<string, Deadline>;
}

/** The instant at which the plan ends the vm whatever we ask for. */
const endOf = (vm: NonNullable<SessionContext['vm']>, rules: SessionRules): number =>
  vm.limited ? vm.expiresAt : vm.startedAt + rules.maxLifetimeMs;

/** Where an extension moves the vm's end. An instant, so that asking twice adds nothing. */
export function extendTo(context: SessionContext, rules: SessionRules): number {
  const { vm } = context;
  return vm === null ? 0 : Math.min(vm.expiresAt + rules.sandboxTimeoutMs, endOf(vm, rules));
}
