/** An emulator with one long process, whose pid it prints; its parent kills it. */
import { Sandbox } from '@vercel/sandbox';
import { startVercelCloud } from '../../src/emulator/vercel/index.js';
import { createClock } from '../../src/ports/clock.js';

const cloud = await startVercelCloud({ clock: createClock(), dir: process.argv[2] ?? '' });
const { token, teamId, projectId, url } = cloud;
const sandbox = await Sandbox.create({
  token,
  teamId,
  projectId,
  fetch: (input, init) => fetch(String(input).replace('https://vercel.com/api', url), init),
});
await sandbox.runCommand({ cmd: 'sleep', args: ['300'], detached: true });
console.log(cloud.sandboxes()[0]?.vms[0]?.processes[0]?.pid);
