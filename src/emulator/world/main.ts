/**
 * The embedded world as a process of its own.
 *
 *     npm run world -- --dir <directory> [--speed 60]
 *
 * Prints one line of JSON, `{"url","token","devinUrl","vercelUrl","pid"}`, and
 * serves until SIGTERM or SIGINT; with `--while-stdin` also no longer than its
 * standard input is open, so that it dies with whoever started it.
 */
import { parseArgs } from 'node:util';
import { startWorld, type WorldOptions } from './index.js';

const HELP = `npm run world -- --dir <directory> [options]

  --dir <directory>        for the disks of sandboxes; one world at a time
  --speed <n>              how many times as fast as the wall its clock runs; 1 unless given
  --callback <url>         an address that its Devin has on the list for connecting; may be repeated
  --devin-port, --vercel-port <n>           any free ones unless given
  --devin-skew-ms, --vercel-skew-ms <n>     how far each cloud's clock is ahead
  --max-lifetime-ms <n>    the longest life of a VM
  --while-stdin            end when the standard input does
`;

const { values } = readArguments(() =>
  parseArgs({
    options: {
      dir: { type: 'string' },
      speed: { type: 'string' },
      'devin-port': { type: 'string' },
      'vercel-port': { type: 'string' },
      'devin-skew-ms': { type: 'string' },
      'vercel-skew-ms': { type: 'string' },
      'max-lifetime-ms': { type: 'string' },
      callback: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
      'while-stdin': { type: 'boolean' },
    },
  }),
);

if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const world = await startWorld(readArguments(readOptions));
const line = {
  url: world.devinUrl,
  token: world.worldToken,
  devinUrl: world.devinUrl,
  vercelUrl: world.vercelUrl,
  pid: process.pid,
};
process.stdout.write(`${JSON.stringify(line)}\n`);

let ending = false;
const end = () => {
  if (ending) return;
  ending = true;
  world.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
if (values['while-stdin']) process.stdin.resume().on('close', end);

/** What was wrong with the arguments, in a line. */
function readArguments<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

function readOptions(): WorldOptions {
  if (!values.dir) throw new Error('--dir is needed: a directory for the disks of sandboxes');
  return {
    dir: values.dir,
    speed: numberOf('speed', 1),
    ports: { devin: numberOf('devin-port', 0), vercel: numberOf('vercel-port', 0) },
    devin: { connectCallbacks: values.callback ?? [] },
    skew: { devinMs: numberOf('devin-skew-ms', 0), vercelMs: numberOf('vercel-skew-ms', 0) },
    ...(values['max-lifetime-ms'] ? { plan: { maxLifetimeMs: numberOf('max-lifetime-ms', 0) } } : {}),
  };
}

function numberOf(
  name: Exclude<keyof typeof values, 'dir' | 'while-stdin' | 'callback' | 'help'>,
  otherwise: number,
): number {
  const text = values[name];
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isFinite(value)) throw new Error(`--${name} must be a number`);
  return value;
}
