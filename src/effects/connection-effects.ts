/**
 * What each effect of a connection does, against ports.
 *
 * Each may run more than once: what cannot be asked for twice (a token) is in
 * the vault before the answer is given, and is found there by a repetition.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Outpost, Project } from '../../machines/connection/context.js';
import type { connectionEffects, Refusal } from '../../machines/connection/effects.js';
import { messageOf, RefusedError, TransientError } from '../errors.js';
import {
  accessSchema,
  CREDENTIALS,
  type Credentials,
  credentialsSchema,
  type Installer,
  type Partner,
  type Refused,
  secretsOf,
} from '../ports/connect.js';
import type { Vault } from '../ports/vault.js';
import type { EffectCall, Effects } from '../runtime/actor.js';

export interface ConnectionEffectDeps {
  readonly vault: Vault;
  readonly partner: Partner;
  /** Null where no projects of others are set up. */
  readonly installer: Installer | null;
  /** The address that a token may be sent to, or null. */
  trustedApiUrl(text: string): string | null;
  /** The setting that makes the outpost the one that this installation serves. */
  binding(outpost: Outpost): { readonly key: string; readonly value: string };
}

/** What was granted is kept for another try for this long. */
export const RETRY_MS = 3_600_000;
/** Failed tries of writing a project's variables before the person is asked. */
export const WRITE_PATIENCE = 4;

const STILL_SERVED =
  'sessions of another outpost are still being served. Wait until they are over, or stop them, and connect again';
const OTHER_TEAM =
  'Vercel gave access to another team than the address named: begin again with the Deploy Button';
const UNREADABLE =
  'Vercel does not let the integration read that project, so it cannot be said which one it is: add the integration to the project again';
const UNTRUSTED =
  'what was granted names an API host that no token is sent to: list it in DEVIN_API_HOSTS if it is yours, and start again';
const OVER = 'the attempt has expired, or DEVIN_CONNECTION_SECRET was changed meanwhile: start again';

export function createConnectionEffects({
  vault,
  partner,
  installer,
  trustedApiUrl,
  binding,
}: ConnectionEffectDeps): Effects<typeof connectionEffects> {
  return {
    async exchangeInstallation({ attemptId, project }, call) {
      const names = secretsOf(attemptId);
      const kept = await open(names.access);
      if (kept !== null) return installed(project, accessSchema.parse(JSON.parse(kept)), call);
      const code = await open(names.installation);
      if (code === null) return refused(call, OVER);
      await call.fence();
      const answer = await installers(installer).exchange(code, call.signal);
      if (answer.kind === 'refused') return refusedBy(answer, call);
      await vault.put(names.access, JSON.stringify(answer.access), call.now() + RETRY_MS);
      await vault.drop(names.installation);
      return installed(project, answer.access, call);
    },

    async exchangeCode({ attemptId }, call) {
      const names = secretsOf(attemptId);
      const kept = await open(names.granted);
      if (kept !== null) {
        const credentials = openGranted(kept);
        return typeof credentials === 'string' ? refused(call, credentials) : granted(call, credentials);
      }
      const [verifier, code] = await Promise.all([open(names.verifier), open(names.code)]);
      if (verifier === null || code === null) return refused(call, OVER);
      await call.fence();
      const answer = await partner.exchange({ code, verifier }, call.signal);
      if (answer.kind === 'refused') return refusedBy(answer, call);
      await vault.put(names.granted, JSON.stringify(answer.credentials), call.now() + RETRY_MS);
      await Promise.all([vault.drop(names.verifier), vault.drop(names.code)]);
      return granted(call, answer.credentials);
    },

    async adoptConnection({ attemptId }, call) {
      const kept = await open(secretsOf(attemptId).granted);
      if (kept === null) return refused(call, OVER);
      const credentials = openGranted(kept);
      if (typeof credentials === 'string') return refused(call, credentials);
      const outpost = outpostOf(credentials);
      // An earlier try came as far as that, and its answer was lost.
      if ((await open(CREDENTIALS)) === kept) return { kind: 'adopted', at: call.now(), outpost };
      if (!(await partner.accepts(credentials, call.signal)))
        return refused(call, "Devin's API does not take the token that it has just given: start again");
      await call.fence();
      const held = await vault.putWith(CREDENTIALS, kept, binding(outpost));
      if (held > 0) return refused(call, `${held} ${STILL_SERVED}`);
      return { kind: 'adopted', at: call.now(), outpost };
    },

    async configureProject({ attemptId, project }, call) {
      const names = secretsOf(attemptId);
      const [kept, grantedText] = await Promise.all([open(names.access), open(names.granted)]);
      const written = [...project.written];
      if (kept === null || grantedText === null)
        return { kind: 'partly', at: call.now(), written, problem: OVER };
      const access = accessSchema.parse(JSON.parse(kept));
      const credentials = openGranted(grantedText);
      if (typeof credentials === 'string')
        return { kind: 'partly', at: call.now(), written, problem: credentials };
      const values = await valuesOf(names.values, call);
      for (const variable of variablesFor(credentials, values)) {
        if (written.includes(variable.key)) continue;
        await call.fence();
        const problem = await write(project, access, variable, call);
        if (problem !== null) return { kind: 'partly', at: call.now(), written, problem };
        written.push(variable.key);
      }
      return { kind: 'written', at: call.now(), written, problem: null };
    },

    async forgetAttempt({ attemptId }, call) {
      await vault.dropAll(secretsOf(attemptId).all);
      return { at: call.now() };
    },

    async forgetConnection({ attemptId }, call) {
      await vault.drop(CREDENTIALS);
      await vault.dropAll(secretsOf(attemptId).all);
      return { at: call.now() };
    },
  };

  async function installed(project: Project, access: z.infer<typeof accessSchema>, call: EffectCall) {
    // What a person confirms is what Vercel says, never what came in the address.
    if (project.teamId !== null && project.teamId !== access.teamId) return refused(call, OTHER_TEAM);
    const name = await installers(installer).nameOf(project.projectId, access, call.signal);
    if (name === null) return refused(call, UNREADABLE);
    return { kind: 'installed' as const, at: call.now(), teamId: access.teamId, name: name.slice(0, 200) };
  }

  /** What was granted; words where its token may not be sent (any more). */
  function openGranted(text: string): Credentials | string {
    const credentials = credentialsSchema.parse(JSON.parse(text));
    const apiUrl = trustedApiUrl(credentials.apiUrl);
    return apiUrl === null ? UNTRUSTED : { ...credentials, apiUrl };
  }

  /** Null also for what does not open: within an attempt's time nobody mends that. */
  async function open(name: string): Promise<string | null> {
    try {
      return await vault.open(name);
    } catch (error) {
      if (error instanceof RefusedError) return null;
      throw error;
    }
  }

  /** Made once, so that a repetition writes the same. */
  async function valuesOf(name: string, call: EffectCall): Promise<Values> {
    await vault.putOnce(name, JSON.stringify(newValues()), call.now() + RETRY_MS);
    return valuesSchema.parse(JSON.parse((await vault.open(name)) ?? 'null'));
  }

  async function write(
    project: Project,
    access: z.infer<typeof accessSchema>,
    variable: { key: string; value: string },
    call: EffectCall,
  ): Promise<string | null> {
    try {
      const answer = await installers(installer).write(project.projectId, access, variable, call.signal);
      return answer.kind === 'refused' ? `${variable.key} could not be written: ${answer.problem}` : null;
    } catch (error) {
      // The last try says how far it came, rather than only that it failed.
      if (!(error instanceof TransientError) || call.attempt < WRITE_PATIENCE) throw error;
      return `${variable.key} could not be written: ${messageOf(error, 150)}`;
    }
  }
}

