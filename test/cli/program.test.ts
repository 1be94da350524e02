import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import type { StartOptions } from '../../src/cli/start-options.js';

/** Parses a command line as `npm start` would give it. */
async function run(...args: string[]) {
  const asked: StartOptions[] = [];
  const exitCodes: number[] = [];
  const looked: unknown[][] = [];
  const look =
    (name: string) =>
    async (...asked: unknown[]) => {
      looked.push([name, ...asked]);
      return 7;
    };
  const commands = {
    start: async (options: StartOptions) => {
      asked.push(options);
      return 7;
    },
    serve: async () => 7,
    preview: async () => 7,
    sessions: look('sessions'),
    session: look('session'),
    watch: look('watch'),
    diagram: look('diagram'),
  };
  const program = createProgram('1.2.3', commands, (code) => exitCodes.push(code));
  let said = '';
  const output = { writeOut: (text: string) => (said += text), writeErr: (text: string) => (said += text) };
  for (const command of [program, ...program.commands]) command.configureOutput(output);
  const error = await program.parseAsync(args, { from: 'user' }).then(
    () => null,
    (reason) => reason as { exitCode: number },
  );
  return { asked, looked, exitCodes, said, error };
}

describe('start', () => {
  it('without options -> the embedded world at its own pace, nothing scripted', async () => {
    const { asked, exitCodes } = await run('start');
    expect(asked).toEqual([{ local: false, exitWhenIdle: false, speed: 30, json: false, drain: 'leave' }]);
    expect(exitCodes).toEqual([7]);
  });

  it('every option of the embedded world -> as it was said', async () => {
    const { asked } = await run(
      ...'start --sessions 3 --exit-when-idle --speed 2.5 --port 0 --json --drain snapshot'.split(' '),
      '--world',
      'http://127.0.0.1:4000/',
    );
    expect(asked).toEqual([
      {
        local: false,
        sessions: 3,
        exitWhenIdle: true,
        speed: 2.5,
        port: 0,
        json: true,
        drain: 'snapshot',
        world: 'http://127.0.0.1:4000',
      },
    ]);
  });

  it.each([
    ['--sessions x', 'whole number from 0 to 1000'],
    ['--sessions -1', 'whole number from 0 to 1000'],
    ['--sessions 1001', 'whole number from 0 to 1000'],
    ['--sessions 1.5', 'whole number from 0 to 1000'],
    ['--speed 0', 'from 0.1 to 1000'],
    ['--speed fast', 'from 0.1 to 1000'],
    ['--port 65536', 'whole number from 0 to 65535'],
    ['--drain kill', 'leave, finish, snapshot'],
    ['--world https://example.com', 'on this machine'],
    ['--world http://127.0.0.1.example.com', 'on this machine'],
    ['--world 4000', 'on this machine'],
    ['--sesions 3', 'Did you mean --sessions'],
    ['--exit-when-idle', 'needs --sessions'],
    ['--local --sessions 3', 'cannot be used with'],
    ['--local --speed 2', 'cannot be used with'],
    ['--local --world http://127.0.0.1:1', 'cannot be used with'],
    ['more', 'too many arguments'],
  ])('start %s -> refused, saying %j; nothing is started', async (line, says) => {
    const { asked, said, error } = await run('start', ...line.split(' '));
    expect(said).toContain(says);
    expect(error?.exitCode).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });
});

describe('the commands that look', () => {
  it('sessions without options -> the latest fifty of the settings’ database', async () => {
    const { looked, exitCodes } = await run('sessions');
    expect(looked).toEqual([['sessions', { limit: 50, json: false }]]);
    expect(exitCodes).toEqual([7]);
  });

  it('every option -> as it was said', async () => {
    const where = ['--database', 'file:a.db', '--json', '--world', 'http://127.0.0.1:4000/'];
    const asked = { database: 'file:a.db', json: true, world: 'http://127.0.0.1:4000' };
    const chosen = ['--state', 'serving', '--search', 'abc', '--limit', '3'];
    const { looked } = await run('sessions', ...chosen, ...where);
    expect(looked).toEqual([['sessions', { ...asked, state: 'serving', search: 'abc', limit: 3 }]]);
    expect((await run('session', 'devin-1', ...where)).looked).toEqual([['session', 'devin-1', asked]]);
    expect((await run('diagram', 'devin-1', ...where)).looked).toEqual([['diagram', 'devin-1', asked]]);
    expect((await run('watch', ...where)).looked).toEqual([['watch', asked]]);
  });

  it.each([
    ['sessions --limit 0', 'whole number from 1 to 10000'],
    ['session', 'missing required argument'],
    ['diagram', 'missing required argument'],
    ['watch --world https://example.com', 'on this machine'],
    ['watch --database postgres://me:hunter2@127.0.0.1/x', 'belongs in DATABASE_URL'],
  ])('%s -> refused, saying %j; nothing is looked at', async (line, says) => {
    const { looked, said, error } = await run(...line.split(' '));
    expect(said).toContain(says);
    expect(said).not.toContain('hunter2');
    expect(error?.exitCode).toBeGreaterThan(0);
    expect(looked).toEqual([]);
  });

  it.each(['sessions', 'session', 'watch', 'diagram'])(
    '%s --help -> which database, and an example',
    async (name) => {
      const { said } = await run(name, '--help');
      for (const word of ['--database', '--world', '--json', 'DATABASE_URL']) expect(said).toContain(word);
      expect(said).toContain(`Example:\n  npm run outposts -- ${name}`);
    },
  );
});

describe('the executable', () => {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
  const call = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', main, ...args]).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );

  it('--version and --help -> exit code 0; a wrong option -> 2, with the reason', async () => {
    const [version, help, wrong] = await Promise.all([
      call('--version'),
      call('start', '--help'),
      call('start', '--port', 'x'),
    ]);
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(help.code).toBe(0);
    for (const option of [
      '--local',
      '--sessions',
      '--exit-when-idle',
      '--speed',
      '--port',
      '--json',
      '--drain',
      '--world',
    ])
      expect(help.stdout).toContain(option);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') });
  });
});
