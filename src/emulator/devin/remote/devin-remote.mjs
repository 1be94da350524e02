/**
 * Stand-in for devin-remote: does in its working directory what its session
 * tells it to, and ends as the real one does.
 *
 * Published as one executable file without an extension, so it must run as
 * CommonJS and as an ES module: hence no import and no require.
 */
const BUILD = 'the build';
const { request } = process.getBuiltinModule('node:http');
const { spawn } = process.getBuiltinModule('node:child_process');
const { randomUUID } = process.getBuiltinModule('node:crypto');
const { mkdirSync, readFileSync, writeFileSync } = process.getBuiltinModule('node:fs');

const EXIT = { usage: 64, unavailable: 69, taken: 75, unknownToken: 77, wrongBuild: 78, terminated: 143 };
/** How long a lost gateway is looked for, in milliseconds of the wall's clock. */
const RECONNECT_MS = 20_000;
const OUTPUT_LIMIT = 64_000;

const running = new Map();
const seen = new Set();
let deaf = false;
let lostSince = 0;

const NEEDED = [
  'DEVIN_OUTPOST_GATEWAY_URL',
  'DEVIN_OUTPOST_CONNECT_TOKEN',
  'DEVIN_OUTPOST_SESSION_ID',
  'DEVIN_REMOTE_STATE_DIR',
];
const missing = NEEDED.filter((name) => !process.env[name]);
if (process.argv[2] !== 'serve' || process.argv.length !== 3) quit(EXIT.usage, 'usage: devin-remote serve');
if (missing.length > 0) quit(EXIT.usage, `not set: ${missing.join(', ')}`);

const gateway = process.env.DEVIN_OUTPOST_GATEWAY_URL;
const token = process.env.DEVIN_OUTPOST_CONNECT_TOKEN;
const sessionId = process.env.DEVIN_OUTPOST_SESSION_ID;
const instance = randomUUID();
const starts = countStart(process.env.DEVIN_REMOTE_STATE_DIR);

process.on('SIGTERM', () => quit(EXIT.terminated, 'terminated'));
connect();

/** One stream of orders; comes back when it breaks. */
function connect() {
  const hello = {
    pid: process.pid,
    build: BUILD,
    cwd: process.cwd(),
    env_names: Object.keys(process.env),
    starts,
  };
  const call = post('/connect', hello, (answer) => {
    if (answer.statusCode !== 200) return refused(answer);
    let rest = '';
    answer.setEncoding('utf8');
    answer.on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        try {
          obey(JSON.parse(line));
        } catch {
          answer.destroy();
        }
      }
    });
    answer.on('error', () => {});
    answer.on('close', again);
  });
  let failed = false;
  call.on('error', () => {
    if (!failed && !call.res) again();
    failed = true;
  });
}

function refused(answer) {
  answer.resume();
  if (answer.statusCode === 401)
    return quit(EXIT.unknownToken, 'the gateway does not know the connect token');
  if (answer.statusCode === 403) return quit(EXIT.wrongBuild, 'the session needs another build');
  if (answer.statusCode === 409) return quit(EXIT.taken, 'another remote is connected');
  return again();
}

function again() {
  lostSince ||= Date.now();
  if (Date.now() - lostSince > RECONNECT_MS) return quit(EXIT.unavailable, 'the gateway is gone');
  setTimeout(connect, 100);
}

function obey({ order, id, command, code }) {
  lostSince = 0;
  if (deaf || seen.has(id)) return;
  if (order === 'run') {
    seen.add(id);
    return run(id, command);
  }
  if (order === 'hang') deaf = true;
  if (order === 'crash') quit(code, 'crashed as told');
  if (order === 'revoked') quit(EXIT.unknownToken, 'the claim ended');
  if (order === 'sleep' || order === 'end') sayBye();
}

function run(id, command) {
  const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  running.set(id, child);
  let output = '';
  const collect = (text) => {
    output = (output + text).slice(0, OUTPUT_LIMIT);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', collect);
  child.on('error', (error) => report(id, 127, String(error.message)));
  child.on('close', (code) => {
    running.delete(id);
    report(id, code ?? 137, output);
  });
}

/** Told again until it is heard: the session waits for it. */
function report(id, code, output) {
  const call = post('/report', { order: id, code, output }, (answer) => {
    answer.resume();
    if (answer.statusCode >= 500 || answer.statusCode === 429) setTimeout(report, 200, id, code, output);
  });
  call.on('error', () => setTimeout(report, 200, id, code, output));
}

function sayBye() {
  const call = post('/bye', { code: 0 }, () => quit(0, 'done'));
  call.on('error', () => quit(0, 'done'));
}

function post(path, body, onAnswer) {
  const text = JSON.stringify({ session_id: sessionId, instance, ...body });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-session-id': encodeURIComponent(sessionId),
  };
  const call = request(gateway + path, { method: 'POST', headers, agent: false }, onAnswer);
  call.end(text);
  return call;
}

/** How often a remote was started here: shows that the state directory came along. */
function countStart(directory) {
  const file = `${directory}/starts`;
  mkdirSync(directory, { recursive: true });
  let count = 0;
  try {
    count = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    // The first start here.
  }
  writeFileSync(file, String(count + 1));
  return count + 1;
}

function quit(code, why) {
  for (const child of running.values()) {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
  process.stderr.write(`devin-remote: ${why}\n`);
  process.exit(code);
}
