/** The numbers of a session's lifecycle, as the settings have them. */
import { type SessionRules, sessionRules } from '../machines/session/rules.js';
import type { Config } from './config/index.js';

export function configuredRules(config: Config): SessionRules {
  const { sandbox } = config;
  return sessionRules({
    sandboxTimeoutMs: sandbox.timeoutMs,
    maxLifetimeMs: sandbox.maxLifetimeMs,
    probeEveryMs: config.probeIntervalMs,
    unheardProbeEveryMs: config.unheardProbeIntervalMs,
    renewMarginMs: config.claimRenewMarginMs,
    keepMs: sandbox.snapshotExpirationMs === 0 ? null : sandbox.snapshotExpirationMs,
  });
}
