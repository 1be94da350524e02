/**
 * The same work done by hand, without an orchestrator: what it can cost at best.
 *
 * Speaks to the same emulators through the same SDK. Its sessions belong to
 * another outpost and its sandboxes carry no tags, so that the orchestrator in
 * the same world has no business with them.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Sandbox } from '@vercel/sandbox';
import { launchCommand } from '../src/sandbox/supervisor.js';
import type { Rig } from './rig.js';

const OUTPOST = 'outpost_env-by-hand';

/** Milliseconds. */
export interface HandTimes {
  /** `Sandbox.create`. */
  readonly create: number;
  /** One detached `true`, until the API has answered. */
  readonly command: number;
  /** The launch command, until the API has answered. */
  readonly launch: number;
  /** From there until the supervisor's script executes the remote: download, verify, start. */
  readonly script: number;
  /** From there until the remote is connected: the start of Node.js, and one request. */
  readonly remote: number;
  /** `Sandbox.get` with `resume` of the stopped sandbox. */
  readonly resume: number;
  /** `script` again, in the resumed sandbox: the binary is there already. */
  readonly scriptAgain: number;
  readonly remoteAgain: number;
}

/** One session: created, launched, connected, stopped, resumed, launched again, connected again, ended. */
export async function serveByHand(rig: Rig, index: number): Promise<HandTimes> {
  const { devin, vercel, sandboxFetch } = rig;
  const access = {
    token: vercel.token,
    teamId: vercel.teamId,
    projectId: vercel.projectId,
    fetch: sandboxFetch,
  };
  const name = `by-hand-${index}`;
  const { id } = devin.startSession({ outpostId: OUTPOST });
  const token = await claim(rig, id);

  const beganAt = performance.now();
  const sandbox = await Sandbox.create({ ...access, name, runtime: 'node24', persistent: true });
  const createdAt = performance.now();
  await sandbox.runCommand({ cmd: 'true', detached: true });
  const commandAt = performance.now();
  const first = await launch(rig, sandbox, { id, token, launchId: 'first' });

  await sandbox.stop();
  const resumeAt = performance.now();
  const resumed = await Sandbox.get({ ...access, name, resume: true });
  const resumedAt = performance.now();
  const again = await launch(rig, resumed, { id, token, launchId: 'second' });

  devin.end(id);
  await resumed.delete({ deleteOrphanSnapshots: true });
  return {
    create: createdAt - beganAt,
    command: commandAt - createdAt,
    ...first,
    resume: resumedAt - resumeAt,
    scriptAgain: again.script,
    remoteAgain: again.remote,
  };
}

async function launch(
  rig: Rig,
  sandbox: Sandbox,
  { id, token, launchId }: { id: string; token: string; launchId: string },
): Promise<Pick<HandTimes, 'launch' | 'script' | 'remote'>> {
  const spec = {
    sessionId: id,
    remoteSha: null,
    launchId,
    grant: { gatewayUrl: rig.devin.gatewayUrl, connectToken: token },
    doorbell: null,
  };
  const connected = rig.event(id, ({ kind }) => kind === 'connected');
  const session = sandbox.currentSession();
  const beganAt = performance.now();
  await session.runCommand({ ...launchCommand(spec, rig.devin.staticUrl), cwd: session.cwd, detached: true });
  const launchMs = performance.now() - beganAt;
  const answeredAt = performance.timeOrigin + performance.now();
  await connected;
  const connectedAt = performance.timeOrigin + performance.now();
  const { mtimeMs } = await stat(join(session.cwd, '.outpost', 'remote.pid'));
  return { launch: launchMs, script: Math.max(0, mtimeMs - answeredAt), remote: connectedAt - mtimeMs };
}

async function claim({ devin }: Rig, id: string): Promise<string> {
  const answer = await fetch(`${devin.url}/opbeta/outposts/devins/${id}/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${devin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ acceptor_id: 'by-hand' }),
  });
  const { status } = (await answer.json()) as { status: { connect_token: string } };
  return status.connect_token;
}
