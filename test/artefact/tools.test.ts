/** What builds share: the lock, and the digest by which an old build is told. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyInputs, digestOf } from '../../src/build/inputs.js';
import { exclusively } from '../../src/build/lock.js';
import { ageOf } from '../../src/build/output.js';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'outposts-build-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the lock', () => {
  test('two at once -> one after the other, and the second is told whom it waits for', async () => {
    const steps: string[] = [];
    let end: () => void = () => undefined;
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const first = exclusively(join(dir, 'lock'), async () => {
      steps.push('first begins');
      begin();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      steps.push('first ends');
    });
    await begun;
    const second = exclusively(
      join(dir, 'lock'),
      async () => void steps.push('second'),
      (holder) => {
        steps.push(`waits for ${holder === process.pid ? 'this process' : holder}`);
        end();
      },
    );
    await Promise.all([first, second]);
    expect(steps).toEqual(['first begins', 'waits for this process', 'first ends', 'second']);
    expect(await readdir(dir)).toEqual([]);
  });

  test('a holder that is gone does not count', async () => {
    // No system gives a process this number.
    await writeFile(join(dir, 'lock'), '999999999');
    expect(await exclusively(join(dir, 'lock'), async () => 'done')).toBe('done');
  });

  test('work that fails leaves no lock', async () => {
    const failing = exclusively(join(dir, 'lock'), () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('the inputs of a build', () => {
  beforeEach(async () => {
    await mkdir(join(dir, 'src/build/node_modules/x'), { recursive: true });
    await mkdir(join(dir, 'node_modules/y'), { recursive: true });
    await writeFile(join(dir, 'package.json'), '{}');
    await writeFile(join(dir, 'src/a.ts'), 'a');
  });

  test('another content or name is another digest; packages, settings and tests are not looked at', async () => {
    const before = await digestOf(dir);
    for (const path of ['.env', 'node_modules/y/index.js', 'src/build/node_modules/x/index.js'])
      await writeFile(join(dir, path), 'x');
    expect(await digestOf(dir)).toBe(before);
    await writeFile(join(dir, 'src/a.ts'), 'b');
    const changed = await digestOf(dir);
    await rm(join(dir, 'src/a.ts'));
    await writeFile(join(dir, 'src/b.ts'), 'b');
    expect(new Set([before, changed, await digestOf(dir)]).size).toBe(3);
  });

  test('a copy has the same digest, the packages, and nothing else of the directory', async () => {
    for (const path of ['.env', 'data.db', 'node_modules/y/index.js']) await writeFile(join(dir, path), 'x');
    const copy = join(dir, 'copy');
    await copyInputs(dir, copy);
    expect(await digestOf(copy)).toBe(await digestOf(dir));
    expect((await readdir(copy)).sort()).toEqual(['node_modules', 'package.json', 'src']);
    expect(await readdir(join(copy, 'node_modules/y'))).toEqual(['index.js']);
  });

  test('an output tells whether it is of these inputs', async () => {
    const output = join(dir, 'output');
    expect(await ageOf(dir, output)).toBe('absent');
    await mkdir(join(output, 'diagnostics'), { recursive: true });
    const note = JSON.stringify({ digest: await digestOf(dir) });
    await writeFile(join(output, 'diagnostics/inputs.json'), note);
    expect(await ageOf(dir, output)).toBe('current');
    await writeFile(join(dir, 'src/a.ts'), 'b');
    expect(await ageOf(dir, output)).toBe('outdated');
  });
});
