/** How an attempt to connect is going, for the browser that began it. */
import type { Child, FC } from 'hono/jsx';
import { Card, type DocumentProps } from './layout.js';

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
/** While it waits for Devin, which shows in another tab or not at all. */
const WAIT_EVERY_S = 5;
/** So that the person sees that it worked. */
const GO_ON_AFTER_S = 4;

export const Attempt: FC<AttemptProps> = (props) => {
  const { project } = props.attempt;
  return (
    <Card title="Connecting · Devin Outposts" refresh={refreshOf(props.attempt)}>
      <h1>{project === null ? 'Connecting Devin' : 'Setting up your project'}</h1>
      <Told {...props} />
    </Card>
  );
};

function refreshOf({ kind, project }: AttemptShown): DocumentProps['refresh'] {
  if (kind === 'preparing' || kind === 'working') return { seconds: LOOK_EVERY_S };
  if (kind === 'waiting' && project === null) return { seconds: WAIT_EVERY_S };
  if (kind === 'connected' && project !== null) return { seconds: GO_ON_AFTER_S, to: '/connect/next' };
  return undefined;
}

const Told: FC<AttemptProps> = ({ attempt, token }) => {
  const { kind, problem, project, outpost } = attempt;
  switch (kind) {
    case 'preparing':
      return <p class="said working">Asking Vercel for access to the project…</p>;
    case 'working':
      return <p class="said working">Devin has said yes. Putting that to use…</p>;
    case 'waiting':
      return project === null ? (
        <>
          <p class="said working">Waiting for the confirmation in Devin, which opened in this browser.</p>
          <p class="dim">
            If that page is closed, begin again on <a href="/connect">this deployment’s page</a>.
          </p>
        </>
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
              <Project project={project} />
              <p>
                The settings are in the project: <Names written={project.written} />
              </p>
              <p>
                To see its sessions later, sign in with the value of <code>OPERATOR_SECRET</code>, which you
                find in the project under <b>Settings → Environment Variables</b>.
              </p>
              <p>
                <a href="/connect/next">Go on at Vercel</a>; it happens by itself in a moment.
              </p>
            </>
          )}
        </>
      );
    case 'superseded':
      return (
        <Wrong
          attempt={attempt}
          problem="Another attempt was begun since, or the connection was ended. This one changes nothing any more"
        />
      );
    case 'gone':
      return <Wrong attempt={attempt} problem="Nothing is known of this attempt any more: begin again" />;
    case 'failed':
    case 'expired':
    case 'refused':
      return (
        <Wrong attempt={attempt} problem={problem}>
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
  }
};

const Confirm: FC<{ project: NonNullable<AttemptShown['project']>; token: string }> = ({
  project,
  token,
}) => (
  <>
    <p>This project is about to be connected with Devin. Go on only if it is yours, and you began this:</p>
    <Project project={project} />
    <p>
      Once it is confirmed in Devin, this site writes the settings into that project’s environment variables,
      for production only.
    </p>
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

const Names: FC<{ written: readonly string[] }> = ({ written }) => <code>{written.join(', ')}</code>;

const Written: FC<{ attempt: AttemptShown; project: NonNullable<AttemptShown['project']> }> = ({
  attempt,
  project,
}) => (
  <>
    <Project project={project} />
    {project.written.length === 0 ? (
      <p>Nothing has been written into it.</p>
    ) : (
      <p>
        Written so far: <Names written={project.written} />.{' '}
        {attempt.retryable
          ? 'Another try writes the rest; these keep their values.'
          : 'These alone do not make it serve sessions.'}
      </p>
    )}
  </>
);

const Wrong: FC<{ attempt: AttemptShown; problem: string | null; children?: Child }> = ({
  attempt,
  problem,
  children,
}) => (
  <>
    <p class="said wrong" role="alert">
      {capital(problem ?? 'It did not work')}.
    </p>
    {attempt.project !== null && <Written attempt={attempt} project={attempt.project} />}
    {children}
    {attempt.project === null ? (
      <p class="dim">
        A connection that was there before is still in use. Begin again on{' '}
        <a href="/connect">this deployment’s page</a>, or where you began.
      </p>
    ) : (
      <p class="dim">To begin again, use the Deploy Button that led here.</p>
    )}
  </>
);

/** The way to Devin's page, which opens by itself. */
export const GoOn: FC<{ address: string }> = ({ address }) => (
  <Card title="Connecting · Devin Outposts" refresh={{ seconds: 0, to: address }}>
    <h1>On to Devin</h1>
    <p class="said working">Devin’s page opens…</p>
    <p>
      <a href={address}>Open it now</a>, if it does not.
    </p>
  </Card>
);

/** Not an attempt at all: what was sent makes no sense, or was not begun in this browser; or it has to wait. */
export const NoAttempt: FC<{ problem: string; what: string; passes: boolean }> = ({
  problem,
  what,
  passes,
}) => (
  <Card title="Connecting · Devin Outposts">
    <h1>{passes ? 'Not now' : 'This does not lead on'}</h1>
    <p class="said wrong" role="alert">
      {problem}
    </p>
    <p>{what}</p>
  </Card>
);

const capital = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
