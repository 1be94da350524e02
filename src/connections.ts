/**
 * The parts that move connections, wired: what pages and callbacks ask, and
 * what the cron does beside its pass. Null where nothing is sealed, so that
 * nothing can be connected.
 */
import { createConnector } from './connect/connector.js';
import { driveConnections } from './connect/driving.js';
import { createInstaller } from './connect/installer.js';
import { createPartner } from './connect/partner.js';
import { trustedApiUrl } from './connect/trusted.js';
import { createConnectionEffects } from './effects/connection-effects.js';
import { createConnectionKind } from './effects/connection-kind.js';
import { SESSIONS } from './effects/session-kind.js';
import { bindingSetting } from './installation.js';
import type { Base } from './parts.js';
import type { Connector } from './ports/connector.js';

export interface Connections {
  readonly connector: Connector;
  /** Drives what is due, and forgets what is over. */
  driveDue(): Promise<void>;
}

export function connectionsOf(base: Base): Connections | null {
  const { store, sealing, clock, config, account, log } = base;
  if (sealing === null) return null;
  const { vault } = sealing;
  const { connect, accounts } = config;
  const partner = createPartner(connect);
  const { integration } = connect;
  const kind = createConnectionKind(
    createConnectionEffects({
      vault,
      partner,
      installer:
        integration && createInstaller({ ...integration, clientSecret: integration.clientSecret.reveal() }),
      trustedApiUrl: (text) => trustedApiUrl(text, connect.trustedHosts),
      binding: ({ apiHost, outpostId }) =>
        bindingSetting({ apiHost, outpostId, vercelProject: accounts.vercel.projectId }),
    }),
  );
  const onChange = () => account.forget();
  const driving = { store, vault, kind, clock, log, onChange };
  const { credentials, apiUrl } = accounts.devin;
  return {
    connector: createConnector({
      ...driving,
      partner,
      environment: credentials && { outpostId: credentials.outpostId, apiHost: new URL(apiUrl).host },
      sessions: SESSIONS,
    }),
    driveDue: () => driveConnections(driving),
  };
}
