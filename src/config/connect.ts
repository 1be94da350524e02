/**
 * How a deployment is connected to Devin in the browser, who may sign in to
 * its pages, and whether it sets up other people's projects.
 */
import type { Fields, Problem } from './parse.js';
import type { Secret } from './secret.js';
import type { Given, Values } from './values.js';
import type { VariableName } from './variables.js';

export interface ConnectSettings {
  /** Null: nothing can be connected here, and nobody can sign in. */
  readonly secret: Secret | null;
  /** What the secret was before, while it is being changed. */
  readonly previousSecret: Secret | null;
  /** Null while nobody knows under which address this is reached. */
  readonly callbackUrl: string | null;
  /** Devin's page where an administrator confirms. */
  readonly connectUrl: string;
  /** Where codes are exchanged. */
  readonly apiUrl: string;
  /** Hosts besides Devin's own that a token may be sent to: `host` or `host:port`, in lower case. */
  readonly trustedHosts: readonly string[];
  readonly outpostName: string;
  /** Null: no projects are set up from here. */
  readonly integration: IntegrationSettings | null;
}

export interface IntegrationSettings {
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly apiUrl: string;
  /** Where Vercel sends browsers after an installation. */
  readonly redirectUrl: string;
}

/** What lets people in; null: nobody in that role. */
export interface OperatorSettings {
  readonly operatorSecret: Secret | null;
  readonly viewerSecret: Secret | null;
}

/** Of this service's own routes, those that are registered elsewhere. */
export const CALLBACK_PATH = '/connect/callback';
export const INTEGRATION_PATH = '/integration/callback';

export function connectSettings(fields: Fields): ConnectSettings {
  const { PUBLIC_URL: publicUrl, VERCEL_INTEGRATION_CLIENT_ID: clientId } = fields;
  const clientSecret = fields.VERCEL_INTEGRATION_CLIENT_SECRET;
  return {
    secret: fields.DEVIN_CONNECTION_SECRET ?? null,
    previousSecret: fields.DEVIN_CONNECTION_SECRET_PREVIOUS ?? null,
    callbackUrl: fields.DEVIN_OAUTH_CALLBACK_URL ?? (publicUrl ? `${publicUrl}${CALLBACK_PATH}` : null),
    connectUrl: fields.DEVIN_CONNECT_URL,
    apiUrl: fields.DEVIN_API_URL,
    trustedHosts: fields.DEVIN_API_HOSTS ?? [],
    outpostName: fields.DEVIN_OUTPOST_NAME,
    integration:
      clientId && clientSecret && publicUrl
        ? {
            clientId,
            clientSecret,
            apiUrl: fields.VERCEL_API_URL,
            redirectUrl: `${publicUrl}${INTEGRATION_PATH}`,
          }
        : null,
  };
}

export const operatorSettings = (fields: Fields): OperatorSettings => ({
  operatorSecret: fields.OPERATOR_SECRET ?? null,
  viewerSecret: fields.VIEWER_SECRET ?? null,
});

/** Settings that need one another, and secrets that must not be the same. */
export function connectProblems({ values }: Values): Problem[] {
  return [
    ...missing(values, 'DEVIN_CONNECTION_SECRET', [
      'DEVIN_CONNECTION_SECRET_PREVIOUS',
      'OPERATOR_SECRET',
      'VIEWER_SECRET',
      'VERCEL_INTEGRATION_CLIENT_ID',
    ]),
    ...missing(values, 'VERCEL_INTEGRATION_CLIENT_SECRET', ['VERCEL_INTEGRATION_CLIENT_ID']),
    ...missing(values, 'VERCEL_INTEGRATION_CLIENT_ID', ['VERCEL_INTEGRATION_CLIENT_SECRET']),
    ...missing(values, 'PUBLIC_URL', ['VERCEL_INTEGRATION_CLIENT_ID']),
    ...sameSecrets(values),
  ];
}

/** Whether `variable` is missing for others that are there. */
function missing(values: Given, variable: VariableName, others: readonly VariableName[]): Problem[] {
  const need = others.filter((other) => values[other]);
  if (values[variable] || need.length === 0) return [];
  return [{ variable, problem: `is missing: ${need.join(', ')} ${need.length > 1 ? 'need' : 'needs'} it` }];
}

/** Each of them opens something else: who knows one must not know another. */
const APART = ['CRON_SECRET', 'DEVIN_CONNECTION_SECRET', 'OPERATOR_SECRET', 'VIEWER_SECRET'] as const;

function sameSecrets(values: Given): Problem[] {
  return APART.flatMap((variable, index) => {
    const same = APART.slice(0, index).find((other) => values[other] && values[other] === values[variable]);
    return same === undefined ? [] : [{ variable, problem: `should not be the same as ${same}` }];
  });
}
