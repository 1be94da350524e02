/**
 * The one command that brings a remote up and stays with it until it ends.
 *
 * Its text is fixed; everything from outside travels in the environment and is
 * only ever expanded inside quotes. It never executes what it has not verified,
 * never lets two remotes live at once, and never shows the remote a variable
 * outside the contract. It rings the doorbell, if it was given one, whenever a
 * look would find something new; that delays nothing and may fail.
 *
 * Files, below `.outpost/` in the vm's working directory:
 *
 *     lock        held by the supervisor for as long as it lives; the kernel lets
 *                 it go with the process. The remote does not inherit it, since
 *                 whatever a session leaves running would then hold it for ever.
 *     launch      `<launch> <phase> <detail> <reason>`, replaced atomically
 *     remote.pid  who the remote is: should its supervisor be killed, the next
 *                 launch ends it first. Pids alone mean nothing on a restored
 *                 disk; with start time and boot id they do.
 *     bin/        the verified remote
 *     new/        what is being downloaded, never executed from there
 *     remote/     the remote's own state
 *     remote.log  its output, and two older pieces, of a few megabytes each
 */
import { createHash } from 'node:crypto';
import type { LaunchSpec } from '../ports/sandbox.js';
import { isLoopback } from './address.js';

/** Exit code of a launch that found another one at work, and of a wait that ran out. */
export const NOT_FIRST = 75;

/** The command's environment carries the connect token and the doorbell's key; its arguments carry nothing. */
export function launchCommand(spec: LaunchSpec, staticBaseUrl: string) {
  const loopback = staticBaseUrl.startsWith('http:');
  const bell = spec.doorbell !== null && isSafe(spec.doorbell.url) ? spec.doorbell : { url: '', key: '' };
  return {
    cmd: 'bash',
    args: ['-c', LAUNCH_SCRIPT],
    env: {
      DEVIN_OUTPOST_GATEWAY_URL: spec.grant.gatewayUrl,
      DEVIN_OUTPOST_CONNECT_TOKEN: spec.grant.connectToken,
      DEVIN_OUTPOST_SESSION_ID: spec.sessionId,
      OUTPOST_LAUNCH: launchKey(spec.launchId),
      OUTPOST_REMOTE_SHA: spec.remoteSha ?? '',
      OUTPOST_STATIC_BASE: staticBaseUrl.replace(/\/+$/, ''),
      OUTPOST_PROTO: loopback ? '=http,https' : '=https',
      OUTPOST_BELL_URL: bell.url,
      OUTPOST_BELL_KEY: bell.key,
    },
  };
}

