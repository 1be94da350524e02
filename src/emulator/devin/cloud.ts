/** Devin's emulated cloud as its users see it: what it takes, and what it gives. */
import type { Hono } from 'hono';
import type { Clock } from '../../ports/clock.js';
import type { Access } from './access.js';
import type { ConnectSwitches } from './connect.js';
import type { SessionControl } from './control.js';
import type { Calls, Faults } from './faults.js';
import type { Gateway } from './gateway.js';
import type { HttpEnv } from './http.js';
import type { SessionEvent, SessionSpec, SessionView } from './session.js';
import type { StaticHost } from './static-host.js';
import type { TimestampStyle } from './wire.js';

export interface DevinCloudOptions {
  readonly clock: Clock;
  /** How far this cloud's clock is ahead, in every instant and in the Date header. Default 0. */
  readonly skewMs?: number;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Fleet token with all scopes. Default: made up. */
  readonly token?: string;
  /** For `/_world/`. Default: made up. */
  readonly worldToken?: string;
  readonly outpostId?: string;
  /** Callback addresses on the list of the connect page; none unless given. */
  readonly connectCallbacks?: readonly string[];
  /** Default 300,000. */
  readonly claimTtlMs?: number;
  /** How long a watch stays open. Default 300,000. */
  readonly watchMaxMs?: number;
  /** Default 15,000. */
  readonly keepaliveMs?: number;
  /** How far a final status lags behind the end of the remote. Default 2,000. */
  readonly statusLagMs?: number;
  /** A claimed session that no remote joins for this long is given up. Default 300,000. */
  readonly giveUpMs?: number;
  /** How long the row of an ended session stays in the queue when nobody holds it. Default 15,000. */
  readonly leftoverMs?: number;
  readonly keepDeadlineWhileRunning?: boolean;
  /** What a row says while its session has lost its remote. Default `running`. */
  readonly lostRemoteStatus?: 'running' | 'pending';
  /** Default `seconds`. */
  readonly timestampStyle?: TimestampStyle;
  /** Adds routes under `/_world/`, which the token guards already. */
  readonly extend?: (app: Hono<HttpEnv>) => void;
}

export interface DevinCloud {
  /** `http://127.0.0.1:<port>`: the fleet API's base. */
  readonly url: string;
  /** DEVIN_WORKER_STATIC_BASE_URL. */
  readonly staticUrl: string;
  readonly gatewayUrl: string;
  readonly token: string;
  readonly worldToken: string;
  readonly outpostId: string;
  /** DEVIN_CONNECT_URL. */
  readonly connectUrl: string;
  /** How connecting goes; changes count from the next request on. */
  readonly connect: ConnectSwitches;
  readonly faults: Faults;
  readonly calls: Calls;
  /** Further fleet tokens, and revoking. */
  readonly access: Pick<Access, 'mint' | 'revoke'>;
  readonly remotes: Pick<StaticHost, 'publish' | 'latest'>;
  /** The same by promises, as another process has it. */
  readonly control: SessionControl;
  /** Queues a session. Its script runs as soon as a remote connects; without one it idles. */
  startSession(spec?: SessionSpec): SessionView;
  /** All throw WrongMomentError when the session's state does not allow it. */
  suspend(id: string): SessionView;
  resume(id: string): SessionView;
  end(id: string): SessionView;
  /** Runs a command in the session's remote. Rejects when none is connected or the session ends first. */
  say(id: string, command: string): Promise<{ code: number; output: string }>;
  session(id: string): SessionView;
  sessions(): SessionView[];
  /** Calls back after each event; the returned function ends that. */
  on(listener: (event: SessionEvent, sessionId: string) => void): () => void;
  /** Resolves with the first view that `holds`; rejects after `timeoutMs` of wall time (default 30,000). */
  until(id: string, holds: (view: SessionView) => boolean, timeoutMs?: number): Promise<SessionView>;
  /** Cuts remotes' streams without ending the remotes. */
  cutRemotes: Gateway['cut'];
  close(): Promise<void>;
}
