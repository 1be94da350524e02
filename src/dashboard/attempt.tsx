/** How an attempt to connect is going, for the browser that began it. */
import type { Child, FC } from 'hono/jsx';
import { Card } from './layout.js';

export interface AttemptShown {
  readonly kind:
    | 'preparing'
    | 'waiting'
    | 'working'
    | 'connected'
    | 'expired'
    | 'refused'
    | 'failed'
    | 'superseded'
    | 'gone';
  readonly problem: string | null;
  readonly retryable: boolean;
  readonly project: {
    readonly projectId: string;
    readonly teamId: string | null;
    readonly name: string | null;
    readonly written: readonly string[];
  } | null;
  readonly outpost: { readonly id: string; readonly name: string | null } | null;
}

export interface AttemptProps {
  readonly attempt: AttemptShown;
  /** What this browser's forms carry. */
  readonly token: string;
}

/** Seconds between two looks of a browser, while work goes on. */
const LOOK_EVERY_S = 2;
/** So that the person sees that it worked. */
const GO_ON_AFTER_S = 4;

export const Attempt: FC<AttemptProps> = (props) => {
  const { kind, project } = props.attempt;
  const busy = kind === 'preparing' || kind === 'working';
  const goesOn = kind === 'connected' && project !== null;
  const refresh = busy
    ? { seconds: LOOK_EVERY_S }
    : goesOn
      ? { seconds: GO_ON_AFTER_S, to: '/connect/next' }
      : undefined;
  return (
    <Card title="Connecting · Devin Outposts" refresh={refresh}>
      <h1>{project === null ? 'Connecting Devin' : 'Setting up your project'}</h1>
      <Told {...props} />
    </Card>
  );
};

const Told: FC<AttemptProps> = ({ attempt, token }) => {
  const { kind, problem, project, outpost } = attempt;
  switch (kind) {
    case 'preparing':
      return <p class="said working">Asking Vercel for access to the project…</p>;
    case 'working':
      return <p class="said working">Devin has said yes. Putting that to use…</p>;
    case 'waiting':
      return project === null ? (
        <p class="said working">Waiting for the confirmation in Devin, which opened in this browser.</p>
      ) : (
        <Confirm project={project} token={token} />
      );
    case 'connected':
      return (
        <>
          <p class="said">
            Connected to the outpost {outpost?.name ? `“${outpost.name}”` : ''}{' '}
            <span class="id">{outpost?.id}</span>.
          </p>
          {project === null ? (
            <p>
              Sessions of this outpost are served from now on. <a href="/">See the sessions</a> or{' '}
              <a href="/connect">the connection</a>.
            </p>
          ) : (
            <>
              <p>
                The settings are in the project. To see its sessions later, sign in with the value of{' '}
                <code>OPERATOR_SECRET</code>, which you find in the project under{' '}
                <b>Settings → Environment Variables</b>.
              </p>
              <p>
                <a href="/connect/next">Go on at Vercel</a>; it happens by itself in a moment.
              </p>
            </>
          )}
        </>
      );
    case 'failed':
      return (
        <Wrong problem={problem}>
          {project !== null && <Written project={project} />}
          {attempt.retryable && (
            <form method="post" action="/connect/retry" class="stack">
              <input type="hidden" name="token" value={token} />
              <button type="submit" class="first">
                Try again
              </button>
            </form>
          )}
        </Wrong>
      );
    case 'superseded':
      return (
        <Wrong problem="Another attempt was begun since, or the connection was ended. This one changes nothing any more" />
      );
    case 'gone':
      return <Wrong problem="Nothing is known of this attempt any more: begin again" />;
    case 'expired':
    case 'refused':
      return <Wrong problem={problem} />;
  }
};

const Confirm: FC<{ project: NonNullable<AttemptShown['project']>; token: string }> = ({
  project,
  token,
}) => (
  <>
    <p>This project is about to be connected with Devin. Go on only if it is yours, and you began this:</p>
    <Project project={project} />
    <form method="post" action="/connect/continue" class="stack">
      <input type="hidden" name="token" value={token} />
      <button type="submit" class="first">
        Go on to Devin
      </button>
    </form>
    <p class="dim">
      There, sign in as an administrator, look at the suggested name of the outpost, and press Connect, within
      ten minutes. If you did not begin this, close the page: nothing has happened.
    </p>
  </>
);

const Project: FC<{ project: NonNullable<AttemptShown['project']> }> = ({ project }) => (
  <dl class="facts">
    <dt>Project</dt>
    <dd>
      {project.name ?? ''} <span class="id">{project.projectId}</span>
    </dd>
    <dt>Team</dt>
    <dd class="id">{project.teamId ?? 'a personal account'}</dd>
  </dl>
);

const Written: FC<{ project: NonNullable<AttemptShown['project']> }> = ({ project }) => (
  <>
    <Project project={project} />
    <p>
      {project.written.length === 0 ? (
        'Nothing has been written into it.'
      ) : (
        <>
          Written so far: <code>{project.written.join(', ')}</code>. Another try writes the rest; these keep
          their values.
        </>
      )}
    </p>
  </>
);

const Wrong: FC<{ problem: string | null; children?: Child }> = ({ problem, children }) => (
  <>
    <p class="said wrong" role="alert">
      {capital(problem ?? 'It did not work')}.
    </p>
    {children}
    <p class="dim">
      A connection that was there before is still in use. Begin again on{' '}
      <a href="/connect">this deployment’s page</a>, or where you began.
    </p>
  </>
);

/** Not an attempt at all: what was sent makes no sense, or was not begun in this browser. */
export const NoAttempt: FC<{ problem: string; what: string }> = ({ problem, what }) => (
  <Card title="Connecting · Devin Outposts">
    <h1>This does not lead on</h1>
    <p class="said wrong" role="alert">
      {problem}
    </p>
    <p>{what}</p>
  </Card>
);

const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