/** A key travels there: https, or http on this machine. */
function isSafe(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** A launch id in letters and digits, whatever it was made of. */
export function launchKey(launchId: string): string {
  return createHash('sha256').update(launchId).digest('hex').slice(0, 24);
}

const LAUNCH_SCRIPT = `
set -u
LC_ALL=C
state=$PWD/.outpost workspace=$PWD/workspace
remote= stopping= interrupted= digest= ringing=
bell_url=$OUTPOST_BELL_URL bell_key=$OUTPOST_BELL_KEY
unset OUTPOST_BELL_URL OUTPOST_BELL_KEY

note() {
  printf '%s\\n' "$OUTPOST_LAUNCH $*" >"$state/launch.new" && mv -f "$state/launch.new" "$state/launch"
}
fail() {
  note failed "$1" "$2"
  ring
  linger
  exit 70
}
# In a process of its own, without the lock, that gives up after about two minutes. The key is not among its
# arguments; curl tries again after network errors, 429 and 5xx, and follows no redirect.
ring() {
  [[ -n $bell_url ]] || return
  (
    exec 9>&-
    exec timeout -s KILL 150 curl -q --silent --globoff --connect-timeout 10 --max-time 15 \\
      --retry 7 --retry-all-errors --retry-max-time 120 --header @- --data '' --url "$bell_url" \\
      < <(printf 'authorization: Bearer %s\\n' "$bell_key")
  ) >/dev/null 2>&1 &
  ringing=$!
}
# Where a command's end takes what it left behind with it, the first ring still gets out. Nobody waits: the lock is free.
linger() {
  exec 9>&-
  for ((i = 0; i < 30; i++)); do
    [[ -n $ringing ]] && kill -0 "$ringing" 2>/dev/null || break
    sleep 0.1
  done
}
# Sets "birth": when a process started, in ticks since boot; empty for one that is gone.
born_at() {
  local stat=
  birth=
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return
  set -- \${stat##*) }
  [[ $1 == Z ]] || birth=\${20}
}
download() {
  local codes code
  codes=$(curl -q --silent --fail --fail-early --globoff --location --max-redirs 5 \\
    --proto "$OUTPOST_PROTO" --proto-redir "$OUTPOST_PROTO" \\
    --connect-timeout 10 --speed-limit 1024 --speed-time 30 --max-time 240 \\
    --retry 3 --retry-connrefused --retry-max-time 60 \\
    --write-out '%{http_code}\\n' "$@")
  code=$?
  ((code == 0)) && return
  # Exit code 22: the host answered, and not with the file.
  ((code == 22)) || fail passing "$( ((code == 23)) && echo disk || echo network)"
  case \${codes##*$'\\n'} in
    404 | 410) fail "$([[ -n $OUTPOST_REMOTE_SHA ]] && echo permanent || echo passing)" not-published ;;
    *) fail passing "http-\${codes##*$'\\n'}" ;;
  esac
}
matches() {
  [[ $(sha256sum <"$1") == "$digest  -" ]]
}
# Keeps the newest output: full pieces move on, and the oldest goes.
record() {
  while :; do
    if [[ -s $state/remote.log ]]; then
      mv -f "$state/remote.log.1" "$state/remote.log.2"
      mv -f "$state/remote.log" "$state/remote.log.1"
    fi
    dd of="$state/remote.log" bs=4096 count=1024
    [[ -s $state/remote.log ]] || break
  done 2>/dev/null
}

mkdir -p "$state/bin" "$state/new" "$state/remote" "$workspace/repos" || exit 73
command -v flock >/dev/null || fail permanent tool-flock
exec 9>>"$state/lock" || exit 73
# A look or a wait holds the lock for a moment at most.
flock -w 2 9 || exit ${NOT_FIRST}
last=
[[ -f $state/launch ]] && read -r last _ <"$state/launch"
[[ $last != "$OUTPOST_LAUNCH" ]] || exit ${NOT_FIRST}
note starting || exit 73
trap 'stopping=1 interrupted=1; [[ -z $remote ]] || kill -TERM "$remote" 2>/dev/null' TERM INT HUP

for tool in curl sha256sum git; do
  command -v "$tool" >/dev/null || fail permanent "tool-$tool"
done
read -r boot </proc/sys/kernel/random/boot_id

pid= born= booted=
[[ -f $state/remote.pid ]] && read -r pid born booted <"$state/remote.pid"
if [[ $pid =~ ^[1-9][0-9]*$ && -n $born && $booted == "$boot" ]]; then
  for ((i = 0; i < 200; i++)); do
    born_at "$pid"
    [[ $birth == "$born" ]] || break
    kill -KILL "$pid" 2>/dev/null
    sleep 0.05
  done
  [[ $birth != "$born" ]] || fail passing remote-survives
fi

new=$state/new
sha=$OUTPOST_REMOTE_SHA
if [[ -z $sha ]]; then
  download --output "$new/latest" --url "$OUTPOST_STATIC_BASE/latest_linux_x64"
  read -r sha _ <"$new/latest"
  [[ $sha =~ ^[0-9a-fA-F]{7,64}$ ]] || fail passing latest-unreadable
fi
[[ $sha =~ ^[0-9a-fA-F]{7,64}$ ]] || fail permanent bad-sha
url=$OUTPOST_STATIC_BASE/devin-remote_\${sha}_linux_x64
binary=$state/bin/devin-remote_$sha
wanted=(--output "$new/digest" --url "$url.sha256")
[[ -f $binary ]] || wanted+=(--output "$new/remote" --url "$url")
download "\${wanted[@]}"
read -r digest _ <"$new/digest"
[[ $digest =~ ^[0-9a-fA-F]{64}$ ]] || fail permanent digest-unreadable
digest=\${digest,,}
if [[ -f $binary ]] && ! matches "$binary"; then
  rm -f "$binary"
  download --output "$new/remote" --url "$url"
fi
if [[ ! -f $binary ]]; then
  matches "$new/remote" || fail permanent checksum
  rm -f "$state"/bin/devin-remote_*
  chmod 755 "$new/remote" && mv -f "$new/remote" "$binary" || fail passing disk
fi
[[ -z $stopping ]] || fail passing stopped

export DEVIN_REMOTE_STATE_DIR=$state/remote
# The shell sets these itself.
drop=(-u _ -u PWD -u OLDPWD -u SHLVL)
while IFS= read -r -d '' entry; do
  case \${entry%%=*} in
    '' | PATH | HOME | USER | LOGNAME | TMPDIR | LANG | TZ | DISPLAY | WAYLAND_DISPLAY | XAUTHORITY) ;;
    DEVIN_OUTPOST_GATEWAY_URL | DEVIN_OUTPOST_CONNECT_TOKEN | DEVIN_OUTPOST_SESSION_ID) ;;
    DEVIN_REMOTE_STATE_DIR | DEVIN_CHROME_PATH | DEVIN_OUTPOST_DESKTOP) ;;
    *) drop+=(-u "\${entry%%=*}") ;;
  esac
done < <(env -0)

exec 8> >(exec 9>&- && record)
(
  born_at "$BASHPID"
  printf '%s\\n' "$BASHPID $birth $boot" >"$state/remote.pid.new" &&
    mv -f "$state/remote.pid.new" "$state/remote.pid" && cd "$workspace" || exit 73
  # Only now: until it is on record, the lock has to outlive this process.
  exec 9>&-
  exec env "\${drop[@]}" "$binary" serve
) </dev/null >&8 2>&1 8>&- &
remote=$!
exec 8>&-
[[ -z $stopping ]] || kill -TERM "$remote"
note started
ring

while :; do
  interrupted=
  wait "$remote"
  code=$?
  [[ -n $interrupted ]] || break
done
note exited "$code"
ring
linger
exit "$code"
`;
