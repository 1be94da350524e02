/** This deployment's connection with Devin: what serves sessions now, and buttons to change that. */
import type { FC } from 'hono/jsx';
import type { Visitor } from './admission.js';
import { Card, Way } from './layout.js';

export interface ConnectionProps {
  readonly visitor: Visitor;
  /** Null: nothing can be connected here; `missing` says why. */
  readonly connection: ConnectionShown | null;
  /** Settings that are missing, each with what it is for. */
  readonly missing: readonly { readonly variable: string; readonly why: string }[];
  /** The address that Devin has to have on its list; null while it is not known. */
  readonly callbackUrl: string | null;
  readonly said: string | null;
}

export interface ConnectionShown {
  readonly source: 'browser' | 'environment' | 'none';
  readonly outpostId: string | null;
  readonly apiHost: string | null;
  /** Whether the settings' token would be used if this one were forgotten. */
  readonly fallsBack: boolean;
  /** Milliseconds since the epoch. */
  readonly since: number | null;
  readonly problem: string | null;
  readonly working: boolean;
  readonly sessions: number;
}

export const Connection: FC<ConnectionProps> = ({ visitor, connection, missing, callbackUrl, said }) => {
  const acts =
    visitor.role === 'operator' && connection !== null && !connection.working && callbackUrl !== null;
  return (
    <Card title="Connection · Devin Outposts" refresh={connection?.working ? { seconds: 2 } : undefined}>
      <Way visitor={visitor} here="/connect" />
      <h1>Connection with Devin</h1>
      {said && <p class="said">{said}</p>}
      {connection && <State connection={connection} />}
      {connection?.problem && <p class="said wrong">The latest attempt: {connection.problem}.</p>}
      {missing.length > 0 && <Missing missing={missing} />}
      {acts && <Start visitor={visitor} connection={connection} callbackUrl={callbackUrl} />}
      {acts && connection.source === 'browser' && <Disconnect visitor={visitor} connection={connection} />}
      {visitor.role === 'viewer' && <p class="dim">It takes an operator to change this.</p>}
    </Card>
  );
};

const State: FC<{ connection: ConnectionShown }> = ({ connection }) => {
  const { source, outpostId, apiHost, since, working, sessions } = connection;
  if (working) return <p class="said working">An authorization is being put to use…</p>;
  if (source === 'none')
    return <p class="said wrong">Devin is not connected, so no sessions are served here.</p>;
  return (
    <>
      <p class="said">
        Connected {source === 'browser' ? 'in the browser' : 'by the settings of this deployment'}.
      </p>
      <dl class="facts">
        <dt>Outpost</dt>
        <dd class="id">{outpostId}</dd>
        <dt>API</dt>
        <dd class="id">{apiHost}</dd>
        {since !== null && (
          <>
            <dt>Since</dt>
            <dd>{new Date(since).toISOString().replace('T', ' ').slice(0, 16)} UTC</dd>
          </>
        )}
        <dt>Sandboxes in use</dt>
        <dd>{sessions}</dd>
      </dl>
    </>
  );
};

const Missing: FC<Pick<ConnectionProps, 'missing'>> = ({ missing }) => (
  <>
    <h2>Needed to connect in the browser</h2>
    <ul class="plain">
      {missing.map(({ variable, why }) => (
        <li>
          <code>{variable}</code>: {why}
        </li>
      ))}
    </ul>
    <p>
      On Vercel, add them in the project under <b>Settings → Environment Variables</b>, for production, and
      redeploy.
    </p>
  </>
);

const START = { none: 'Connect Devin', environment: 'Connect in the browser', browser: 'Connect again' };

const sandboxes = (count: number) => `${count} ${count === 1 ? 'sandbox' : 'sandboxes'}`;

/** What connecting does to a connection that is there. */
const Again: FC<{ connection: ConnectionShown }> = ({ connection: { source, sessions } }) => (
  <>
    <p>
      {source === 'environment' && 'The new token is used instead of the one in the settings. '}A new token of
      the same outpost is used within seconds, and no session is interrupted.
    </p>
    {sessions === 0 ? (
      <p>Another outpost is taken too, as long as no session is being served.</p>
    ) : (
      <p>
        <b>{sandboxes(sessions)} in use now</b>: another outpost would be refused until{' '}
        {sessions === 1 ? 'it has' : 'all of them have'} ended.
      </p>
    )}
  </>
);

const Start: FC<{ visitor: Visitor; connection: ConnectionShown; callbackUrl: string }> = ({
  visitor,
  connection,
  callbackUrl,
}) => (
  <>
    <h2>{START[connection.source]}</h2>
    <p>
      Devin’s page opens. Sign in there as an administrator, look at the suggested name of the outpost, press
      Connect, and you come back here within ten minutes.
    </p>
    {connection.source !== 'none' && <Again connection={connection} />}
    <form method="post" action="/connect/start" class="stack">
      <input type="hidden" name="token" value={visitor.token} />
      <button type="submit" class={connection.source === 'none' ? 'first' : ''}>
        {START[connection.source]}
      </button>
    </form>
    <details>
      <summary>Devin refuses the callback address?</summary>
      <p>
        Devin sends browsers only to addresses that it has on a list. Ask Devin to add exactly this one (or
        set <code>DEVIN_OAUTH_CALLBACK_URL</code> to the one that is there):
      </p>
      <p class="id">{callbackUrl}</p>
      <p>
        Until then, set a project up with the Deploy Button, whose integration has an address on the list, or
        put a token into the settings: <code>DEVIN_OUTPOSTS_TOKEN</code>, <code>DEVIN_OUTPOST_ID</code> and{' '}
        <code>DEVIN_CREDENTIALS_FROM_ENV</code>.
      </p>
    </details>
  </>
);

const Disconnect: FC<{ visitor: Visitor; connection: ConnectionShown }> = ({ visitor, connection }) => (
  <>
    <h2>Disconnect</h2>
    <p>
      Forgets the token.{' '}
      {connection.fallsBack ? (
        <>
          From then on the one in the settings is used: to serve nothing any more, take{' '}
          <code>DEVIN_OUTPOSTS_TOKEN</code> out of them too, and redeploy.{' '}
        </>
      ) : (
        `Nothing new is claimed${connection.sessions > 0 ? `, and what runs now (${sandboxes(connection.sessions)}) is left alone until somebody connects again, or its time is over` : ''}. `
      )}
      The service user stays in Devin until it is deleted there.
    </p>
    <form method="post" action="/connect/disconnect" class="stack">
      <input type="hidden" name="token" value={visitor.token} />
      <label class="tick">
        <input type="checkbox" name="sure" value="yes" required /> Yes, disconnect
      </label>
      <button type="submit">Disconnect</button>
    </form>
  </>
);
