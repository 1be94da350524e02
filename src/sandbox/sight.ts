/**
 * Reads what the supervisor's files and its lock say of the remote.
 *
 * The files are on a disk that the session itself can write to and that
 * outlives the vm: only the wanted launch counts, liveness is the lock alone,
 * and what cannot be read means "no trace".
 */
import { z } from 'zod';
import { ContractError } from '../errors.js';
import type { RemoteSight } from '../ports/sandbox.js';
import { launchKey, NOT_FIRST } from './supervisor.js';

/** How long one wait lasts, seconds: answers that take five minutes are cut on the way. */
export const WAIT_SECONDS = 270;

/** Prints one JSON line. While it reads, it holds the lock itself if nobody else does, so file and lock agree. */
export const lookCommand = {
  cmd: 'bash',
  args: [
    '-c',
    `
LC_ALL=C
launch= phase= detail= reason= locked=false
if [[ -r .outpost/lock ]]; then
  exec 9<.outpost/lock
  flock -n -s 9 || locked=true
fi
[[ -f .outpost/launch ]] && read -r launch phase detail reason _ <.outpost/launch
printf '{"locked":%s,"launch":"%s","phase":"%s","detail":"%s","reason":"%s"}\\n' "$locked" \\
  "\${launch//[^a-z0-9]/}" "\${phase//[^a-z]/}" "\${detail//[^a-z0-9]/}" "\${reason//[^a-z0-9-]/}"
`,
  ],
};

/** Ends when the supervisor does; with NOT_FIRST when it still lives after WAIT_SECONDS. */
export const waitCommand = {
  cmd: 'bash',
  args: [
    '-c',
    `[[ -r .outpost/lock ]] || exit 0; exec 9<.outpost/lock; exec flock -s -w ${WAIT_SECONDS} -E ${NOT_FIRST} 9`,
  ],
};

const looked = z.object({
  locked: z.boolean(),
  launch: z.string(),
  phase: z.string(),
  detail: z.string(),
  reason: z.string(),
});

/** @throws ContractError when the command printed something else. */
export function readLook(stdout: string, launchId: string): RemoteSight {
  const { locked, launch, phase, detail, reason } = parse(stdout);
  if (launch !== launchKey(launchId)) return { kind: 'absent' };
  if (phase === 'exited' && /^\d{1,3}$/.test(detail)) return { kind: 'exited', code: Number(detail) };
  if (phase === 'failed') {
    return { kind: 'unlaunchable', reason: describe(reason), permanent: detail === 'permanent' };
  }
  if (!locked) return { kind: 'absent' };
  return { kind: phase === 'started' ? 'running' : 'starting' };
}

function parse(stdout: string): z.output<typeof looked> {
  try {
    return looked.parse(JSON.parse(stdout));
  } catch {
    throw new ContractError('look at the remote: the command printed something else than a sight');
  }
}

const REASONS: Readonly<Record<string, string>> = {
  'bad-sha': 'the remote that Devin asked for is not named by a SHA',
  checksum: 'the downloaded remote does not match its published checksum',
  'digest-unreadable': 'the published checksum of the remote cannot be read',
  disk: "the sandbox's disk is full or cannot be written",
  'latest-unreadable': "the static host's latest version of the remote cannot be read",
  network: 'the static host of the remote cannot be reached from the sandbox',
  'not-published': 'the static host does not have this version of the remote',
  'remote-survives': 'an earlier remote could not be ended',
  stopped: 'the sandbox was told to end before the remote had started',
};

function describe(reason: string): string {
  const [, tool] = /^tool-([a-z0-9]+)$/.exec(reason) ?? [];
  if (tool) return `the sandbox has no ${tool}`;
  const [, status] = /^http-(\d{3})$/.exec(reason) ?? [];
  if (status) return `the static host of the remote answered ${status}`;
  return REASONS[reason] ?? 'the remote could not be started';
}
