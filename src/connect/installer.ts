/**
 * Vercel's side of setting up somebody's project: the exchange of the
 * installation's code, the project's name, and its variables.
 *
 * Sources: Vercel's REST API, "Building Integrations" and "Create one or more
 * environment variables".
 */
import { z } from 'zod';
import { ContractError } from '../errors.js';
import type { Access, Installer } from '../ports/connect.js';
import { ask, expecting } from './ask.js';

export interface InstallerOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiUrl: string;
  readonly redirectUrl: string;
}

const EXCHANGE = "exchange the installation's code at Vercel";
/** Previews and developers' machines need none of it, and fewer people can read it so. */
const TARGET = ['production'];

const accessSchema = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]{1,4000}$/),
  team_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,200}$/)
    .nullish(),
});
const errorSchema = z.object({ error: z.string() });
const projectSchema = z.object({ id: z.string(), name: z.string() });
/** A variable that was not written is listed, and the answer is a good one all the same. */
const writtenSchema = z.object({ failed: z.array(z.unknown()).optional() });

export function createInstaller(options: InstallerOptions): Installer {
  const projectUrl = (path: string, { teamId }: Access, query: Record<string, string> = {}) =>
    `${options.apiUrl}${path}?${new URLSearchParams({ ...query, ...(teamId === null ? {} : { teamId }) })}`;

  return {
    async exchange(code, signal) {
      const { clientId: client_id, clientSecret: client_secret, redirectUrl: redirect_uri, apiUrl } = options;
      const form = { client_id, client_secret, code, redirect_uri };
      const url = `${apiUrl}/v2/oauth/access_token`;
      const { status, json } = await ask({ label: EXCHANGE, method: 'POST', url, form }, signal);
      if (status === 200) {
        const { access_token: token, team_id: teamId = null } = expecting(EXCHANGE, accessSchema, json);
        return { kind: 'installed', access: { token, teamId } };
      }
      if (status < 400) throw new ContractError(`${EXCHANGE}: answered ${status}`);
      const error = errorSchema.safeParse(json).data?.error;
      return { kind: 'refused', problem: refusalOf(status, error), ofCode: isOfCode(error) };
    },

    async nameOf(projectId, access, signal) {
      const url = projectUrl(`/v9/projects/${encodeURIComponent(projectId)}`, access);
      const question = { label: 'read the project', method: 'GET', url, token: access.token } as const;
      const { status, json } = await ask(question, signal);
      if (status >= 400) return null;
      if (status !== 200) throw new ContractError(`${question.label}: answered ${status}`);
      const { id, name } = expecting(question.label, projectSchema, json);
      return id === projectId ? name : null;
    },

    async write(projectId, access, { key, value }, signal) {
      const label = `write ${key} at Vercel`;
      const path = `/v10/projects/${encodeURIComponent(projectId)}/env`;
      const url = projectUrl(path, access, { upsert: 'true' });
      const json = { key, value, type: 'encrypted', target: TARGET };
      const answer = await ask({ label, method: 'POST', url, token: access.token, json }, signal);
      if (answer.status === 200 || answer.status === 201) {
        const { failed = [] } = expecting(label, writtenSchema, answer.json);
        return failed.length === 0
          ? { kind: 'written' }
          : { kind: 'refused', problem: 'Vercel did not take it' };
      }
      if (answer.status < 400) throw new ContractError(`${label}: answered ${answer.status}`);
      return { kind: 'refused', problem: `Vercel answered ${answer.status}. ${WHY}` };
    },
  };
}

const WHY = 'Does the integration still have access to the project, with the right to write its variables?';

/** RFC 6749, section 5.2. */
const isOfCode = (error: string | undefined): boolean => error === 'invalid_grant';

function refusalOf(status: number, error: string | undefined): string {
  if (isOfCode(error))
    return "Vercel did not accept the installation's code: it works once. Add the integration to the project again";
  if (error === 'invalid_client')
    return 'Vercel does not know this integration: its operator has to look at VERCEL_INTEGRATION_CLIENT_ID and VERCEL_INTEGRATION_CLIENT_SECRET';
  return `Vercel refused the installation (${status}): add the integration to the project again`;
}
