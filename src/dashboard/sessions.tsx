/**
 * The part of the page that changes: slots, what is wrong, the sessions.
 *
 * Drawn on the server only, for the first view and for every update; hono/jsx
 * escapes every text. `data-key` marks the elements that the page's script
 * replaces one by one, `data-since` and `data-until` the times that it counts.
 */
import type { FC } from 'hono/jsx';
import { durationInWords } from './assets/format.js';
import {
  type Group,
  groupOf,
  inWords,
  isAtRest,
  offersOf,
  STEPS,
  stateInWords,
  stepOf,
} from './lifecycle.js';
import type { ActionName, FleetView, SessionView } from './view.js';

/** Most resting sessions that are drawn; the rest are counted. */
const MOST_RESTING = 50;

const GROUPS: readonly (readonly [Group, string])[] = [
  ['trouble', 'Needs you'],
  ['working', 'At work'],
  ['waiting', 'Waiting for a slot'],
  ['resting', 'At rest'],
];

export interface ActionContext {
  readonly token: string;
  readonly available: ReadonlySet<ActionName>;
}

export const Live: FC<{ view: FleetView } & ActionContext> = ({ view, ...actions }) => (
  <div id="live" data-at={view.at} data-speed={view.speed}>
    <Summary view={view} />
    <Problems problems={view.problems} />
    {view.sessions.length === 0 ? (
      <Empty canStart={actions.available.has('start')} />
    ) : (
      GROUPS.map(([group, title]) => (
        <GroupOfSessions
          title={title}
          group={group}
          view={view}
          sessions={view.sessions.filter((session) => groupOf(session) === group)}
          {...actions}
        />
      ))
    )}
  </div>
);

const Summary: FC<{ view: FleetView }> = ({ view }) => {
  const { used, max } = view.slots;
  const resting = Object.entries(view.states).reduce(
    (sum, [state, count]) => (isAtRest(state) ? sum + count : sum),
    0,
  );
  return (
    <dl class="summary" data-key="summary">
      <div>
        <dt>Slots in use</dt>
        <dd>
          <b>{used}</b> of {max}
          <meter min={0} max={Math.max(max, 1)} value={used} aria-label={`${used} of ${max} slots in use`} />
        </dd>
      </div>
      <div>
        <dt>In Devin’s queue</dt>
        <dd>
          <b>{view.queueDepth}</b>
        </dd>
      </div>
      <div>
        <dt>At rest</dt>
        <dd>
          <b>{resting}</b>
        </dd>
      </div>
    </dl>
  );
};

const Problems: FC<{ problems: readonly string[] }> = ({ problems }) => (
  <div class="problems" data-key="problems" role="alert" hidden={problems.length === 0}>
    <h2>Needs your attention</h2>
    <ul>
      {problems.map((problem) => (
        <li>{problem}</li>
      ))}
    </ul>
  </div>
);

const Empty: FC<{ canStart: boolean }> = ({ canStart }) => (
  <p class="empty" data-key="empty">
    {canStart
      ? 'No session yet. Press “Start a session” and watch it go through its life.'
      : 'No session yet. Start one in Devin and choose this outpost: it appears here within a second.'}
  </p>
);

const GroupOfSessions: FC<
  { title: string; group: Group; view: FleetView; sessions: readonly SessionView[] } & ActionContext
> = ({ title, group, view, sessions, ...actions }) => {
  if (sessions.length === 0) return null;
  const drawn = group === 'resting' ? newest(sessions, MOST_RESTING) : sessions;
  return (
    <section data-key={`group-${group}`} class={group}>
      <h2>
        {title} <span class="count">{sessions.length}</span>
      </h2>
      <ul class="sessions">
        {drawn.map((session) => (
          <Session session={session} at={view.at} {...actions} />
        ))}
      </ul>
      {drawn.length < sessions.length && <p class="more">and {sessions.length - drawn.length} older ones</p>}
    </section>
  );
};

const Session: FC<{ session: SessionView; at: number } & ActionContext> = ({ session, at, ...actions }) => (
  <li class="session" data-key={`session-${session.id}`}>
    <div class="who">
      <strong class="id">{session.id}</strong>
      <span class="dim">episode {session.episode}</span>
    </div>
    <div class="progress">
      <Steps state={session.state} />
      <p class="now">
        <span>{stateInWords(session.state)}</span>
        <span class="dim">
          {' for '}
          <time data-since={session.stateSince}>{durationInWords(at - session.stateSince)}</time>
        </span>
        {session.outcome && <span class="outcome">{inWords(session.outcome)}</span>}
      </p>
      {session.waitsFor && <p class="dim">waits for {session.waitsFor}</p>}
      {session.problem && <p class="wrong">{session.problem}</p>}
      {session.quarantine && <p class="wrong">Set aside: {session.quarantine}</p>}
    </div>
    <Sandbox session={session} at={at} />
    <Buttons session={session} {...actions} />
  </li>
);

const Steps: FC<{ state: string }> = ({ state }) => {
  const current = stepOf(state);
  const position = current === null ? -1 : STEPS.indexOf(current);
  return (
    <ol class="steps" aria-label="Lifecycle">
      {STEPS.map((step, index) => (
        <li
          class={index < position ? 'past' : index === position ? 'current' : 'ahead'}
          aria-current={index === position ? 'step' : undefined}
        >
          <span>{step}</span>
        </li>
      ))}
    </ol>
  );
};

const Sandbox: FC<{ session: SessionView; at: number }> = ({ session, at }) => (
  <dl class="sandbox">
    {session.sandboxName && (
      <div>
        <dt>Sandbox</dt>
        <dd class="id">{session.sandboxName}</dd>
      </div>
    )}
    {session.vmExpiresAt !== null && (
      <div>
        <dt>VM ends in</dt>
        <dd title={session.vmId ?? undefined}>
          <time data-until={session.vmExpiresAt}>{durationInWords(session.vmExpiresAt - at)}</time>
        </dd>
      </div>
    )}
    {session.claimDeadlineAt !== null && (
      <div>
        <dt>Claim ends in</dt>
        <dd>
          <time data-until={session.claimDeadlineAt}>{durationInWords(session.claimDeadlineAt - at)}</time>
        </dd>
      </div>
    )}
  </dl>
);

const LABELS: Record<ActionName, string> = {
  start: 'Start a session',
  suspend: 'Suspend',
  resume: 'Resume',
  end: 'End',
  stop: 'Stop',
  retry: 'Retry',
};

const Buttons: FC<{ session: SessionView } & ActionContext> = ({ session, token, available }) => (
  <div class="actions">
    {offersOf(session)
      .filter((name) => available.has(name))
      .map((name) => (
        <ActionForm name={name} id={session.id} token={token} />
      ))}
  </div>
);

/** One button. A form of its own, so that it works without the script too. */
export const ActionForm: FC<{ name: ActionName; id?: string; token: string }> = ({ name, id, token }) => (
  <form method="post" action={`/actions/${name}`} data-action={name}>
    <input type="hidden" name="token" value={token} />
    {id !== undefined && <input type="hidden" name="id" value={id} />}
    <button
      type="submit"
      class={name}
      data-focus={`${name} ${id ?? ''}`}
      aria-label={id === undefined ? undefined : `${LABELS[name]} ${id}`}
    >
      {LABELS[name]}
    </button>
  </form>
);

function newest(sessions: readonly SessionView[], most: number): readonly SessionView[] {
  return [...sessions].sort((a, b) => b.stateSince - a.stateSince).slice(0, most);
}