const valuesSchema = z.object({
  cronSecret: z.string(),
  connectionSecret: z.string(),
  operatorSecret: z.string(),
  viewerSecret: z.string(),
  acceptorId: z.string(),
});
type Values = z.infer<typeof valuesSchema>;

const secret = () => randomBytes(32).toString('base64url');
const newValues = (): Values => ({
  cronSecret: secret(),
  connectionSecret: secret(),
  operatorSecret: secret(),
  viewerSecret: secret(),
  acceptorId: `vercel-${randomBytes(3).toString('hex')}`,
});

/** In the order in which they are written: without the last one, nothing is served, and health says what is missing. */
function variablesFor({ token, apiUrl, outpostId }: Credentials, values: Values) {
  return [
    { key: 'CRON_SECRET', value: values.cronSecret },
    { key: 'DEVIN_CONNECTION_SECRET', value: values.connectionSecret },
    { key: 'OPERATOR_SECRET', value: values.operatorSecret },
    { key: 'VIEWER_SECRET', value: values.viewerSecret },
    { key: 'ACCEPTOR_ID', value: values.acceptorId },
    { key: 'DEVIN_API_URL', value: apiUrl },
    { key: 'DEVIN_OUTPOST_ID', value: outpostId },
    { key: 'DEVIN_CREDENTIALS_FROM_ENV', value: 'true' },
    { key: 'DEVIN_OUTPOSTS_TOKEN', value: token },
  ];
}

function installers(installer: Installer | null): Installer {
  if (installer !== null) return installer;
  throw new RefusedError('no projects are set up from here any more', {
    setting: 'VERCEL_INTEGRATION_CLIENT_ID',
  });
}

const outpostOf = ({ apiUrl, outpostId, outpostName }: Credentials): Outpost => ({
  outpostId,
  apiHost: new URL(apiUrl).host,
  outpostName,
});

const granted = (call: EffectCall, credentials: Credentials) => ({
  kind: 'granted' as const,
  at: call.now(),
  outpost: outpostOf(credentials),
});

const refused = (call: EffectCall, problem: string): Refusal => ({
  kind: 'refused',
  at: call.now(),
  problem,
});

function refusedBy({ problem, ofCode }: Refused, call: EffectCall): Refusal {
  return refused(call, ofCode && call.attempt > 1 ? USED_BEFORE : problem);
}

const USED_BEFORE =
  'a code works once, and an earlier try whose answer was lost may have used it: start again';
